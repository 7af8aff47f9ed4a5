import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CaFile } from './ca-file.ts';

const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

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
      detail: `certificates are not verified: ${path} does not exist yet`,
    });
  });

  it('is another one after a reload: what the one before said is forgotten', () => {
    writeFileSync(path, pem('one'));
    expect(file.text).toBe(pem('one'));
    file.use(path);
    expect(file.text).toBe(pem('one'));
    const other = join(folder, 'other.crt');
    file.use(other);
    expect(file.state).toEqual({
      verified: false,
      detail: `certificates are not verified: ${other} does not exist yet`,
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
    expect(file.state.detail).toContain('has no certificate in it');
    writeFileSync(path, pem('one'));
    expect(later().text).toBe(pem('one'));
  });

  it('keeps what was read when the file goes away: to verify less than before would be no answer', () => {
    writeFileSync(path, pem('one'));
    expect(file.text).toBe(pem('one'));
    rmSync(path);
    expect(later().text).toBe(pem('one'));
  });
});
