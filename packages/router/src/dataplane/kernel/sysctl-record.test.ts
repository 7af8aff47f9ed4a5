import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recorded, SysctlRecord } from './sysctl-record.ts';
import type { SysctlAccess } from './sysctls.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-sysctls-'));
  path = join(folder, 'sysctls.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

function host(values: Record<string, string>): SysctlAccess {
  return {
    read: (name) => values[name] ?? '',
    write: (name, value) => {
      values[name] = value;
    },
  };
}

describe('the record of sysctls', () => {
  it('keeps the first value of each and what was written last, over restarts', () => {
    const access = host({ a: '1', b: '5' });
    const fail = (error: Error): never => {
      throw error;
    };
    recorded(access, new SysctlRecord(path, 'now'), fail).write('a', '2');
    const again = recorded(access, new SysctlRecord(path, 'now'), fail);
    again.write('a', '3');
    again.write('b', '0');
    expect(Object.fromEntries(new SysctlRecord(path, 'now').read())).toEqual({
      a: { before: '1', after: '3' },
      b: { before: '5', after: '0' },
    });
    expect(existsSync(`${path}.new`)).toBe(false);
  });

  it('knows nothing after a reboot, in another namespace, or of a file that is not its own', () => {
    new SysctlRecord(path, 'one boot').note('a', '1', '2');
    expect(new SysctlRecord(path, 'the next').read().size).toBe(0);
    new SysctlRecord(path, 'the next').note('b', '1', '2');
    expect([...new SysctlRecord(path, 'the next').read().keys()]).toEqual(['b']);
    writeFileSync(path, '{"settings": 7}');
    expect(new SysctlRecord(path, 'the next').read().size).toBe(0);
  });

  it('knows nothing of a file without end, and of a pipe that nobody writes to', () => {
    writeFileSync(path, '');
    truncateSync(path, 2 ** 40);
    expect(new SysctlRecord(path, 'now').read().size).toBe(0);
    rmSync(path);
    execFileSync('mkfifo', [path]);
    expect(new SysctlRecord(path, 'now').read().size).toBe(0);
  });

  it('names boot and network namespace', () => {
    new SysctlRecord(path).note('a', '1', '2');
    expect(readFileSync(path, 'utf8')).toMatch(/"scope":"[0-9a-f-]{36} net:\[\d+\]"/);
    expect(new SysctlRecord(path).read().size).toBe(1);
  });

  it('lets a setting be made that cannot be noted, and says so', () => {
    const access = host({ a: '1' });
    const errors: string[] = [];
    const record = new SysctlRecord(join(folder, 'missing', 'sysctls.json'), 'now');
    recorded(access, record, (error) => void errors.push(error.message)).write('a', '2');
    expect(access.read('a')).toBe('2');
    expect(errors).toEqual(['what a was before cannot be noted for uninstall']);
  });
});
