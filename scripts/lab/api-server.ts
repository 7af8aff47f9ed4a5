/** Program `api-server.ts OPTIONS.json`: runs the API server stand-in, controlled over a Unix socket. */
import { readFileSync } from 'node:fs';
import type { ApiServerConfig, ModeRequest } from './api-server-config.ts';
import { ApiServer } from './api-server-stand-in.ts';
import { serveUnix } from './unix-http.ts';

async function main(configFile: string): Promise<void> {
  const config = JSON.parse(readFileSync(configFile, 'utf8')) as ApiServerConfig;
  const pem = (file: string): string => readFileSync(`${config.pkiFolder}/${file}`, 'utf8');
  const server = new ApiServer({
    ...config,
    ca: pem('ca.crt'),
    certificate: pem('apiserver.crt'),
    key: pem('apiserver.key'),
  });
  await server.start();
  await serveUnix(config.controlSocket, async (method, path, body) => {
    if (method === 'POST' && path === '/mode') {
      const { mode, failing } = body as ModeRequest;
      await server.setMode(mode, failing);
    }
    return server.state();
  });
  process.once('SIGTERM', () => {
    server.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}

const [configFile] = process.argv.slice(2);
if (configFile === undefined) throw new RangeError('api-server.ts needs its options file');
await main(configFile);
