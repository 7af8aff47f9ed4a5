import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stateFiles } from '../config/state-files.ts';

const postrm = fileURLToPath(new URL('../../../../deploy/debian/router/postrm', import.meta.url));

let root: string;
let state: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'bgp-lb-postrm-'));
  state = join(root, 'var/lib/bgp-lb');
  mkdirSync(join(state, 'haproxy'), { recursive: true });
  for (const name of [...Object.values(stateFiles), 'router.lock', 'haproxy/haproxy.cfg']) {
    writeFileSync(join(state, name), '');
  }
});
afterEach(() => rmSync(root, { recursive: true }));

it('a purge of the router removes everything that it keeps, and nothing of others', () => {
  execFileSync('sh', [postrm, 'purge'], { env: { ...process.env, DPKG_ROOT: root } });
  expect(existsSync(state)).toBe(false);
});

it('a purge of the router leaves the file of another program', () => {
  writeFileSync(join(state, 'of-somebody-else'), '');
  execFileSync('sh', [postrm, 'purge'], { env: { ...process.env, DPKG_ROOT: root } });
  expect(readdirSync(state)).toEqual(['of-somebody-else']);
});
