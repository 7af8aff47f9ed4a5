/**
 * Makes the Debian package of the router for this machine's architecture, of the bundle in dist:
 * `node scripts/deb.ts [--compress xz|gzip|none] [FOLDER]`, default dist. Prints its path.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildPackage } from './deb/debian-package.ts';
import { routerPackage } from './deb/router-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
try {
  const { values, positionals } = parseArgs({
    options: { compress: { type: 'string', default: 'xz' } },
    allowPositionals: true,
  });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const folder = resolve(positionals[0] ?? join(root, 'dist'));
  console.log(buildPackage(routerPackage(root, version), folder, values.compress));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
