import {
  asn,
  formatIpAddress,
  formatPrefix,
  ipv4Unicast,
  Origin,
  type Path,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
  SegmentType,
} from '@bgp-lb/protocol';
import { BgpSpeaker, type Peer } from '@bgp-lb/protocol/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NeighborConfig } from '../config/router-config.ts';
import { vipOf } from '../testing/vip-of.ts';
import type { BgpNeighbors } from './bgp-neighbors.ts';
import {
  freePort,
  LOCAL_AS,
  LoopbackMaster,
  masters,
  ROUTER_ADDRESS,
  routerNeighbors,
} from './testing/loopback-bgp.ts';
import { mappedSockets } from './testing/mapped-sockets.ts';
import { UpstreamAdvertiser } from './upstream-advertiser.ts';

const VIP = '10.100.0.1/32';
const TOR = '10.0.0.50';

/** The VIP is forwarded to so many members from now on. */
function carry(advertiser: UpstreamAdvertiser, vip: string, members: number, withheld?: string): void {
  advertiser.setAdvertised(new Map([[vip, { members, withheld }]]));
}

/** An upstream router that writes down what it is told. */
class Tor {
  readonly log: string[] = [];
  readonly speaker: BgpSpeaker;
  #waiting = new Set<() => void>();

  constructor() {
    this.speaker = new BgpSpeaker({
      asn: asn(65001),
      routerId: parseRouterId('10.0.1.1'),
      sockets: mappedSockets,
      handlers: {
        routes: (_: Peer, { announced, withdrawn }) => {
          for (const { prefix, attributes } of announced) {
            const hop = attributes.nextHop === undefined ? '' : formatIpAddress(attributes.nextHop);
            const path = (attributes.asPath ?? []).flatMap(({ asns }) => asns).join(' ');
            const extras = [attributes.communities, attributes.largeCommunities, attributes.localPref];
            this.#write(
              `${formatPrefix(prefix)} via ${hop} path ${path} extras ${extras.filter(Boolean).length}`,
            );
          }
          for (const { prefix } of withdrawn) {
            this.#write(`withdrawn ${formatPrefix(prefix)}`);
          }
        },
        endOfRib: () => this.#write('end of RIB'),
      },
    });
  }

  /** Resolves when the line, past or future, is there. */
  line(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.log.includes(text)) {
          clearTimeout(timer);
          this.#waiting.delete(look);
          resolve();
        }
      };
      const timer = setTimeout(() => reject(new Error(`no "${text}" in ${JSON.stringify(this.log)}`)), 5000);
      this.#waiting.add(look);
      look();
    });
  }

  #write(text: string): void {
    this.log.push(text);
    for (const look of this.#waiting) {
      look();
    }
  }
}

function upstream(port: number): NeighborConfig & { role: 'upstream' } {
  return {
    role: 'upstream',
    name: 'tor',
    address: TOR,
    port,
    asn: 65001,
    passive: false,
    nextHop: 'self',
    prepend: 0,
    communities: [],
    passCommunities: [],
    ttlSecurityHops: 0,
    holdTime: 9000,
    bfd: false,
    addPath: true,
    acceptAsSet: false,
    withoutCapabilities: [],
  };
}

let tor: Tor;
let bgp: BgpNeighbors;
let advertiser: UpstreamAdvertiser;
let port: number;
const masterSide: LoopbackMaster[] = [];

beforeEach(async () => {
  port = await freePort();
  tor = new Tor();
  await tor.speaker.listen({ address: TOR, port });
  tor.speaker.addPeer({
    name: 'lb',
    address: ROUTER_ADDRESS,
    port,
    passive: true,
    remoteAsn: [asn(LOCAL_AS)],
  });
  bgp = routerNeighbors(port, [masters, upstream(port)]);
  advertiser = new UpstreamAdvertiser(bgp);
});

afterEach(async () => {
  await Promise.all(masterSide.splice(0).map((master) => master.die()));
  await bgp?.stop();
  await tor?.speaker.close();
});

const announced = `${VIP} via ${ROUTER_ADDRESS} path ${LOCAL_AS} extras 0`;

describe('the upstream', () => {
  it('gets nothing but End-of-RIB while no pool has a member', async () => {
    await bgp.start();
    await tor.line('end of RIB');
    expect(tor.log).toEqual(['end of RIB']);
  });

  it('loses a VIP that is configured no more, and keeps the others', async () => {
    const other = '10.100.0.2/32';
    carry(advertiser, VIP, 3);
    carry(advertiser, other, 3);
    await bgp.start();
    await tor.line('end of RIB');
    advertiser.configure({ vips: [vipOf('10.100.0.2')] });
    await tor.line(`withdrawn ${VIP}`);
    expect(advertiser.advertised().map(({ prefix }) => prefix)).toEqual([other]);
    advertiser.refresh();
    expect(tor.log.filter((line) => line.startsWith('withdrawn'))).toEqual([`withdrawn ${VIP}`]);
  });

  it('gets a VIP that is carried already before the End-of-RIB', async () => {
    carry(advertiser, VIP, 3);
    await bgp.start();
    await tor.line('end of RIB');
    expect(tor.log).toEqual([announced, 'end of RIB']);
    expect(advertiser.advertised()).toEqual([
      { neighbor: 'tor', prefix: VIP, nextHop: ROUTER_ADDRESS, pathId: null },
    ]);
  });

  it('gets the VIP when it begins to be carried, and its withdrawal when it ends', async () => {
    await bgp.start();
    await tor.line('end of RIB');
    carry(advertiser, VIP, 3);
    await tor.line(announced);
    carry(advertiser, VIP, 0);
    await tor.line(`withdrawn ${VIP}`);
  });

  it('that must have BFD gets nothing until it is Up, and loses it when it is not', async () => {
    advertiser.setBfdUp(TOR, false);
    carry(advertiser, VIP, 3);
    await bgp.start();
    await tor.line('end of RIB');
    expect(tor.log).toEqual(['end of RIB']);
    advertiser.setBfdUp(TOR, true);
    await tor.line(announced);
    advertiser.setBfdUp(TOR, false);
    await tor.line(`withdrawn ${VIP}`);
  });

  it('is said to have a VIP while our Adj-RIB-Out for its session holds it, and why it has not otherwise', async () => {
    const has = (advertised: boolean, reason: unknown = '') => [{ upstream: 'tor', advertised, reason }];
    const said = () => advertiser.advertisements(VIP);
    carry(advertiser, VIP, 3);
    await bgp.start();
    expect(said()).toEqual(has(false, expect.stringMatching(/^the BGP session is (Idle|Connect|Active)$/)));
    await tor.line(announced);
    expect(said()).toEqual(has(true));
    advertiser.setDrain('leaving');
    advertiser.refresh();
    expect(said()).toEqual(has(true));
    advertiser.setDrain('withdrawn');
    advertiser.refresh();
    expect(said()).toEqual(has(false, 'this load balancer is drained'));
    advertiser.setDrain('none');
    advertiser.refresh();
    carry(advertiser, VIP, 0);
    expect(said()).toEqual(has(false, 'it is forwarded to no member'));
    carry(advertiser, VIP, 0, 'all its members are in doubt');
    expect(said()).toEqual(has(false, 'all its members are in doubt'));
    carry(advertiser, VIP, 3);
    advertiser.setBfdUp(TOR, false);
    expect(said()).toEqual(has(false, 'BFD with the upstream is not Up, which `bfd.strict` asks for'));
    advertiser.setBfdUp(TOR, true);
    expect(said()).toEqual(has(true));
    expect(advertiser.advertisements('fd00::64/128')).toEqual(has(false, 'the VIP is not served yet'));
    carry(advertiser, 'fd00::64/128', 3);
    expect(advertiser.advertisements('fd00::64/128')).toEqual(
      has(false, 'the session does not carry ipv6-unicast'),
    );
    await tor.speaker.close();
    await vi.waitUntil(() => said()[0]?.advertised === false, { timeout: 5000, interval: 5 });
    expect(said()[0]?.reason).toMatch(/^the BGP session is /);
    // Nor does the list of neighbors count what a session that is gone was told.
    expect(bgp.peers('upstream')[0]?.peer.status().prefixes.advertised).toBe(0);
  });

  it('hears nothing of the masters: neither their paths nor their communities', async () => {
    await bgp.start();
    await tor.line('end of RIB');
    const master = new LoopbackMaster('10.0.0.11', port);
    masterSide.push(master);
    await master.established();
    master.announce(VIP, { intent: 'draining' });
    carry(advertiser, VIP, 3);
    await tor.line(announced);
    carry(advertiser, VIP, 0);
    await tor.line(`withdrawn ${VIP}`);
    expect(tor.log).toEqual(['end of RIB', announced, `withdrawn ${VIP}`]);
  });

  it('has nothing imported that it announces', async () => {
    await bgp.start();
    await tor.line('end of RIB');
    const rejected = new Promise<void>((resolve) => {
      bgp.own('upstream', { paths: () => resolve() });
    });
    tor.speaker.peer('lb')?.setRoutes(ipv4Unicast, [
      {
        prefix: parsePrefix(VIP),
        attributes: pathAttributes({
          origin: Origin.Igp,
          asPath: [{ type: SegmentType.AsSequence, asns: [asn(65001)] }],
          nextHop: parseIpAddress(TOR),
        }),
      },
    ]);
    await rejected;
    const [upstream] = bgp.peers('upstream');
    expect(upstream?.peer.paths()).toEqual([]);
    expect(upstream?.peer.adjRibIn?.rejected.count).toBe(1);
  });
});

describe('an upstream that gets the members themselves', () => {
  const nextHops = (): string[] =>
    (tor.speaker.peer('lb')?.paths() ?? [])
      .map(
        ({ attributes, pathId }) => `${attributes.nextHop && formatIpAddress(attributes.nextHop)} ${pathId}`,
      )
      .sort();
  let usable: Set<string>;

  /** Two masters in the pool, and an upstream with path identifiers or without. */
  async function start(takesPathIds: boolean): Promise<void> {
    await bgp.stop();
    await tor.speaker.close();
    tor = new Tor();
    await tor.speaker.listen({ address: TOR, port });
    tor.speaker.addPeer({
      name: 'lb',
      address: ROUTER_ADDRESS,
      port,
      passive: true,
      remoteAsn: [asn(LOCAL_AS)],
      addPathReceive: takesPathIds ? [ipv4Unicast] : [],
    });
    usable = new Set(['10.0.0.11', '10.0.0.12']);
    const isUsable = ({ from }: Path): boolean => usable.has(from.name);
    bgp = routerNeighbors(port, [masters, { ...upstream(port), nextHop: 'unchanged' }], undefined, isUsable);
    advertiser = new UpstreamAdvertiser(bgp);
    await bgp.start();
    for (const address of usable) {
      const master = new LoopbackMaster(address, port, [VIP]);
      masterSide.push(master);
      await master.established();
    }
    await vi.waitUntil(() => bgp.select(VIP).paths.length === 2, { timeout: 5000, interval: 5 });
    carry(advertiser, VIP, 3);
  }

  it('has one path for each, with path identifiers', async () => {
    await start(true);
    await expect.poll(nextHops, { timeout: 5000 }).toEqual(['10.0.0.11 1', '10.0.0.12 2']);
    expect(advertiser.advertised().filter(({ neighbor }) => neighbor === 'tor')).toEqual([
      { neighbor: 'tor', prefix: VIP, nextHop: '10.0.0.11', pathId: 1 },
      { neighbor: 'tor', prefix: VIP, nextHop: '10.0.0.12', pathId: 2 },
    ]);
  });

  it('has the best one without, and the next one when that leaves the pool', async () => {
    await start(false);
    await expect.poll(nextHops, { timeout: 5000 }).toEqual(['10.0.0.11 0']);
    usable.delete('10.0.0.11');
    carry(advertiser, VIP, 3);
    await expect.poll(nextHops, { timeout: 5000 }).toEqual(['10.0.0.12 0']);
    usable.delete('10.0.0.12');
    carry(advertiser, VIP, 3);
    expect(advertiser.advertisements(VIP)).toEqual([
      { upstream: 'tor', advertised: false, reason: 'no path of a member can be passed on to it' },
    ]);
    carry(advertiser, VIP, 0);
    await expect.poll(nextHops, { timeout: 5000 }).toEqual([]);
  });
});
