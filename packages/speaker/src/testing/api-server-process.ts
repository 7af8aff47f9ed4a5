/**
 * A stand-in for an API server. Arguments: port, key file, certificate file. Input, one JSON text per line: `"ready"`, `"red"`,
 * `"forbidden"`, `"shutdown"` (red, names the check), `"hang"`, `"close"` (the port) or `"open"`. Each is answered by `{mode}`.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { createInterface } from 'node:readline';

const [port, key, cert] = process.argv.slice(2);
let mode = 'red';

const answers: Readonly<Record<string, readonly [number, string]>> = {
  ready: [200, 'ok'],
  red: [500, '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n'],
  shutdown: [500, '[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n'],
  forbidden: [403, '{"kind":"Status","code":403}'],
};

const server = createServer(
  { key: readFileSync(key ?? ''), cert: readFileSync(cert ?? '') },
  (_, response) => {
    const answer = answers[mode];
    if (answer !== undefined) response.writeHead(answer[0]).end(answer[1]);
  },
);

async function turn(next: string): Promise<void> {
  if (next === 'close') {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  } else if (next === 'open') await listen();
  else mode = next;
  process.stdout.write(`${JSON.stringify({ mode: next })}\n`);
}

function listen(): Promise<void> {
  return new Promise((resolve) => server.listen(Number(port), '0.0.0.0', resolve));
}

createInterface({ input: process.stdin }).on('line', (line) => void turn(JSON.parse(line)));
await turn('open');
