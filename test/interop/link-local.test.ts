import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, upstreamAsn, vipOf, vipPrefixOf } from '../../scripts/lab/addresses.ts';
import { Bird } from '../../scripts/lab/bird.ts';
import { Frr, hasFrr } from '../../scripts/lab/frr.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { startMaster } from '../kit/cluster.ts';
import { lastEvent, type NeighborView, routesOf, waitForEvent } from '../kit/router-view.ts';

const vip = vipPrefixOf('ipv6');
const password = 'lab-password';
/** Milliseconds for what takes a few seconds on a machine that has nothing else to do. */
const patience = 60_000;
const eventually = { timeout: patience, interval: 50 };
const bfd = { transmitInterval: '300ms', receiveInterval: '300ms', detectMultiplier: 3 };

/** The link-local address of a host number on a link, with the zone that the one who uses it has it in. */
const linkLocal = (number: number, zone = 'eth0'): string => `fe80::${number}%${zone}`;

/** Members of the pool: two masters of ours, FRR and BIRD. */
const numbers = { m1: 11, m2: 12, frr: 13, bird: 14 } as const;
const all = Object.values(numbers).map((number) => linkLocal(number));

describe.skipIf(!hasFrr())('sessions between link-local addresses', { timeout: 240_000 }, () => {
  let lab: Lab;
  let upstream: Frr;
  let birdAsMaster: Bird;

  /** Gives an interface a link-local address that is known beforehand, and no other. */
  async function setLinkLocal(host: Host, device: string, number: number): Promise<void> {
    await host.exec(['ip', '-6', 'address', 'flush', 'dev', device, 'scope', 'link']);
    await host.exec(['ip', 'address', 'add', `fe80::${number}/64`, 'dev', device, 'nodad']);
  }

  /** Leaves a host nothing but its link-local address on the masters' link; what it is known by goes to `lo`. */
  async function leaveLinkLocal(host: Host, number: number): Promise<void> {
    await setLinkLocal(host, 'eth0', number);
    await host.exec(['ip', 'address', 'del', `${host.address}/64`, 'dev', 'eth0']);
    await host.exec(['ip', 'address', 'add', `${host.address}/128`, 'dev', 'lo']);
  }

  function neighbors(): JsonObject[] {
    const [known] = lab.lb.neighbors();
    const { range: _, maxSessions: __, ...master } = known ?? {};
    return [
      ...Object.entries(numbers).map(([name, number]) => ({ ...master, name, address: linkLocal(number) })),
      { name: 'tor', role: 'upstream', address: linkLocal(1, 'eth1'), asn: upstreamAsn, holdTime: '9s' },
      // Whose interface comes later, or never.
      { name: 'later', role: 'upstream', address: linkLocal(1, 'later0'), asn: upstreamAsn },
    ];
  }

  function routers(): JsonObject[] {
    const common = { asn: localAsn, holdTime: '3s', ttlSecurityHops: 1 };
    return [
      { ...common, address: linkLocal(10), passwordFile: lab.master(1).path('etc/bgp-password'), bfd },
      { ...common, address: linkLocal(1), asn: upstreamAsn, ttlSecurityHops: 0 },
      { ...common, address: linkLocal(numbers.bird) },
    ];
  }

  async function startForeignMasters(): Promise<void> {
    const [, , third, fourth] = lab.masters;
    if (third === undefined || fourth === undefined) throw new Error('two masters of other makes expected');
    for (const master of [third, fourth]) {
      await master.installCertificates(lab.master(1));
      await master.startApiServer();
      await master.exec(['ip', 'address', 'add', vip, 'dev', 'lo', 'nodad']);
    }
    // FRR connects to a link-local address only where it has it from a router advertisement.
    await new Bird(lab.lb).start([
      'protocol radv { interface "eth0" { min ra interval 3; max ra interval 4; default lifetime 0; }; }',
    ]);
    await new Frr(third).start([
      `router bgp ${localAsn}`,
      ` bgp router-id ${third.addressOf(0, 'ipv4')}`,
      ' neighbor eth0 interface remote-as internal',
      ` neighbor eth0 password ${password}`,
      ' neighbor eth0 ttl-security hops 1',
      ' neighbor eth0 timers 1 3',
      ' neighbor eth0 timers connect 1',
      ' address-family ipv6 unicast',
      `  network ${vip}`,
      '  neighbor eth0 activate',
    ]);
    const local = `local as ${localAsn}; hold time 3; error wait time 1, 1; connect delay time 1; ttl security on; direct`;
    birdAsMaster = new Bird(fourth);
    await birdAsMaster.start([
      `protocol static { ipv6; route ${vip} unreachable; }`,
      `protocol bgp lb { ${local}; password "${password}"; neighbor ${linkLocal(10)} as ${localAsn};
  ipv6 { import none; export all; }; }`,
      ...[numbers.m1, numbers.m2].map(
        (
          number,
        ) => `protocol bgp m${number} { ${local}; passive on; neighbor ${linkLocal(number)} as ${localAsn};
  ipv6 { import all; export none; }; }`,
      ),
    ]);
  }

  /** Seconds until the kernel forgets the default route that it has by router advertisement (RFC 4861); undefined without one. */
  async function defaultRouteExpires(): Promise<number | undefined> {
    const [route] = await lab.lb.ipJson<{ gateway: string; dev: string; expires: number }[]>(
      ...['-6', 'route', 'show', 'default', 'proto', 'ra'],
    );
    return route?.gateway === 'fe80::1' && route.dev === 'eth1' ? route.expires : undefined;
  }

  /** The load balancer's default route comes from BIRD, and the host is not set up for forwarding. */
  async function takeDefaultRouteFromAdvertisements(): Promise<void> {
    await lab.lb.exec(['ip', '-6', 'route', 'del', 'default']);
    await lab.lb.writeSysctls({ 'net.ipv6.conf.eth1.accept_ra': '1' });
    await new Bird(lab.upstream).start([
      'protocol radv { interface "eth1" { min ra interval 3; max ra interval 4; default lifetime 30; }; }',
    ]);
    const isThere = async (): Promise<boolean> => (await defaultRouteExpires()) !== undefined;
    await waitUntil(isThere, { what: 'a default route by router advertisement', timeoutMs: patience });
    expect(await lab.lb.exec(['cat', '/proc/sys/net/ipv6/conf/all/forwarding'])).toBe('0\n');
  }

  beforeAll(async () => {
    lab = await Lab.create({ families: ['ipv6'], masters: 4, controlPlane: 'stand-in' });
    await setLinkLocal(lab.upstream, 'eth0', 1);
    await setLinkLocal(lab.upstream, 'eth1', 1);
    await setLinkLocal(lab.lb, 'eth1', 10);
    // The others know these hosts by the upstream router, which knows them by this.
    const known = [
      [lab.lb, 10] as const,
      ...lab.masters.map((master, index) => [master, 11 + index] as const),
    ];
    for (const [host, number] of known) {
      await leaveLinkLocal(host, number);
      await lab.upstream.exec([
        'ip',
        'route',
        'add',
        `${host.address}/128`,
        'via',
        `fe80::${number}`,
        'dev',
        'eth0',
      ]);
    }
    for (const master of lab.masters) {
      await master.exec(['ip', 'route', 'replace', 'default', 'via', 'fe80::1', 'dev', 'eth0']);
    }
    upstream = new Frr(lab.upstream);
    await upstream.start([
      `router bgp ${upstreamAsn}`,
      ` bgp router-id ${lab.upstream.addressOf(1, 'ipv4')}`,
      ' no bgp ebgp-requires-policy',
      ...[[10, 'eth1'] as const, [11, 'eth0'] as const, [12, 'eth0'] as const].flatMap(([number, device]) => [
        ` neighbor fe80::${number} remote-as ${localAsn}`,
        ` neighbor fe80::${number} interface ${device}`,
        ` neighbor fe80::${number} timers 3 9`,
        ` neighbor fe80::${number} timers connect 1`,
      ]),
      ' address-family ipv6 unicast',
      ...[10, 11, 12].map((number) => `  neighbor fe80::${number} activate`),
    ]);
    await takeDefaultRouteFromAdvertisements();
    lab.lb.writeConfig({ neighbors: neighbors() });
    await lab.lb.router.start();
    const [first, second] = lab.masters;
    if (first === undefined || second === undefined) throw new Error('two masters expected');
    await startMaster(lab, first, { routers: routers() });
    await startForeignMasters();
    await startMaster(lab, second, { routers: routers() });
  }, 240_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  it('make members that are known with their link: our speakers, FRR and BIRD, with MD5, GTSM, and BFD of ours', async () => {
    await lab.lb.waitForPool(all, patience);
    const { vips } = await lab.lb.router.waitFor(
      'all members passing, ours with BFD',
      (status) =>
        status.vips.every(({ members }) =>
          members.every(
            ({ nextHop, health, bfd: state }) =>
              health === 'passing' && (state === 'Up') === [all[0], all[1]].includes(nextHop),
          ),
        ),
      patience,
    );
    expect(vips[0]?.members.map(({ nextHop, session }) => [nextHop, session]).sort()).toEqual(
      all.map((address) => [address, 'Established']),
    );
    const { received, rejected } = await routesOf(lab);
    expect(received.map(({ neighbor, nextHop }) => [neighbor, nextHop]).sort()).toEqual(
      Object.entries(numbers)
        .map(([name, number]) => [name, linkLocal(number)])
        .sort(),
    );
    // FRR as an upstream router sends back what our speakers told it.
    expect(rejected.filter(({ neighbor }) => neighbor !== 'tor')).toEqual([]);
  });

  it('put next hops with their interface into the kernel, by which clients are served', async () => {
    const nexthops = await lab.lb.ipJson<{ gateway?: string; dev?: string }[]>('-6', 'nexthop');
    const ways = nexthops.flatMap(({ gateway, dev }) => (gateway === undefined ? [] : [`${gateway}%${dev}`]));
    expect([...new Set(ways)].sort()).toEqual(all);
    for (let i = 0; i < 8; i++)
      expect(await lab.client.request({ timeout: 20_000 })).toMatchObject({ ok: true });
  });

  it('tell FRR of the VIP with the global next hop of the link beside the link-local one, and without where there is none', async () => {
    const hops = async (): Promise<string[]> => {
      const { paths = [] } = await upstream.show<{ paths?: { nexthops: { ip: string; scope: string }[] }[] }>(
        `show bgp ipv6 unicast ${vip} json`,
      );
      return paths.map(({ nexthops }) => nexthops.map(({ ip, scope }) => `${scope} ${ip}`).join(', ')).sort();
    };
    await expect.poll(hops, eventually).toEqual([
      `global ${lab.lb.uplinkAddress}, link-local fe80::10`,
      // FRR shows what came alone, in 16 octets, as if it were global.
      'global fe80::11',
      'global fe80::12',
    ]);
  });

  it('tell BIRD of the VIP by a link-local next hop alone', async () => {
    for (const number of [numbers.m1, numbers.m2]) {
      await expect
        .poll(() => birdAsMaster.birdc('show', 'route', 'all', 'protocol', `m${number}`), eventually)
        .toContain(`via fe80::${number} on eth0`);
    }
  });

  it('tell the speakers of each other by reflection on their link', async () => {
    const others = async (): Promise<unknown> => {
      const answer = (await lab.master(1).speaker.request('GET', '/api/v1/status')) as {
        otherMasters: readonly { address: string; routers: readonly string[] }[];
      };
      return answer.otherMasters
        .filter(({ routers: known }) => known.includes(linkLocal(10)))
        .map(({ address }) => address)
        .sort();
    };
    await expect.poll(others, eventually).toEqual(all.slice(1));
  });

  it('leave the load balancer a default route that router advertisements gave it, though it forwards now', async () => {
    const read = (name: string): Promise<string> => lab.lb.exec(['cat', `/proc/sys/net/ipv6/conf/${name}`]);
    expect([await read('all/forwarding'), await read('eth1/accept_ra')]).toEqual(['1\n', '2\n']);
    let before = Number.POSITIVE_INFINITY;
    // The next advertisement is heard as well.
    const isRenewed = async (): Promise<boolean> => {
      const left = (await defaultRouteExpires()) ?? Number.NaN;
      const isMore = left > before;
      before = left;
      return isMore;
    };
    await expect.poll(isRenewed, { timeout: patience, interval: 300 }).toBe(true);
  });

  it('wait for an interface that is not there', async () => {
    const later = async (): Promise<NeighborView | undefined> =>
      ((await lab.lb.router.request('GET', '/api/v1/neighbors')) as NeighborView[]).find(
        ({ name }) => name === 'later',
      );
    expect((await later())?.state).toMatch(/^(Idle|Connect|Active)$/);
    const cable = ['later0', 'type', 'veth', 'peer', 'name', 'later1', 'netns', lab.client.namespace];
    await lab.lb.exec(['ip', 'link', 'add', ...cable]);
    await lab.lb.exec(['ip', 'link', 'set', 'later0', 'up']);
    await lab.client.exec(['ip', 'link', 'set', 'later1', 'up']);
    await setLinkLocal(lab.lb, 'later0', 10);
    await setLinkLocal(lab.client, 'later1', 1);
    const bird = new Bird(lab.client);
    await bird.start([
      `protocol bgp lb { local as ${upstreamAsn}; passive on; neighbor ${linkLocal(10, 'later1')} as ${localAsn};
  ipv6 { import all; export none; }; }`,
    ]);
    await expect.poll(async () => (await later())?.state, eventually).toBe('Established');
  });

  it('end with a host that dies in silence, found by BFD', async () => {
    const victim = lab.master(2);
    const before = await lastEvent(lab);
    await victim.disconnect();
    const out = await waitForEvent(
      lab,
      before,
      `${victim.name} out`,
      ({ type, nextHop, to }) =>
        type === 'member-transition' && nextHop === linkLocal(numbers.m2) && to === 'out',
      patience,
    );
    expect(out['reason']).toMatch(/^BFD down/);
    expect(await lab.client.request({ host: vipOf('ipv6'), timeout: 20_000 })).toMatchObject({ ok: true });
    await victim.reconnect();
    await lab.lb.waitForPool(all, patience);
  });

  it('are found again by a router that is started anew: nothing in the kernel changes', async () => {
    const ids = async (): Promise<unknown> =>
      (await lab.lb.ipJson<{ id: number; gateway?: string }[]>('-6', 'nexthop'))
        .filter(({ gateway }) => gateway !== undefined)
        .map(({ id, gateway }) => `${id} ${gateway}`)
        .sort();
    const before = await ids();
    await lab.lb.router.kill();
    await lab.lb.router.start();
    await lab.lb.waitForPool(all, patience);
    expect(await ids()).toEqual(before);
  });
});
