import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { haproxyFiles, kubeadmGuide } from './testing/haproxy-files.ts';

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-haproxy-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

interface Answer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function router(...argv: readonly string[]): Answer {
  return spawnSync(process.execPath, [main, ...argv], { encoding: 'utf8' });
}

function written(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe.each(haproxyFiles)('import-haproxy for $name', ({ text, vip, left }) => {
  it('prints on standard output what check-config takes, and tells by its status whether something may be missed', () => {
    const file = written('haproxy.cfg', text);
    const imported = router('import-haproxy', file, ...(vip === undefined ? [] : ['--vip', vip]));
    expect(imported).toMatchObject({ status: left.length === 0 ? 0 : 1 });
    for (const start of left) expect(imported.stderr).toMatch(new RegExp(`^lines? .*: "${start}`, 'm'));
    const path = written('router.yaml', imported.stdout);
    expect(router('check-config', '--config', path, '--offline')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`${path} is good\n`),
    });
  });

  it('is tried with a file that HAProxy takes', () => {
    // Names of these hosts have no address here, and no file of a guide names a certificate that is there.
    const known = text
      .replace(/[a-z0-9]+\.example\.net/g, '10.0.0.99')
      .replace(/^ *(chroot|user|group|stats socket).*$/gm, '');
    const file = written('real.cfg', known);
    expect(spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' })).toMatchObject({ status: 0 });
  });
});

it('asks for --vip where a bind names no address, and prints nothing', () => {
  const answer = router('import-haproxy', written('haproxy.cfg', kubeadmGuide.text));
  expect(answer).toMatchObject({ status: 2, stdout: '' });
  expect(answer.stderr).toMatch(/line 24: .*--vip/);
});

it.each([
  [['--vip', '0.0.0.0'], '--vip: 0.0.0.0'],
  [['--vip', 'name'], '--vip: name'],
])('refuses %s', (argv, message) => {
  const answer = router('import-haproxy', written('haproxy.cfg', kubeadmGuide.text), ...argv);
  expect(answer).toMatchObject({ status: 2, stdout: '' });
  expect(answer.stderr).toContain(message);
});

it.each([
  ['nothing', ''],
  ['no HAProxy configuration', 'hello: world\n'],
  ['octets', '\u0000\u001b[31m\ufffd\n'],
])('says of a file with %s that nothing in it can be a VIP', (_, text) => {
  const answer = router('import-haproxy', written('haproxy.cfg', text));
  expect(answer).toMatchObject({ status: 2, stdout: '' });
  expect(answer.stderr).toContain('can be a VIP');
  expect(answer.stderr).not.toContain('\u001b');
});

it('says that a file is not there', () => {
  const answer = router('import-haproxy', join(folder, 'none.cfg'));
  expect(answer).toMatchObject({ status: 2, stdout: '' });
  expect(answer.stderr).toContain('none.cfg');
});
