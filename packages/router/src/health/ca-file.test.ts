import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CaFile } from './ca-file.ts';

/** Certificates of two authorities, PEM. */
const pems = new Map(['one', 'two'].map((name) => [name, authority(name)]));

function authority(name: string): string {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null'];
  const args = ['req', '-x509', ...key, '-days', '10', '-subj', `/CN=${name}`];
  return execFileSync('openssl', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const pem = (name: 'one' | 'two'): string => pems.get(name) ?? '';

let folder: string;
let path: string;
let now: number;
let file: CaFile;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ca-file-'));
  path = join(folder, 'ca.crt');
  now = 0;
  file = new CaFile(path, () => now);
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Lets enough time pass for another look. */
function later(): CaFile {
  now += 1000;
  return file;
}

describe('the CA file', () => {
  it('verifies nothing while it does not exist, and says so', () => {
    expect(file.text).toBeUndefined();
    expect(file.state).toEqual({
      verified: false,
      detail: `certificates are not verified: ${path} does not exist`,
    });
  });

  it('is another one after a reload: what the one before said is forgotten', () => {
    writeFileSync(path, pem('one'));
    expect(file.text).toBe(pem('one'));
    file.configure({ healthCheck: { caFile: path } });
    expect(file.text).toBe(pem('one'));
    const other = join(folder, 'other.crt');
    file.configure({ healthCheck: { caFile: other } });
    expect(file.state).toEqual({
      verified: false,
      detail: `certificates are not verified: ${other} does not exist`,
    });
    writeFileSync(other, pem('two'));
    expect(later().text).toBe(pem('two'));
  });

  it('is read when it appears', () => {
    expect(file.text).toBeUndefined();
    writeFileSync(path, pem('one'));
    expect(later().text).toBe(pem('one'));
    expect(file.state.verified).toBe(true);
  });

  it('is read again when it is replaced', () => {
    writeFileSync(path, pem('one'));
    expect(file.text).toBe(pem('one'));
    writeFileSync(`${path}.new`, pem('two'));
    renameSync(`${path}.new`, path);
    expect(later().text).toBe(pem('two'));
  });

  it('does not count while it is being written', () => {
    writeFileSync(path, pem('one').slice(0, 20));
    expect(file.text).toBeUndefined();
    expect(file.state.detail).toContain(`${path} cannot be used: no PEM certificate`);
    writeFileSync(path, pem('one'));
    expect(later().text).toBe(pem('one'));
  });

  const troubles: readonly (readonly [string, string, () => unknown])[] = [
    ['goes away', 'does not exist', () => undefined],
    ['is emptied', 'cannot be used: the text is empty', () => writeFileSync(path, '')],
    ['is cut short', 'a PEM certificate is cut short', () => writeFileSync(path, pem('two').slice(0, -40))],
    [
      'is damaged',
      'certificate 1 of 1 cannot be decoded',
      () => writeFileSync(path, pem('two').replace(/\nM..../, '\nAAAAA')),
    ],
    ['becomes a folder', 'it is a folder', () => mkdirSync(path)],
    ['becomes a pipe', 'neither a file nor a link', () => execFileSync('mkfifo', [path])],
    ['becomes far too large', 'more than', () => writeFileSync(path, pem('two').repeat(2000))],
  ];
  it.each(troubles)(
    'keeps what was read when the file %s, and says so: with nothing, or with that, every member would fail',
    (_, problem, damage) => {
      writeFileSync(path, pem('one'));
      expect(file.text).toBe(pem('one'));
      rmSync(path);
      damage();
      expect(later().text).toBe(pem('one'));
      const { verified, detail } = file.state;
      expect(verified).toBe(true);
      expect(detail).toContain(`certificates are verified against ${path} as it was before: ${path} `);
      expect(detail).toContain(problem);
      rmSync(path, { recursive: true, force: true });
      writeFileSync(path, pem('two'));
      expect(later().text).toBe(pem('two'));
      expect(file.state.detail).toBe(`certificates are verified against ${path}`);
    },
  );
});
