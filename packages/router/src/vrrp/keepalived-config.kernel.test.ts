/** keepalived itself reads what is written for it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keepalivedConfig } from './keepalived-config.ts';
import { KeepalivedFiles } from './keepalived-files.ts';
import { keepalivedPaths } from './keepalived-paths.ts';
import { vrrpSettings } from './testing/vrrp-config.ts';

/** keepalived in a network namespace that has `eth0` as the settings know it, and that ends with it. */
const wrapper = `#!/bin/sh
exec unshare --net sh -e -c '
  ip link add eth0 type veth peer name eth1
  ip address add 10.0.0.2/24 dev eth0
  exec /usr/sbin/keepalived "$@"
' sh "$@"
`;
const peers = Array.from({ length: 15 }, (_, index) => `10.0.0.${index + 3}`);

describe('keepalived.conf', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-keepalived-'));
  const paths = keepalivedPaths({ folder, runFolder: folder });
  const program = join(folder, 'wrapper');
  writeFileSync(program, wrapper, { mode: 0o755 });
  const files = new KeepalivedFiles(paths, program);
  files.track({ gaveUp: false, unfit: false, offset: 0 });
  files.touch();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const write = (config: string): Promise<string> => files.write(config).then(() => '', String);

  it.each([
    ['a pair, HAProxy', vrrpSettings()],
    ['a pair, kernel', vrrpSettings({}, 'kernel')],
    ['16 load balancers', vrrpSettings({ peers })],
    ['peers of IPv6', vrrpSettings({ peers: ['fd00::3'] }, 'haproxy', ['10.0.0.100', 'fd00::100'])],
    ['peers of IPv6, kernel', vrrpSettings({ peers: ['fd00::3'] }, 'kernel', ['fd00::100'])],
    ['both families', vrrpSettings({}, 'haproxy', ['fd00::100', '10.0.0.100', '10.0.0.101'])],
    [
      'the longest times',
      vrrpSettings({ advertInterval: 40_000, missedAdverts: 100, preemptDelay: 1_000_000 }),
    ],
    ['the shortest times', vrrpSettings({ advertInterval: 50, missedAdverts: 2, preemptDelay: 0 })],
  ])('of %s is taken by keepalived -t without a word', async (_what, settings) => {
    const config = keepalivedConfig(settings, paths, 'root');
    expect(await write(config)).toBe('');
    expect(readFileSync(paths.configFile, 'utf8')).toBe(config);
  });

  it('has one peer on each line, and all of them, for VIPs and beacon', () => {
    const lines = keepalivedConfig(vrrpSettings({ peers }), paths, 'root').split('\n');
    for (const peer of peers) expect(lines.filter((line) => line.trim() === peer)).toHaveLength(2);
  });

  it('names the user before the FIFO, without which keepalived ends with a reload', () => {
    const config = keepalivedConfig(vrrpSettings(), paths, 'root');
    expect(config.indexOf('script_user')).toBeLessThan(config.indexOf('vrrp_notify_fifo'));
  });

  it('keeps the VIPs off the interfaces where the kernel is the data plane', () => {
    const config = keepalivedConfig(vrrpSettings({}, 'kernel'), paths, 'root');
    expect(config).not.toContain('10.0.0.100');
    expect(config).toContain('169.254.77.100/32 dev lo scope host no_track');
  });

  it.each([
    [
      'two peers on a line',
      (text: string) => text.replace('        10.0.0.3\n', '        10.0.0.3 10.0.0.4\n'),
      '10.0.0.4',
    ],
    [
      'a word that it does not know',
      (text: string) => text.replace('state BACKUP', 'state BACKUP\nbogus'),
      'bogus',
    ],
    [
      'an interface that is not there',
      (text: string) => text.replaceAll('interface eth0', 'interface eth9'),
      'eth9',
    ],
  ])('with %s is refused in keepalived words, and the one before stays', async (_what, change, words) => {
    const good = keepalivedConfig(vrrpSettings(), paths, 'root');
    expect(await write(good)).toBe('');
    const refused = await write(change(good));
    expect(refused).toContain('keepalived refuses its configuration: ');
    expect(refused).toContain(words);
    expect(refused).toContain('keepalived.conf: Line');
    expect(readFileSync(paths.configFile, 'utf8')).toBe(good);
  });
});
