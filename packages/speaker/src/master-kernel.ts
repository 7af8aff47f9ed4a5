import { Nftables, NftElements, readFirewall, reversePathDrops, SockDiag } from '@bgp-lb/linux';
import type { Journal } from './journal.ts';
import { ClientConnections } from './kernel/client-connections.ts';
import { ConnectionHold } from './kernel/connection-hold.ts';
import { HostKeeper } from './kernel/host-keeper.ts';
import { HostNetwork } from './kernel/host-network.ts';
import type { SpeakerContext } from './speaker-context.ts';
import { readStuckAnswers } from './way-back/stuck-answers.ts';
import { WayBackWatch } from './way-back/way-back-watch.ts';

export interface MasterKernel {
  readonly host: HostNetwork;
  /** The only one that changes the host. */
  readonly keeper: HostKeeper;
  readonly clients: ClientConnections;
  readonly hold: Pick<ConnectionHold, 'apply' | 'repair'>;
  readonly wayBack: WayBackWatch;
  /** To be called last of all. What is in the kernel stays. */
  close(): void;
}

/** Load balancers that open connections of their own open them elsewhere when this master drains. */
const NOTHING_HELD: MasterKernel['hold'] = { apply: async () => undefined, repair: async () => undefined };

/**
 * What the speaker owns in this host's kernel, and the connections to it. Changes nothing yet.
 * @param routers their addresses, which may change
 */
export function masterKernel(
  { config, routes, facts }: SpeakerContext,
  journal: Journal,
  routers: () => readonly string[],
): MasterKernel {
  const elements = new NftElements();
  const ownAddresses = [
    ...new Set([facts.nodeAddress, ...config.routers.flatMap(({ sourceAddress = [] }) => sourceAddress)]),
  ];
  const host = new HostNetwork({
    routes,
    nft: new Nftables(),
    elements,
    vips: config.vips,
    vipBind: config.vipBind,
    routers,
    nodeAddress: facts.nodeAddress,
    routeToVip: config.routeToVip,
    repaired: (object, what) => journal.kernelRepaired(object, what),
    routesMissing: (why) => journal.routesMissing(why),
    elsewhere: (found) => journal.vipsElsewhere(found),
  });
  const clients = new ClientConnections({
    open: () => new SockDiag(),
    notClients: () => [facts.nodeAddress, ...routers()],
    ...(config.vipBind ? {} : { byLoadBalancers: { addresses: ownAddresses, from: routers } }),
    reset: (report) => journal.connectionsReset(report),
    failed: (error) => journal.connectionsUnknown(error),
  });
  const hold = !config.vipBind
    ? NOTHING_HELD
    : new ConnectionHold({
        // An instance of its own: it does not wait for a pass over the other table.
        nft: new Nftables(),
        elements,
        vips: config.vips,
        repaired: (what) => journal.kernelRepaired('nftables', what),
      });
  const keeper = new HostKeeper(host, hold, {
    failed: (error) => journal.kernelFailed(error),
    leaving: (leaving) => clients.reset(leaving),
    isOwn: (portId) => elements.isOwn(portId),
  });
  const wayBack = new WayBackWatch({
    config: () => ({ vips: config.vips, routers: routers().map((address) => ({ address })) }),
    ...{ routes, now: () => performance.now() },
    host: { reversePathDrops, stuckAnswers: readStuckAnswers, firewall: () => readFirewall() },
  });
  return { host, keeper, clients, hold, wayBack, close: () => elements.close() };
}
