import { mkdirSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { hostFaults, type NamedOnHost } from './host-faults.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

function file(name: string, content: string, mode = 0o600): string {
  const path = join(folder.path, name);
  writeFileSync(path, content, { mode });
  return path;
}

function faultsOf(is: NamedOnHost['is'], value: string): readonly string[] {
  return hostFaults([{ path: ['key'], value, is }]).map(({ message, allowed }) => `${message} (${allowed})`);
}

describe('a password file', () => {
  it.each([
    ['missing', () => join(folder.path, 'none'), 'cannot be read: ENOENT'],
    ['empty', () => file('empty', ''), 'is empty (1 to 80 octets)'],
    ['a folder', () => folder.path, 'is not a file (a file with a password'],
    [
      'readable by all',
      () => file('open', 'x', 0o644),
      'has mode 0644, so that every user may use it (0600 or 0640)',
    ],
    [
      'longer than the kernel takes',
      () => file('long', 'x'.repeat(81)),
      'has 81 octets (1 to 80, the most that TCP-MD5 takes)',
    ],
    ['much longer', () => file('longest', 'x'.repeat(5000)), 'has more than 256 octets'],
  ])('that is %s is a fault', (_, path, fault) => {
    expect(faultsOf('password', path())).toEqual([expect.stringContaining(fault)]);
  });

  it('is none that can be used, or that is not given', () => {
    expect(faultsOf('password', file('good', 'secret\n'))).toEqual([]);
    expect(hostFaults([{ path: ['key'], value: undefined, is: 'password' }])).toEqual([]);
  });
});

describe('a folder', () => {
  it('is there or can be made', () => {
    expect(faultsOf('folder', folder.path)).toEqual([]);
    expect(faultsOf('folder', join(folder.path, 'a', 'b'))).toEqual([]);
  });

  it('is no file, and lies in none', () => {
    const path = file('state', '');
    expect(faultsOf('folder', path)).toEqual([expect.stringContaining('is not a folder')]);
    expect(faultsOf('folder', join(path, 'a', 'b'))).toEqual([
      expect.stringContaining(`cannot be made: ${path} is not a folder`),
    ]);
  });
});

describe('a file', () => {
  it('may be missing, and is no folder', () => {
    mkdirSync(join(folder.path, 'ca.crt'));
    expect(faultsOf('file', join(folder.path, 'later'))).toEqual([]);
    expect(faultsOf('file', file('ca', ''))).toEqual([]);
    expect(faultsOf('file', join(folder.path, 'ca.crt'))).toEqual([expect.stringContaining('is a folder')]);
  });
});

describe('the address of another host', () => {
  it('is none of this one', () => {
    const own = Object.values(networkInterfaces()).flatMap(
      (list) => list?.map(({ address }) => address) ?? [],
    );
    expect(own).not.toEqual([]);
    for (const address of own) {
      expect(faultsOf('other-host', address)).toEqual([
        expect.stringContaining('is an address of this host itself'),
      ]);
    }
    expect(faultsOf('other-host', '192.0.2.7')).toEqual([]);
  });
});
