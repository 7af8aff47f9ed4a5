import { describe, expect, it } from 'vitest';
import { asn, ipv4Unicast, type PathAttributes, parseRouterId, type Route } from '../index.ts';
import { ManualClock } from './kit/manual-clock.ts';
import { MemoryNetwork, type MemorySocket } from './kit/memory-sockets.ts';
import { manyRoutes, prefixesOf } from './kit/routes.ts';
import type { Peer } from './peer.ts';
import type { PeerSettings } from './peer-settings.ts';
import { Reflection } from './reflection.ts';
import { BgpSpeaker } from './speaker.ts';

const local = asn(64512);
const reflector = '10.0.0.10';
const gracefulRestart = { restartTime: 60, families: [ipv4Unicast] };
const settings: PeerSettings = { remoteAsn: [local], holdTime: 0, gracefulRestart };

/** So many that a socket is soon full. */
const communities = Array.from({ length: 200 }, (_, n) => 65536 * 64512 + n);

/** As an internal peer has them; `medOf` tells one version of all of them from another. */
function tableOf(count: number, medOf = (index: number): number => index): readonly Route[] {
  return manyRoutes(count).map(({ prefix, attributes }, index) => {
    const own: PathAttributes = { ...attributes, localPref: 100, communities, multiExitDisc: medOf(index) };
    return { prefix, attributes: own };
  });
}

interface Client {
  readonly peer: Peer;
  /** Its end of the connection. */
  readonly socket: MemorySocket;
  readonly ends: string[];
}

class Net {
  readonly clock = new ManualClock();
  readonly #network = new MemoryNetwork();
  readonly speaker: BgpSpeaker;

  constructor() {
    this.speaker = new BgpSpeaker({
      asn: local,
      routerId: parseRouterId(reflector),
      sockets: this.#network.host(reflector),
      clock: this.clock,
      handlers: {
        established: (peer, negotiated) => reflection.established(peer, negotiated),
        down: (peer) => reflection.down(peer),
        routes: (peer, change) => reflection.routes(peer, change),
      },
    });
    const reflection = new Reflection({
      speaker: this.speaker,
      clusterId: parseRouterId(reflector),
      roleOf: () => ({ isClient: true, isTold: true }),
    });
  }

  async listen(): Promise<void> {
    await this.speaker.listen({ address: reflector });
    this.speaker.addRange({ ...settings, name: 'clients', range: '10.0.0.0/24', maxSessions: 9 });
  }

  async client(host: number): Promise<Client> {
    const address = `10.0.0.${host}`;
    const ends: string[] = [];
    const speaker = new BgpSpeaker({
      asn: local,
      routerId: parseRouterId(address),
      sockets: this.#network.host(address),
      clock: this.clock,
      handlers: { endOfRib: (_peer, family) => ends.push(family.name) },
    });
    const peer = speaker.addPeer({ ...settings, name: 'reflector', address: reflector });
    await this.clock.advance(10);
    const socket = this.#network.connections.find(({ from }) => from === address)?.dialler;
    if (socket === undefined || peer.state !== 'Established') throw new Error(`no session of ${address}`);
    return { peer, socket, ends };
  }

  /** Until nothing moves any more. */
  async rest(): Promise<void> {
    await this.clock.advance(2000);
  }

  /** UPDATEs that a client was sent. */
  sentTo({ socket: { localAddress } }: Client): number {
    return this.speaker.peer(localAddress ?? '')?.status().messages.sent.UPDATE ?? Number.NaN;
  }
}

async function clients(): Promise<{ net: Net; feeder: Client; reader: Client; slow: Client }> {
  const net = new Net();
  await net.listen();
  const [feeder, reader, slow] = [await net.client(11), await net.client(12), await net.client(13)];
  return { net, feeder, reader, slow };
}

const meds = ({ peer }: Client): ReadonlySet<number | undefined> =>
  new Set(peer.paths().map(({ attributes }) => attributes.multiExitDisc));

describe('clients that are told the same', () => {
  it('all have it, one that does not read keeps nobody waiting, and has the newest when it reads again', async () => {
    const { net, feeder, reader, slow } = await clients();
    slow.socket.pause();
    feeder.peer.setRoutes(ipv4Unicast, tableOf(400));
    await net.rest();
    expect(reader.peer.paths()).toHaveLength(400);
    const before = net.sentTo(slow);
    expect(before).toBeLessThan(300);
    // Nine more versions of each route: what waits for it does not grow.
    for (let version = 1; version < 10; version += 1) {
      feeder.peer.setRoutes(
        ipv4Unicast,
        tableOf(350, () => version),
      );
      await net.rest();
    }
    expect(net.sentTo(slow)).toBe(before);
    slow.socket.resume();
    await net.rest();
    expect(prefixesOf(slow.peer.paths())).toEqual(prefixesOf(reader.peer.paths()));
    expect([slow.peer.paths().length, [...meds(slow)]]).toEqual([350, [9]]);
    expect(net.sentTo(slow)).toBeLessThan(400 + 100);
    expect(slow.peer.state).toBe('Established');
  });

  it('are not sent what comes from themselves', async () => {
    const { net, feeder } = await clients();
    feeder.peer.setRoutes(ipv4Unicast, tableOf(90));
    await net.rest();
    // The End-of-RIB alone.
    expect(net.sentTo(feeder)).toBe(1);
    const status = net.speaker.peer('10.0.0.11')?.status().prefixes;
    expect(status).toMatchObject({ received: 90, advertised: 0 });
    expect(net.speaker.peer('10.0.0.12')?.status().prefixes).toMatchObject({ received: 0, advertised: 90 });
  });

  it('that come later have all of it before the End-of-RIB, and after a break again', async () => {
    const { net, feeder } = await clients();
    feeder.peer.setRoutes(ipv4Unicast, tableOf(100));
    await net.rest();
    const late = await net.client(14);
    await net.rest();
    expect([late.peer.paths().length, late.ends]).toEqual([100, ['ipv4-unicast']]);
    late.peer.reset();
    await net.rest();
    await net.clock.advance(60_000);
    expect([late.peer.paths().length, late.ends.length]).toEqual([100, 2]);
    expect(late.peer.paths().some(({ isStale }) => isStale)).toBe(false);
  });

  it('can have a route refresh while others change, and lose nothing by it', async () => {
    const { net, feeder, reader, slow } = await clients();
    feeder.peer.setRoutes(ipv4Unicast, tableOf(400));
    await net.rest();
    slow.socket.pause();
    slow.peer.requestRefresh(ipv4Unicast);
    await net.rest();
    feeder.peer.setRoutes(
      ipv4Unicast,
      tableOf(380, () => 7),
    );
    await net.rest();
    slow.socket.resume();
    await net.rest();
    expect(prefixesOf(slow.peer.paths())).toEqual(prefixesOf(reader.peer.paths()));
    expect([slow.peer.paths().length, [...meds(slow)]]).toEqual([380, [7]]);
    expect(slow.peer.status().messages.received['ROUTE-REFRESH']).toBe(2);
  });
});
