import { asn, type Family, parseRouterId, type RouteChange } from '../../index.ts';
import type { Peer } from '../peer.ts';
import type { DownReason, PeerEvent } from '../peer-event.ts';
import type { PeerSettings } from '../peer-settings.ts';
import { BgpSpeaker } from '../speaker.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { MemoryNetwork } from './memory-sockets.ts';

/** What one side of a pair was told, in order. */
export interface Heard {
  readonly established: number;
  readonly down: readonly DownReason[];
  readonly routes: readonly RouteChange[];
  readonly endOfRib: readonly Family[];
  readonly refreshed: readonly Family[];
  readonly events: readonly PeerEvent[];
}

/** One side of a pair. */
export interface Side {
  readonly speaker: BgpSpeaker;
  readonly peer: Peer;
  readonly heard: Heard;
}

export interface PeerPairOptions {
  readonly left?: Partial<PeerSettings> & { readonly passive?: boolean };
  readonly right?: Partial<PeerSettings> & { readonly passive?: boolean };
  /** AS numbers; default 65001 and 65002. */
  readonly asns?: readonly [number, number];
  /** BGP Identifiers; default the addresses. */
  readonly routerIds?: readonly [string, string];
  /** Default 0.999: timers run their full time. */
  readonly random?: () => number;
}

const addresses = ['10.0.0.1', '10.0.0.2'] as const;

/** Two speakers on one network in memory, with one clock. */
export class PeerPair {
  readonly clock: ManualClock = new ManualClock();
  readonly network: MemoryNetwork = new MemoryNetwork();
  readonly #options: PeerPairOptions;

  constructor(options: PeerPairOptions = {}) {
    this.#options = options;
  }

  /** Starts one side, also once more after it was killed. */
  async start(index: 0 | 1): Promise<Side> {
    const { asns = [65001, 65002], routerIds = addresses, random = () => 0.999 } = this.#options;
    const other = index === 0 ? 1 : 0;
    const settings = (index === 0 ? this.#options.left : this.#options.right) ?? {};
    const established = { count: 0 };
    const heard = {
      get established() {
        return established.count;
      },
      down: [] as DownReason[],
      routes: [] as RouteChange[],
      endOfRib: [] as Family[],
      refreshed: [] as Family[],
      events: [] as PeerEvent[],
    };
    const speaker = new BgpSpeaker({
      asn: asn(asns[index]),
      routerId: parseRouterId(routerIds[index]),
      sockets: this.network.host(addresses[index]),
      clock: this.clock,
      random,
      handlers: {
        established: () => {
          established.count += 1;
        },
        down: (_peer, reason) => heard.down.push(reason),
        routes: (_peer, change) => heard.routes.push(change),
        endOfRib: (_peer, family) => heard.endOfRib.push(family),
        refreshed: (_peer, family) => heard.refreshed.push(family),
        event: (_peer, event) => heard.events.push(event),
      },
    });
    await speaker.listen({ address: addresses[index] });
    const peer = speaker.addPeer({
      name: index === 0 ? 'right' : 'left',
      address: addresses[other],
      remoteAsn: [asn(asns[other])],
      ...settings,
    });
    return { speaker, peer, heard };
  }

  /** Both sides, and time for them to find each other. */
  async up(): Promise<readonly [Side, Side]> {
    const left = await this.start(0);
    const right = await this.start(1);
    await settle();
    await this.clock.advance(2000);
    return [left, right];
  }

  /** The process of one side dies: its sockets are reset and it says nothing. */
  async kill(index: 0 | 1): Promise<void> {
    for (const { from, dialler, accepted } of this.network.connections) {
      const own = from === addresses[index] ? dialler : accepted;
      if (!own.destroyed) own.kill();
    }
    await settle();
  }
}
