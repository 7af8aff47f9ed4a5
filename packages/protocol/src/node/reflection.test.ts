import { describe, expect, it } from 'vitest';
import {
  asn,
  formatIpAddress,
  formatRouterId,
  ipv4Unicast,
  type Path,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
} from '../index.ts';
import { ManualClock, settle } from './kit/manual-clock.ts';
import { MemoryNetwork } from './kit/memory-sockets.ts';
import type { Peer } from './peer.ts';
import type { PeerSettings } from './peer-settings.ts';
import { Reflection } from './reflection.ts';
import { BgpSpeaker } from './speaker.ts';

const local = asn(64512);
const vip = parsePrefix('10.100.0.1/32');
const addPath = { addPathSend: [ipv4Unicast], addPathReceive: [ipv4Unicast] };
const internal: PeerSettings = { remoteAsn: [local], ...addPath };

/** `10.0.0.11 by 10.0.0.11 over 10.0.0.10`: next hop, ORIGINATOR_ID, CLUSTER_LIST. */
function text({ attributes: { nextHop, originatorId, clusterList } }: Path): string {
  return [
    nextHop && formatIpAddress(nextHop),
    ...(originatorId === undefined ? [] : ['by', formatRouterId(originatorId)]),
    ...(clusterList === undefined ? [] : ['over', ...clusterList.map(formatRouterId)]),
  ].join(' ');
}

class Net {
  readonly #clock = new ManualClock();
  readonly #network = new MemoryNetwork();

  /** A reflector: any peer that connects from 10.0.0.0/24 is a client, the other ones are neighbors that are none. */
  async reflector(address: string, clusterId: string, others: readonly string[] = []): Promise<BgpSpeaker> {
    const speaker: BgpSpeaker = new BgpSpeaker({
      asn: local,
      routerId: parseRouterId(address),
      clusterId: parseRouterId(clusterId),
      sockets: this.#network.host(address),
      clock: this.#clock,
      random: () => 0.999,
      handlers: {
        established: (peer, negotiated) => reflection.established(peer, negotiated),
        down: (peer) => reflection.down(peer),
        routes: (peer, change) => reflection.routes(peer, change),
      },
    });
    const reflection = new Reflection({
      speaker,
      clusterId: parseRouterId(clusterId),
      roleOf: (peer) => ({ isClient: peer.range !== undefined, isTold: true }),
    });
    await speaker.listen({ address });
    speaker.addRange({ ...internal, name: 'clients', range: '10.0.0.0/24', maxSessions: 9 });
    for (const other of others) speaker.addPeer({ ...internal, name: other, address: other });
    return speaker;
  }

  /** A client that announces the VIP to these reflectors, with itself as next hop. */
  client(host: number, reflectors: readonly string[], settings: Partial<PeerSettings> = {}): BgpSpeaker {
    const address = `10.0.0.${host}`;
    const speaker = new BgpSpeaker({
      asn: local,
      routerId: parseRouterId(address),
      sockets: this.#network.host(address),
      clock: this.#clock,
      random: () => 0.999,
    });
    for (const name of reflectors) {
      const peer = speaker.addPeer({ ...internal, name, address: name, ...settings });
      announce(peer, address);
    }
    return speaker;
  }

  async rest(): Promise<void> {
    await settle();
    await this.#clock.advance(2000);
    await settle();
  }
}

function announce(peer: Peer, nextHop: string): void {
  const attributes = pathAttributes({
    origin: 0,
    asPath: [],
    nextHop: parseIpAddress(nextHop),
    localPref: 100,
  });
  peer.setRoutes(ipv4Unicast, [{ prefix: vip, attributes }]);
}

function holds(speaker: BgpSpeaker, name: string): string[] {
  return (speaker.peer(name)?.paths() ?? []).map(text).sort();
}

const one = '10.0.0.10';
const two = '10.0.0.9';

describe('a reflector with clients', () => {
  it('tells each of all the others, and of their end', async () => {
    const net = new Net();
    await net.reflector(one, one);
    const clients = [11, 12, 13].map((host) => net.client(host, [one]));
    const [first, , third] = clients as [BgpSpeaker, BgpSpeaker, BgpSpeaker];
    await net.rest();
    expect(holds(first, one)).toEqual([
      `10.0.0.12 by 10.0.0.12 over ${one}`,
      `10.0.0.13 by 10.0.0.13 over ${one}`,
    ]);
    await third.close();
    await net.rest();
    expect(holds(first, one)).toEqual([`10.0.0.12 by 10.0.0.12 over ${one}`]);
  });

  it('tells one without ADD-PATH of the best path', async () => {
    const net = new Net();
    await net.reflector(one, one);
    net.client(11, [one]);
    net.client(12, [one]);
    const third = net.client(13, [one], { addPathReceive: [] });
    await net.rest();
    expect(holds(third, one)).toEqual([`10.0.0.11 by 10.0.0.11 over ${one}`]);
  });

  it('keeps the path identifiers over a restart of the session of who hears them, and of one of the sources', async () => {
    const net = new Net();
    await net.reflector(one, one);
    const [first, second, third] = [11, 12, 13].map((host) => net.client(host, [one])) as [
      BgpSpeaker,
      BgpSpeaker,
      BgpSpeaker,
    ];
    await net.rest();
    const identifiers = (speaker: BgpSpeaker): string[] =>
      (speaker.peer(one)?.paths() ?? []).map((path) => `${text(path).split(' ')[0]}#${path.pathId}`).sort();
    const before = identifiers(third);
    expect(before).toHaveLength(2);
    expect(new Set(before.map((path) => path.split('#')[1])).size).toBe(2);

    await third.close();
    await net.rest();
    const again = net.client(13, [one]);
    await net.rest();
    expect(identifiers(again)).toEqual(before);

    const ofOthers = identifiers(first);
    await second.close();
    await net.rest();
    expect(identifiers(again)).toEqual(before.filter((path) => !path.startsWith('10.0.0.12#')));
    net.client(12, [one]);
    await net.rest();
    expect(identifiers(again)).toEqual(before);
    expect(identifiers(first)).toEqual(ofOthers);
  });

  it('answers a route refresh with all of it', async () => {
    const net = new Net();
    await net.reflector(one, one);
    const first = net.client(11, [one]);
    net.client(12, [one]);
    await net.rest();
    const peer = first.peer(one);
    const before = peer?.status().messages.received.UPDATE ?? Number.NaN;
    peer?.requestRefresh(ipv4Unicast);
    await net.rest();
    expect((peer?.status().messages.received.UPDATE ?? 0) - before).toBe(1);
  });
});

describe('two reflectors', () => {
  /** Clients with both, but for the third, which has a session with the first reflector alone. */
  async function pair(clusters: readonly [string, string]): Promise<{
    speakers: readonly [BgpSpeaker, BgpSpeaker];
    clients: readonly BgpSpeaker[];
  }> {
    const net = new Net();
    const speakers = [
      await net.reflector(one, clusters[0], [two]),
      await net.reflector(two, clusters[1], [one]),
    ] as const;
    const clients = [net.client(11, [one, two]), net.client(12, [one, two]), net.client(13, [one])];
    await net.rest();
    return { speakers, clients };
  }

  it('of one cluster know nothing by each other, and each tells of its own clients', async () => {
    const { speakers, clients } = await pair([one, one]);
    for (const [speaker, other] of [
      [speakers[0], two],
      [speakers[1], one],
    ] as const) {
      expect(holds(speaker, other)).toEqual([]);
      expect(speaker.peer(other)?.adjRibIn?.rejected.last.at(-1)?.reason).toBe(
        `own cluster ${one} in CLUSTER_LIST`,
      );
    }
    expect(clients.map((client) => holds(client, two))).toEqual([
      [`10.0.0.12 by 10.0.0.12 over ${one}`],
      [`10.0.0.11 by 10.0.0.11 over ${one}`],
      [],
    ]);
  });

  it('of two clusters tell each other, nothing loops, and a client hears of each next hop once', async () => {
    const { speakers, clients } = await pair([one, two]);
    expect(holds(speakers[1], one)).toEqual([
      `10.0.0.11 by 10.0.0.11 over ${one}`,
      `10.0.0.12 by 10.0.0.12 over ${one}`,
      `10.0.0.13 by 10.0.0.13 over ${one}`,
    ]);
    expect(holds(speakers[0], two)).toEqual([
      `10.0.0.11 by 10.0.0.11 over ${two}`,
      `10.0.0.12 by 10.0.0.12 over ${two}`,
    ]);
    expect(holds(clients[0] as BgpSpeaker, two)).toEqual([
      `10.0.0.12 by 10.0.0.12 over ${two}`,
      // Only the other cluster has a session with it.
      `10.0.0.13 by 10.0.0.13 over ${two} ${one}`,
    ]);
    expect(holds(clients[0] as BgpSpeaker, one)).toEqual([
      `10.0.0.12 by 10.0.0.12 over ${one}`,
      `10.0.0.13 by 10.0.0.13 over ${one}`,
    ]);
  });
});
