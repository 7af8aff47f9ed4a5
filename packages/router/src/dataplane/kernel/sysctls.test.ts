import { describe, expect, it } from 'vitest';
import { applySysctls, type SysctlAccess, wantedSysctls } from './sysctls.ts';

class FakeHost implements SysctlAccess {
  readonly written: string[] = [];
  readonly #values: Record<string, string>;

  constructor(values: Record<string, string>) {
    this.#values = values;
  }

  read(name: string): string {
    const value = this.#values[name];
    if (value === undefined) {
      throw new Error(`${name}: no such sysctl`);
    }
    return value;
  }

  write(name: string, value: string): void {
    if (name.endsWith('.read_only')) {
      throw new Error('read-only file system');
    }
    this.written.push(`${name}=${value}`);
  }
}

const needs = { versions: [4], memberInterfaces: ['eth0.100'], interfaces: ['lo', 'eth0.100'] } as const;

describe('sysctls of an LB host', () => {
  it('writes nothing that is as wanted, ip_forward least of all', () => {
    const host = new FakeHost({
      'net.ipv4.ip_forward': '1',
      'net.ipv4.fib_multipath_hash_policy': '1',
      'net.ipv4.conf.all.send_redirects': '0',
      'net.ipv4.conf.eth0.100.send_redirects': '0',
      'net.ipv4.conf.eth0.100.src_valid_mark': '1',
      'net.ipv4.conf.eth0.100.rp_filter': '0',
      'net.ipv4.conf.all.rp_filter': '0',
    });
    expect(applySysctls(wantedSysctls(needs), host)).toEqual({ changed: [], problems: [] });
    expect(host.written).toEqual([]);
  });

  it('loosens a strict rp_filter and leaves one that filters nothing', () => {
    const setting = wantedSysctls(needs).filter(({ name }) => name.endsWith('rp_filter'));
    for (const [all, own] of ['01', '10', '11']) {
      const strict = new FakeHost({
        'net.ipv4.conf.all.rp_filter': all ?? '',
        'net.ipv4.conf.eth0.100.rp_filter': own ?? '',
      });
      expect(applySysctls(setting, strict).changed).toEqual(['net.ipv4.conf.eth0.100.rp_filter: 1 -> 2']);
    }
  });

  it('sets accept_ra before it turns IPv6 forwarding on', () => {
    const names = wantedSysctls({ ...needs, versions: [6] }).map(({ name }) => name);
    expect(names.indexOf('net.ipv6.conf.eth0.100.accept_ra')).toBeLessThan(
      names.indexOf('net.ipv6.conf.all.forwarding'),
    );
  });

  it('only says what is wrong when it may not write', () => {
    const host = new FakeHost({ 'net.b': '0', 'net.c': '1' });
    const setting = (name: string) => ({ name, value: '1', acceptable: [], why: 'of a test' });
    const result = applySysctls(['net.b', 'net.c'].map(setting), host, false);
    expect(host.written).toEqual([]);
    expect(result.problems).toEqual(['sysctl net.b is 0 and should be 1 (of a test); manageSysctls is off']);
  });

  it('names what it could not set and goes on', () => {
    const host = new FakeHost({ 'net.a.read_only': '0', 'net.b': '0' });
    const setting = (name: string) => ({ name, value: '1', acceptable: [], why: 'of a test' });
    const result = applySysctls(['net.a.read_only', 'net.missing', 'net.b'].map(setting), host);
    expect(host.written).toEqual(['net.b=1']);
    expect(result.problems).toHaveLength(2);
    expect(result.problems[0]).toContain('net.a.read_only cannot be set to 1 (of a test): read-only');
  });
});
