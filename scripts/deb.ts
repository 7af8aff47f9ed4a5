/**
 * Makes the Debian packages of the router and of the speaker's host parts for this machine's architecture, of the bundles in dist:
 * `node scripts/deb.ts [--compress zstd|xz|gzip|none] [FOLDER]`, default dist. Prints their paths, a line each.
 * Both have Node.js in them, on which xz spends a minute of a processor each, and zstd 4 s for a quarter more octets. dpkg has zstd from
 * Debian 12 and Ubuntu 18.04 on.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildPackage } from './deb/debian-package.ts';
import { routerPackage } from './deb/router-package.ts';
import { speakerPackage } from './deb/speaker-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
try {
  const { values, positionals } = parseArgs({
    options: { compress: { type: 'string', default: 'zstd' } },
    allowPositionals: true,
  });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const folder = resolve(positionals[0] ?? join(root, 'dist'));
  for (const content of [routerPackage(root, version), speakerPackage(root, version)]) {
    console.error(`${content.name}: gathering its files, compressing by ${values.compress}`);
    const began = performance.now();
    const path = buildPackage(content, folder, values.compress);
    console.error(`${content.name}: took ${Math.round((performance.now() - began) / 1000)} s`);
    console.log(path);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
