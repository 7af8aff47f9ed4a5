import { AS_TRANS, type Asn, isTwoOctetAsn } from '../types/asn.ts';
import type { Family } from '../types/family.ts';
import type { RouterId } from '../types/router-id.ts';
import { AddPathMode, type Capability } from '../wire/capability/capability.ts';
import { BGP_VERSION } from '../wire/constants.ts';
import type { OpenMessage } from '../wire/message.ts';

/** What we offer a peer. */
export interface LocalOffer {
  readonly asn: Asn;
  readonly routerId: RouterId;
  /** In seconds. */
  readonly holdTime: number;
  readonly families: readonly Family[];
  readonly addPathSend: readonly Family[];
  readonly addPathReceive: readonly Family[];
  /** Name the families (RFC 4760 section 8). Default true; without it a peer takes IPv4 unicast for granted, and nothing else. */
  readonly multiprotocol?: boolean;
  /** Take requests for all routes (RFC 2918 section 2). Default true. */
  readonly routeRefresh?: boolean;
  /** AS numbers of four octets (RFC 6793 section 3). Default true. */
  readonly fourOctetAs?: boolean;
  /** Messages of up to 65535 octets (RFC 8654). */
  readonly extendedMessage: boolean;
  /** Mark the beginning and the end of a route refresh (RFC 7313). */
  readonly enhancedRouteRefresh: boolean;
  /** Offer to authenticate BFD: our nonce, 16 octets. Default: the capability is not sent. */
  readonly bfdAuthentication?: Uint8Array | undefined;
  /**
   * `undefined`: the capability is not sent. `families` are those whose forwarding state is kept over our restart, and
   * `forwardingPreserved` says that it is there now (F bit); default true.
   */
  readonly gracefulRestart:
    | {
        readonly restarting: boolean;
        readonly forwardingPreserved?: boolean;
        readonly restartTime: number;
        readonly families: readonly Family[];
      }
    | undefined;
}

/** Our OPEN. */
export function localOpen(offer: LocalOffer): OpenMessage {
  return {
    type: 'OPEN',
    version: BGP_VERSION,
    // RFC 6793 section 4.2.2.
    myAs: isTwoOctetAsn(offer.asn) ? offer.asn : AS_TRANS,
    holdTime: offer.holdTime,
    bgpIdentifier: offer.routerId,
    capabilities: capabilitiesOf(offer),
  };
}

function capabilitiesOf(offer: LocalOffer): readonly Capability[] {
  const { multiprotocol = true, routeRefresh = true, fourOctetAs = true } = offer;
  const capabilities: Capability[] = [];
  if (multiprotocol) {
    capabilities.push(
      ...offer.families.map(({ afi, safi }) => ({ name: 'multiprotocol', afi, safi }) as const),
    );
  }
  if (routeRefresh) capabilities.push({ name: 'route-refresh' });
  if (fourOctetAs) capabilities.push({ name: 'four-octet-as', asn: offer.asn });
  if (offer.enhancedRouteRefresh) capabilities.push({ name: 'enhanced-route-refresh' });
  if (offer.bfdAuthentication !== undefined) {
    capabilities.push({ name: 'bfd-authentication', nonce: offer.bfdAuthentication });
  }
  if (offer.extendedMessage) capabilities.push({ name: 'extended-message' });
  const addPath = offer.families.flatMap((family) => {
    const receive = offer.addPathReceive.includes(family);
    const send = offer.addPathSend.includes(family);
    if (!receive && !send) return [];
    const mode = receive && send ? AddPathMode.Both : receive ? AddPathMode.Receive : AddPathMode.Send;
    return [{ afi: family.afi, safi: family.safi, mode }];
  });
  if (addPath.length > 0) capabilities.push({ name: 'add-path', families: addPath });
  if (offer.gracefulRestart !== undefined) {
    const { restarting, forwardingPreserved = true, restartTime, families } = offer.gracefulRestart;
    capabilities.push({
      name: 'graceful-restart',
      restarting,
      // RFC 8538 is not spoken: a NOTIFICATION ends the session for good.
      notification: false,
      restartTime,
      families: families.map(({ afi, safi }) => ({ afi, safi, forwardingPreserved })),
    });
  }
  return capabilities;
}
