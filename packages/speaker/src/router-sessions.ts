import { linuxSockets } from '@bgp-lb/linux';
import { BfdThread } from '@bgp-lb/protocol/node';
import { RouterBfd } from './bfd/router-bfd.ts';
import { Advertiser, type RouterChanges, type RouterPasswords } from './bgp/advertiser.ts';
import type { RouterPeerConfig } from './config/speaker-config.ts';
import { globalOnLinkOf, linkLocalTowards, sourceTowards } from './host-facts.ts';
import type { Journal } from './journal.ts';
import type { SpeakerContext } from './speaker-context.ts';

export interface RouterSessions {
  readonly advertiser: Advertiser;
  readonly bfd: RouterBfd;
  /** As configured now. */
  routers(): readonly RouterPeerConfig[];
  /** Brings both to other routers; what is the same is not touched. */
  setRouters(routers: readonly RouterPeerConfig[], passwords: RouterPasswords): RouterChanges;
}

/**
 * BGP and BFD with the routers, each told what it has to know of the other. Connects at once.
 * @param isRestarting see `AdvertiserOptions`
 */
export function routerSessions(
  context: SpeakerContext,
  journal: Journal,
  isRestarting: boolean,
): RouterSessions {
  const { config, facts, passwords, routes, program } = context;
  const advertiser = new Advertiser({
    config,
    routerId: facts.routerId,
    passwords,
    isRestarting,
    sourceTowards: (router) => sourceTowards(routes, router),
    linkLocalTowards: (router) => linkLocalTowards(routes, router),
    globalOnLinkOf: (router) => globalOnLinkOf(routes, router),
    sockets: linuxSockets,
    handlers: {
      established: (peer) => {
        bfd.sessionEstablished(peer.address, advertiser.bfdKeyOf(peer.address));
        journal.sessionEstablished(peer);
      },
      down: (peer, reason) => {
        journal.sessionLost(peer, reason);
        bfd.sessionLost(peer.address);
      },
      event: (peer, event) => journal.peerEvent(peer, event),
      ignored: (router, count) => journal.routesIgnored(router, count),
    },
  });
  const bfd = new RouterBfd({
    routers: config.routers,
    passwords,
    start: (handlers) => new BfdThread({ entry: program, handlers }),
    dead: (router) => advertiser.endDead(router),
    mayConnect: (router, isAllowed) => advertiser.mayConnect(router, isAllowed),
    changed: (change, verdict) => journal.bfdChanged(change, verdict),
    scheduled: (scheduling) => journal.bfdScheduled(scheduling),
    failed: (what) => journal.bfdFailed(what),
  });
  let { routers } = config;
  return {
    advertiser,
    bfd,
    routers: () => routers,
    setRouters(wanted, wantedPasswords) {
      routers = wanted;
      const changes = advertiser.setRouters(wanted, wantedPasswords);
      bfd.setRouters(wanted, wantedPasswords);
      return changes;
    },
  };
}
