import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('sysctl', () => {
  const test = useNamespace('sysctl', (namespace) => {
    addVeth(namespace);
    namespace.ip('link', 'add', 'link', 'v0', 'name', 'v0.100', 'type', 'macvlan', 'mode', 'private');
  });

  it('reads and writes a setting', async () => {
    const seen = await test.inside.run(({ linux }) => {
      const before = linux.readSysctl('net.ipv4.ip_forward');
      linux.writeSysctl('net.ipv4.ip_forward', 1);
      return { before, after: linux.readSysctl('net/ipv4/ip_forward') };
    });
    expect(seen).toEqual({ before: '0', after: '1' });
  });

  it.each(['net.ipv4.conf.v0.100.rp_filter', 'net/ipv4/conf/v0.100/rp_filter'])(
    'understands the dot in the interface name of %s',
    async (name) => {
      const seen = await test.inside.run(({ linux }, setting) => {
        linux.writeSysctl(setting, 2);
        const values = [linux.readSysctl(setting), linux.readSysctl('net.ipv4.conf.v0.rp_filter')];
        linux.writeSysctl(setting, '0');
        return values;
      }, name);
      expect(seen).toEqual(['2', '0']);
    },
  );

  it('says which setting and value it is about', async () => {
    const errors = await test.inside.run(({ linux, thrownBy }) => [
      thrownBy(() => linux.readSysctl('net.ipv4.conf.absent0.rp_filter')),
      thrownBy(() => linux.writeSysctl('net.ipv4.no_such_setting', 1)),
      thrownBy(() => linux.writeSysctl('net.ipv4.ip_forward', 'maybe')),
      thrownBy(() => linux.readSysctl('net/../../self/environ')),
    ]);
    expect(errors).toEqual([
      expect.objectContaining({
        name: 'SysctlError',
        errno: 'ENOENT',
        setting: 'net.ipv4.conf.absent0.rp_filter',
      }),
      expect.objectContaining({ name: 'SysctlError', errno: 'ENOENT' }),
      expect.objectContaining({ message: 'cannot write sysctl net.ipv4.ip_forward = maybe: EINVAL' }),
      expect.objectContaining({ name: 'RangeError' }),
    ]);
  });
});
