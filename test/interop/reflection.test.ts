/**
 * The router as a route reflector for FRR and BIRD: as clients, as non-clients, and as routers of another AS that spread
 * over the masters themselves (`nextHop: unchanged`). All are hosts in the masters' subnet, where they reach the next hops.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, upstreamAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { Bird } from '../../scripts/lab/bird.ts';
import { Frr } from '../../scripts/lab/frr.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { addresses, startMaster } from '../kit/cluster.ts';
import { routesOf } from '../kit/router-view.ts';

const vip = `${vipAddress}/32`;
const waiting = { timeout: 20_000, interval: 100 } as const;

/** A path as a daemon has it. */
interface SeenPath {
  readonly nextHop: string;
  readonly originator?: string | undefined;
  readonly clusters?: string | undefined;
  readonly communities: string;
}

interface Peer {
  readonly name: string;
  readonly host: (lab: Lab) => MasterHost;
  readonly make: (host: Host) => Daemon;
  /** The neighbor in router.yaml. */
  readonly neighbor: JsonObject;
  readonly asn: number;
  readonly addPath: boolean;
}

/** One BGP daemon, as a neighbor of the router. */
interface Daemon {
  start(lb: string, asn: number, addPath: boolean): Promise<void>;
  /** The paths to the VIP. */
  paths(): Promise<SeenPath[]>;
  /** Asks for everything again. */
  refresh(lb: string): Promise<void>;
}

class FrrDaemon implements Daemon {
  readonly #host: Host;
  readonly #frr: Frr;

  constructor(host: Host) {
    this.#host = host;
    this.#frr = new Frr(host);
  }

  start(lb: string, asn: number, addPath: boolean): Promise<void> {
    return this.#frr.start([
      `router bgp ${asn}`,
      ` bgp router-id ${this.#host.address}`,
      ' no bgp ebgp-requires-policy',
      ` neighbor ${lb} remote-as ${localAsn}`,
      ` neighbor ${lb} timers 3 9`,
      ` neighbor ${lb} timers connect 1`,
      ' address-family ipv4 unicast',
      '  maximum-paths 8',
      '  maximum-paths ibgp 8',
      ...(addPath ? [] : [`  neighbor ${lb} disable-addpath-rx`]),
    ]);
  }

  async paths(): Promise<SeenPath[]> {
    const { paths = [] } = await this.#frr.show<{
      paths?: readonly {
        nexthops: readonly { ip: string }[];
        originatorId?: string;
        clusterList?: { list: readonly string[] };
        community?: { string: string };
        largeCommunity?: { string: string };
      }[];
    }>(`show bgp ipv4 unicast ${vip} json`);
    return paths.map(({ nexthops, originatorId, clusterList, community, largeCommunity }) => ({
      nextHop: nexthops.map(({ ip }) => ip).join(),
      originator: originatorId,
      clusters: clusterList?.list.join(' '),
      communities: [community?.string, largeCommunity?.string].filter(Boolean).join(' '),
    }));
  }

  async refresh(lb: string): Promise<void> {
    await this.#frr.run(`clear bgp ipv4 unicast ${lb} soft in`);
  }
}

class BirdDaemon implements Daemon {
  readonly #host: Host;
  readonly #bird: Bird;

  constructor(host: Host) {
    this.#host = host;
    this.#bird = new Bird(host);
  }

  start(lb: string, asn: number, addPath: boolean): Promise<void> {
    return this.#bird.start([
      'protocol direct { ipv4; interface "eth*"; }',
      'protocol kernel { merge paths on; ipv4 { import none; export where source = RTS_BGP; }; }',
      `protocol bgp lb { local ${this.#host.address} as ${asn}; neighbor ${lb} as ${localAsn}; direct;`,
      ' hold time 9; connect delay time 1; connect retry time 1; error wait time 1, 1;',
      ` ipv4 { import all; export none; ${addPath ? 'add paths rx;' : ''} }; }`,
    ]);
  }

  async paths(): Promise<SeenPath[]> {
    const text = await this.#bird.birdc('show', 'route', vip, 'all');
    // Every path begins with a line that names the protocol that it came by.
    return text
      .split(/\[lb /)
      .slice(1)
      .map((path) => ({
        nextHop: /BGP\.next_hop: (\S+)/.exec(path)?.[1] ?? '',
        originator: /BGP\.originator_id: (\S+)/.exec(path)?.[1],
        clusters: /BGP\.cluster_list: (\S+)/.exec(path)?.[1],
        communities: [...path.matchAll(/BGP\.(?:large_)?community: (.*)/g)].map(([, text]) => text).join(' '),
      }));
  }

  async refresh(): Promise<void> {
    await this.#bird.birdc('reload', 'in', 'lb');
  }
}

const frr = (host: Host): Daemon => new FrrDaemon(host);
const bird = (host: Host): Daemon => new BirdDaemon(host);
const internal = (client: boolean): JsonObject => ({ role: 'internal', asn: localAsn, client });
const external: JsonObject = { role: 'upstream', asn: upstreamAsn, nextHop: 'unchanged' };
const allowed = `${localAsn}:100`;
/** What the third master says of its path: BLACKHOLE (RFC 7999), and what is for one upstream or for none. */
const communities = ['65535:666', allowed, `${localAsn}:101`, `${localAsn}:7:7`];

const peers: readonly Peer[] = [
  { name: 'FRR, non-client', make: frr, neighbor: internal(false), asn: localAsn, addPath: true },
  { name: 'BIRD, non-client', make: bird, neighbor: internal(false), asn: localAsn, addPath: true },
  { name: 'FRR, client', make: frr, neighbor: internal(true), asn: localAsn, addPath: true },
  { name: 'BIRD, client', make: bird, neighbor: internal(true), asn: localAsn, addPath: true },
  { name: 'FRR, no ADD-PATH', make: frr, neighbor: internal(true), asn: localAsn, addPath: false },
  { name: 'BIRD, no ADD-PATH', make: bird, neighbor: internal(false), asn: localAsn, addPath: false },
  { name: 'FRR, other AS', make: frr, neighbor: external, asn: upstreamAsn, addPath: true },
  {
    ...{ name: 'BIRD, other AS', make: bird, asn: upstreamAsn, addPath: true },
    neighbor: { ...external, passCommunities: [allowed] },
  },
].map((peer, index) => ({ ...peer, host: (lab) => lab.master(4 + index) }));

const spreading = peers.filter(({ addPath }) => addPath);
const own = peers.filter(({ asn }) => asn === localAsn);
const others = peers.filter(({ asn }) => asn !== localAsn);

describe('the router as a reflector', () => {
  let lab: Lab;
  const daemons = new Map<string, Daemon>();
  const daemonOf = ({ name }: Peer): Daemon => {
    const daemon = daemons.get(name);
    if (daemon === undefined) throw new Error(`${name} was not started`);
    return daemon;
  };
  const masters = (): MasterHost[] => [1, 2, 3].map((n) => lab.master(n));
  const nextHops = async (peer: Peer): Promise<string[]> =>
    (await daemonOf(peer).paths()).map(({ nextHop }) => nextHop).sort();
  /** The communities of a member's path that an upstream has. */
  const passedTo = ({ neighbor }: Peer, nextHop: string): string =>
    'passCommunities' in neighbor && nextHop === lab.master(3).address ? `(${localAsn},100)` : '';
  /** The gateways of the VIP's route in the kernel of the peer's host. */
  const gateways = async (peer: Peer): Promise<string[]> => {
    const routes = await peer
      .host(lab)
      .ipJson<{ gateway?: string; nexthops?: { gateway?: string }[] }[]>('route', 'show', vip);
    return routes
      .flatMap(({ gateway, nexthops = [] }) => [gateway, ...nexthops.map((hop) => hop.gateway)])
      .filter((gateway) => gateway !== undefined)
      .sort();
  };

  beforeAll(async () => {
    lab = await Lab.create({ masters: 3 + peers.length, controlPlane: 'stand-in', password: null });
    const neighbors = peers.map(({ host, neighbor }, index) => ({
      ...neighbor,
      name: `peer-${index}`,
      address: host(lab).address,
      passive: true,
      holdTime: '9s',
    }));
    lab.lb.writeConfig({
      neighbors: [
        {
          name: 'masters',
          role: 'master',
          range: '10.0.0.0/24',
          asn: localAsn,
          holdTime: '3s',
        },
        ...neighbors,
      ],
    });
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await Promise.all([
      startMaster(lab, lab.master(2)),
      startMaster(lab, lab.master(3), { vips: [{ address: vipAddress, communities }] }),
      ...peers.map(async (peer) => {
        const daemon = peer.make(peer.host(lab));
        daemons.set(peer.name, daemon);
        await daemon.start(lab.lb.address, peer.asn, peer.addPath);
      }),
    ]);
    await lab.lb.waitForPool(addresses(masters()), 30_000);
  }, 120_000);
  afterAll(async () => {
    await lab.destroy();
  });

  it.each(spreading)('gives $name the paths of all members', async (peer) => {
    await expect.poll(() => nextHops(peer), waiting).toEqual(addresses(masters()));
  });

  it.each(spreading)('lets the kernel of $name spread over the masters', async (peer) => {
    await expect.poll(() => gateways(peer), waiting).toEqual(addresses(masters()));
  });

  it.each(peers.filter(({ addPath }) => !addPath))('gives $name the best path', async (peer) => {
    await expect.poll(() => nextHops(peer), waiting).toEqual([lab.master(1).address]);
    await expect.poll(() => gateways(peer), waiting).toEqual([lab.master(1).address]);
  });

  it.each(own)('says to $name where each path is from and through which cluster it came', async (peer) => {
    for (const path of await daemonOf(peer).paths()) {
      expect(path).toMatchObject({ originator: path.nextHop, clusters: lab.lb.address });
    }
  });

  it.each(others)(
    'says nothing internal to $name, nor when a member drains, which it keeps',
    async (peer) => {
      await lab.master(2).setApiServer('not-ready');
      try {
        await lab.lb.router.waitFor('m2 as a last resort', ({ vips }) =>
          vips.some(({ members }) => members.some(({ state }) => state === 'last-resort')),
        );
        await expect
          .poll(async () => (await routesOf(lab)).received.map(({ selection }) => selection).sort(), waiting)
          .toEqual(['best', 'lower LOCAL_PREF', 'multipath']);
        const paths = await daemonOf(peer).paths();
        expect(paths.map(({ nextHop }) => nextHop).sort()).toEqual(addresses(masters()));
        expect(
          paths.map(({ originator, clusters, communities }) => [originator, clusters, communities]),
        ).toEqual(paths.map(({ nextHop }) => [undefined, undefined, passedTo(peer, nextHop)]));
      } finally {
        await lab.master(2).setApiServer('ready');
      }
      await expect
        .poll(async () => (await routesOf(lab)).received.map(({ selection }) => selection).sort(), waiting)
        .toEqual(['best', 'multipath', 'multipath']);
    },
  );

  it('keeps communities of a master from upstreams, BLACKHOLE among them, but for those that are listed', async () => {
    const [frrSees, birdSees] = await Promise.all(
      others.map(async (peer) => {
        const path = (await daemonOf(peer).paths()).find(({ nextHop }) => nextHop === lab.master(3).address);
        return path?.communities;
      }),
    );
    expect([frrSees, birdSees]).toEqual(['', `(${localAsn},100)`]);
    // Routers of our own AS hear what the master says: the load balancer has it, and the test can fail.
    const [internalPaths = []] = await Promise.all(own.slice(0, 1).map((peer) => daemonOf(peer).paths()));
    const reflected = internalPaths.find(({ nextHop }) => nextHop === lab.master(3).address);
    expect(reflected?.communities).toMatch(/blackhole|65535:666/);
  });

  it('sends all of it again to whoever asks', async () => {
    for (const peer of peers) {
      const before = await nextHops(peer);
      await daemonOf(peer).refresh(lab.lb.address);
      expect(await nextHops(peer)).toEqual(before);
    }
    const neighbors = (await lab.lb.router.request('GET', '/api/v1/neighbors')) as readonly {
      readonly address: string;
      readonly state: string;
      readonly messages: { readonly received: { readonly 'ROUTE-REFRESH': number } };
    }[];
    for (const { host } of peers) {
      const found = neighbors.find(({ address }) => address === host(lab).address);
      expect(found).toMatchObject({ state: 'Established', messages: { received: { 'ROUTE-REFRESH': 1 } } });
    }
  });

  it('lets each speaker know the other masters, and puts nothing into their kernels', async () => {
    for (const master of masters()) {
      const known = (await master.speaker.status()) as unknown as {
        readonly otherMasters: readonly { readonly address: string }[];
      };
      expect(known.otherMasters.map(({ address }) => address)).toEqual(
        addresses(masters().filter((other) => other !== master)),
      );
      expect(await master.ipJson('route', 'show', vip)).toEqual([]);
    }
  });

  it('takes a member that is gone from everybody, and its path identifiers stay with the others', async () => {
    const before = (await routesOf(lab)).advertised.filter(
      ({ nextHop }) => nextHop === lab.master(3).address,
    );
    await lab.master(1).setApiServer('closed');
    const left = addresses(masters().slice(1));
    for (const peer of spreading) {
      await expect.poll(() => nextHops(peer), waiting).toEqual(left);
      await expect.poll(() => gateways(peer), waiting).toEqual(left);
    }
    const after = (await routesOf(lab)).advertised.filter(({ nextHop }) => nextHop === lab.master(3).address);
    expect(after.filter(({ pathId }) => pathId !== null)).toEqual(
      before.filter(({ pathId }) => pathId !== null),
    );
    for (const peer of peers.filter(({ addPath }) => !addPath)) {
      await expect.poll(() => nextHops(peer), waiting).toEqual([lab.master(2).address]);
    }
  });
});
