/** Firewalls and marks on the way of clients, known before any client comes. */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataPlaneProcess } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';
import { VipServers } from './testing/vip-servers.ts';

const IPV4 = { prefix: '10.100.0.1/32', address: '10.100.0.1', port: 6443 };
const IPV6 = { prefix: 'fd00::100/128', address: 'fd00::100', port: 6443 };

let lab: LbNamespaces;
let plane: DataPlaneProcess;
let servers: VipServers;

beforeEach(async () => {
  lab = new LbNamespaces(['client', 'm1', 'mgmt']);
  servers = new VipServers(lab);
  lab.exec('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
  for (const [i, { name, namespace }] of lab.members.entries()) {
    const ip = (...argv: string[]): void => void execFileSync('ip', ['-n', namespace, ...argv]);
    lab.ip('addr', 'add', `fd00:${i + 1}::10/64`, 'dev', `to-${name}`, 'nodad');
    ip('addr', 'add', `fd00:${i + 1}::11/64`, 'dev', 'eth0', 'nodad');
    ip('route', 'add', 'default', 'via', `fd00:${i + 1}::10`);
    if (name === 'm1') ip('addr', 'add', IPV6.prefix, 'dev', 'lo', 'nodad');
    else ip('addr', 'del', IPV4.prefix, 'dev', 'lo');
  }
  await servers.serve('m1', 'm1');
  plane = await DataPlaneProcess.in(lab.lb, { vips: [IPV4, IPV6], upstreams: ['10.0.1.11', 'fd00:1::11'] });
  await plane.start();
});

afterEach(async () => {
  servers?.close();
  await plane?.kill();
  lab?.remove();
});

describe.each([
  ['-4', IPV4, '10.0.2.11', 'ip', 'iptables', '10.0.1.0/24'],
  ['-6', IPV6, 'fd00:2::11', 'ip6', 'ip6tables', 'fd00:1::/64'],
] as const)('before any client comes: %s', (family, vip, member, table, iptables, clients) => {
  const obstacle = (text: string): Promise<unknown> =>
    plane.event((one) => one.event === 'obstacle' && one.text === `${vip.prefix} ${text}`, 15_000);
  const lost = (what: string): string =>
    `packets to ${vip.address} from clients like ${family === '-4' ? '10.0.1.11' : 'fd00:1::11'} (to-client) ${what}`;
  /** In this lab they pass here too. */
  const answers = ['-i', 'to-m1', '-j', 'ACCEPT'];
  const nft = (rules: string): void => void lab.exec('nft', rules);

  beforeEach(async () => {
    await plane.setNextHops([{ nextHop: member, weight: 256 }], vip.prefix);
    expect(await plane.status()).toMatchObject({ problems: [], warnings: [] });
  });

  it.each([
    [
      'nft',
      `${table} filter FORWARD`,
      () =>
        nft(
          `table ${table} filter { chain FORWARD { type filter hook forward priority 0; policy drop; ct state established accept; iifname docker0 accept; iifname to-m1 accept; }; }`,
        ),
    ],
    [
      'iptables, of nftables',
      `${table} filter FORWARD`,
      () => {
        lab.exec(`${iptables}-nft`, '-P', 'FORWARD', 'DROP');
        lab.exec(`${iptables}-nft`, '-A', 'FORWARD', ...answers);
        lab.exec(
          `${iptables}-nft`,
          '-A',
          'FORWARD',
          '-m',
          'conntrack',
          '--ctstate',
          'RELATED,ESTABLISHED',
          '-j',
          'ACCEPT',
        );
      },
    ],
  ])(
    'a firewall by %s that lets no packet through is an obstacle, until a rule accepts them',
    async (_, chain, drop) => {
      drop();
      await obstacle(lost(`are dropped by the firewall, chain ${chain}`));
      expect(await plane.differencesAfter()).toContainEqual(expect.stringContaining(chain));
      expect(await servers.connectMany('client', vip.address, 3)).toBe(0);
      plane.events.length = 0;
      nft(`insert rule ${chain} ${table} daddr ${vip.address} tcp dport 6443 accept`);
      await obstacle('none');
      expect(await servers.connectMany('client', vip.address, 3)).toBe(3);
    },
  );

  it('a firewall by iptables-legacy, which tells of no change, is an obstacle at the next look', async () => {
    lab.exec(`${iptables}-legacy`, '-A', 'FORWARD', ...answers);
    lab.exec(`${iptables}-legacy`, '-P', 'FORWARD', 'DROP');
    await obstacle(lost(`are dropped by the firewall, chain ${iptables}-legacy filter FORWARD`));
    expect(await servers.connectMany('client', vip.address, 3)).toBe(0);
    plane.events.length = 0;
    lab.exec(
      `${iptables}-legacy`,
      '-A',
      'FORWARD',
      '-i',
      'to-client',
      '-p',
      'tcp',
      '--dport',
      '6443',
      '-j',
      'ACCEPT',
    );
    await obstacle('none');
    expect(await servers.connectMany('client', vip.address, 3)).toBe(3);
  });

  it('a firewall that may accept them is none', async () => {
    nft(
      `table inet fw { chain f { type filter hook forward priority 0; policy drop; ${table} saddr ${clients} accept; iifname to-m1 accept; }; }`,
    );
    // Another change that is seen with it or later.
    nft(
      `table inet fw { chain later { type filter hook prerouting priority 0; policy drop; iifname to-mgmt drop; }; }`,
    );
    await obstacle(lost('are dropped by the firewall, chain inet fw later'));
    plane.events.length = 0;
    nft('delete chain inet fw later');
    await obstacle('none');
    expect(await plane.status()).toMatchObject({ problems: [] });
    expect(await servers.connectMany('client', vip.address, 3)).toBe(3);
  });

  it('a rule by a mark that the firewall gives them is an obstacle, one that it may give is a warning', async () => {
    lab.ip(family, 'route', 'add', 'unreachable', 'default', 'table', '77');
    lab.ip(family, 'rule', 'add', 'pref', '100', 'fwmark', '0x7', 'lookup', '77');
    nft(
      `table ${table} vpn { chain marks { type filter hook prerouting priority mangle; ${table} saddr ${clients} meta mark set 7; }; }`,
    );
    const words =
      /with firewall mark 0x7 have no route \(.*\), by ip rule 100 fwmark 0x7 lookup 77; which of them have it is not known$/;
    await expect
      .poll(async () => (await plane.status()).warnings, { timeout: 15_000 })
      .toContainEqual(expect.stringMatching(words));
    expect(await plane.status()).toMatchObject({ problems: [] });
    expect(plane.events.filter(({ event }) => event === 'obstacle')).toEqual([]);
    nft(`insert rule ${table} vpn marks iifname to-client meta mark set 7 accept`);
    const { text } = await plane.event(
      ({ event, text: seen }) => event === 'obstacle' && seen.startsWith(vip.prefix),
      15_000,
    );
    expect(text).toMatch(
      /\(to-client\) with firewall mark 0x7 have no route \(.*\), by ip rule 100 fwmark 0x7 lookup 77$/,
    );
    expect(await servers.connectMany('client', vip.address, 3)).toBe(0);
  });

  it('a rule for what has no mark, as that of a VPN, is an obstacle', async () => {
    lab.ip(family, 'route', 'add', 'unreachable', 'default', 'table', '77');
    const members = family === '-4' ? '10.0.0.0/16' : 'fd00:2::/64';
    lab.ip(family, 'rule', 'add', 'pref', '90', 'to', members, 'lookup', 'main');
    lab.ip(family, 'rule', 'add', 'pref', '100', 'not', 'fwmark', '0xca6c', 'lookup', '77');
    const { text } = await plane.event(({ event }) => event === 'obstacle');
    expect(text).toMatch(/by ip rule 100 not fwmark 0xca6c lookup 77$/);
  });

  it('what another interface does is a warning, and a problem as soon as clients come by it', async () => {
    const gone = lost('have no route')
      .replace('10.0.1.11', '10.0.3.11')
      .replace('fd00:1:', 'fd00:3:')
      .replace('to-client', 'to-mgmt');
    lab.ip(family, 'route', 'add', 'unreachable', 'default', 'table', '77');
    lab.ip(family, 'rule', 'add', 'pref', '100', 'iif', 'to-mgmt', 'lookup', '77');
    await expect
      .poll(async () => plane.status())
      .toMatchObject({ problems: [], warnings: [expect.stringContaining(gone)] });
    expect(await plane.differencesAfter()).toEqual([]);
    await servers.connectMany('mgmt', vip.address, 10);
    await expect
      .poll(async () => plane.status())
      .toMatchObject({ problems: [expect.stringContaining(gone)], warnings: [] });
    expect(plane.events.filter(({ event }) => event === 'obstacle')).toEqual([]);
  });
});
