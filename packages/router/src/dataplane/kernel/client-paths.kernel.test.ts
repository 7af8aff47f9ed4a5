import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataPlaneProcess } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';

const IPV4 = { prefix: '10.100.0.1/32', address: '10.100.0.1', port: 6443 };
const IPV6 = { prefix: 'fd00::100/128', address: 'fd00::100', port: 6443 };

let lab: LbNamespaces;
let plane: DataPlaneProcess;

beforeEach(async () => {
  lab = new LbNamespaces(['client', 'm1']);
  for (const [i, { name, namespace }] of lab.members.entries()) {
    lab.ip('addr', 'add', `fd00:${i + 1}::10/64`, 'dev', `to-${name}`, 'nodad');
    execFileSync('ip', ['-n', namespace, 'addr', 'add', `fd00:${i + 1}::11/64`, 'dev', 'eth0', 'nodad']);
  }
  lab.exec('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=1');
  lab.ip('route', 'add', 'unreachable', 'default', 'table', '77');
  lab.ip('-6', 'route', 'add', 'unreachable', 'default', 'table', '77');
  await start(['10.0.1.11', 'fd00:1::11']);
});

/** @param upstreams clients come by the interfaces towards them */
async function start(upstreams: readonly string[], proxyInterfaces: readonly string[] = []): Promise<void> {
  await plane?.kill();
  plane = await DataPlaneProcess.in(lab.lb, { vips: [IPV4, IPV6], upstreams, proxyInterfaces });
  await plane.start();
}

afterEach(async () => {
  await plane?.kill();
  lab?.remove();
});

describe.each([
  ['-4', IPV4, '10.0.2.11', '10.0.1.0/24', '10.0.2.77'],
  ['-6', IPV6, 'fd00:2::11', 'fd00:1::/64', 'fd00:2::77'],
] as const)('what is in the way of clients: %s', (family, vip, member, clients, gateway) => {
  const obstacle = (): Promise<{ readonly text: string }> =>
    plane.event(({ event, text }) => event === 'obstacle' && text.startsWith(`${vip.prefix} `));

  beforeEach(async () => {
    await plane.setNextHops([{ nextHop: member, weight: 256 }], vip.prefix);
    expect((await plane.status()).problems).toEqual([]);
    expect(await plane.differencesAfter()).toEqual([]);
  });

  it.each([
    ['the interface', ['iif', 'to-client']],
    ['protocol and port', ['ipproto', 'tcp', 'dport', '6443']],
  ])('is a rule by %s: no client gets on, until it is gone', async (_, selector) => {
    lab.ip(family, 'rule', 'add', 'pref', '100', ...selector, 'lookup', '77');
    expect((await obstacle()).text).toMatch(
      /from clients like .* \(to-client\) have no route \(.*\), by ip rule 100 (iif to-client|ipproto 6 dport 6443-6443) lookup 77$/,
    );
    expect(await plane.differencesAfter()).toContainEqual(expect.stringContaining('to-client'));
    plane.events.length = 0;
    lab.ip(family, 'rule', 'del', 'pref', '100');
    expect((await obstacle()).text).toBe(`${vip.prefix} none`);
    expect((await plane.status()).problems).toEqual([]);
  });

  it('is a better route for the VIP in our own table, which a comparison shows', async () => {
    lab.ip(family, 'route', 'add', vip.prefix, 'via', gateway, 'metric', '1', 'proto', 'static');
    const text = `take the route ${vip.prefix} of table 254 (metric 1, protocol 4), which is not ours`;
    expect((await obstacle()).text).toContain(text);
    expect(await plane.differencesAfter()).toContainEqual(expect.stringContaining(text));
  });

  it('is only said, and no obstacle, where a rule by source concerns some of them', async () => {
    const some = family === '-4' ? '10.0.1.64/26' : 'fd00:1::4000/120';
    lab.ip(family, 'rule', 'add', 'pref', '100', 'from', some, 'lookup', '77');
    await expect
      .poll(async () => (await plane.status()).warnings)
      .toEqual([expect.stringContaining(`by ip rule 100 from ${some} lookup 77`)]);
    expect(plane.events.filter(({ event }) => event === 'obstacle')).toEqual([]);
    lab.ip(family, 'rule', 'del', 'pref', '100');
    lab.ip(family, 'rule', 'add', 'pref', '100', 'from', clients, 'lookup', '77');
    expect((await obstacle()).text).toContain(`by ip rule 100 from ${clients} lookup 77`);
  });
});

describe.each([
  ['-4', IPV4, '10.0.2.11', '10.0.1.11', '10.0.1.10/24', '10.0.3.0/31', '10.0.3.1', '198.51.100.1'],
  ['-6', IPV6, 'fd00:2::11', 'fd00:1::11', 'fd00:1::10/64', 'fd00:3::/127', 'fd00:3::1', '2001:db8::1'],
] as const)('which interfaces stop all clients: %s', (family, vip, member, client, own, pair, peer, far) => {
  const obstacles = (): string[] =>
    plane.events.flatMap(({ event, text }) =>
      event === 'obstacle' && text.startsWith(`${vip.prefix} `) ? [text] : [],
    );
  const block = (...interfaces: readonly string[]): void => {
    for (const name of interfaces) {
      lab.ip(family, 'rule', 'add', 'pref', '100', 'iif', name, 'lookup', '77');
    }
  };
  const problems = async (): Promise<string> => (await plane.status()).problems.join('\n');
  const warnings = async (): Promise<string> => (await plane.status()).warnings.join('\n');
  const serve = (): Promise<number> => plane.setNextHops([{ nextHop: member, weight: 256 }], vip.prefix);

  it('is none but that of masters and upstream, on a host with one arm and a management interface', async () => {
    await start([member]);
    block('to-client');
    await serve();
    expect(obstacles()).toEqual([]);
    expect(await warnings()).toContain(`(to-client) have no route`);
    expect(await problems()).toBe('');
    expect(await plane.differencesAfter()).toEqual([]);
    block('to-m1');
    await expect.poll(obstacles).toEqual([expect.stringContaining('(to-m1) have no route')]);
  });

  it('is any of several towards one upstream only when all are blocked', async () => {
    const hops = [client, member].flatMap((via) => ['nexthop', 'via', via]);
    lab.ip(family, 'route', 'add', far, ...hops);
    await start([far]);
    block('to-client');
    await serve();
    expect(obstacles()).toEqual([]);
    block('to-m1');
    await expect.poll(obstacles).toHaveLength(1);
  });

  it('is the one that the gateway of the upstream is behind, beside good ones of members', async () => {
    lab.ip(family, 'route', 'add', far, 'via', client);
    await start([far]);
    block('to-client');
    await serve();
    expect(obstacles()).toEqual([expect.stringContaining('(to-client) have no route')]);
  });

  it('is all of them where no upstream is known', async () => {
    await start([]);
    block('to-client');
    await serve();
    expect(obstacles()).toEqual([]);
    expect(await problems()).toContain('(to-client) have no route');
    block('to-m1');
    await expect.poll(obstacles).toHaveLength(1);
  });

  it('is also that of a subnet whose clients the VIP is answered for', async () => {
    await start([client], ['to-m1']);
    block('to-client');
    await serve();
    expect(obstacles()).toEqual([]);
    block('to-m1');
    await expect.poll(obstacles).toHaveLength(1);
  });

  it('may have a subnet of two addresses, or be unnumbered', async () => {
    const noDad = family === '-6' ? ['nodad'] : [];
    lab.ip(family, 'addr', 'del', own, 'dev', 'to-client');
    lab.ip(family, 'addr', 'add', pair, 'dev', 'to-client', ...noDad);
    await start([peer]);
    block('to-client');
    await serve();
    expect(obstacles()).toEqual([expect.stringContaining(`like ${peer} (to-client) have no route`)]);
    lab.ip(family, 'addr', 'del', pair, 'dev', 'to-client');
    lab.ip(family, 'route', 'add', peer, 'dev', 'to-client');
    await start([peer]);
    await serve();
    expect(obstacles()).toEqual([expect.stringContaining(`like ${peer} (to-client) have no route`)]);
  });

  it('is known as soon as the VIP has a member: an announcement would come before the next look', async () => {
    block('to-client');
    await serve();
    expect(obstacles()).toHaveLength(1);
  });
});
