/** Our end of many BGP sessions in a network namespace: a speaker with the sockets of the daemons, driven by a test. */
import { linuxSockets } from '@bgp-lb/linux';
import {
  asn,
  formatIpAddress,
  formatPrefix,
  type IpAddress,
  ipv4Unicast,
  ipv6Unicast,
  Origin,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
  SegmentType,
} from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';

/** The module's type, for NamespaceProcess. */
export type MatrixEnd = typeof import('./matrix-end.ts');

/** One neighbor. */
export interface MatrixPeer {
  readonly address: string;
  readonly asn: number;
  /** It connects to us. */
  readonly isPassive: boolean;
  readonly password: string | undefined;
  readonly hasTtlSecurity: boolean;
}

/** What is known of one neighbor. */
export interface MatrixState {
  readonly state: string;
  /** `10.1.0.0/24 via 10.0.0.11 path 65001`. */
  readonly paths: readonly string[];
  /** UPDATEs received. */
  readonly updates: number;
  readonly lastDown: string | undefined;
}

let speaker: BgpSpeaker | undefined;

/** Listens, and adds all neighbors; each is announced a VIP of its family with ourselves as next hop. */
export async function open(settings: {
  readonly asn: number;
  readonly local: { readonly ipv4: string; readonly ipv6: string };
  readonly vips: { readonly ipv4: string; readonly ipv6: string };
  readonly peers: readonly MatrixPeer[];
}): Promise<void> {
  const local = asn(settings.asn);
  speaker = new BgpSpeaker({
    asn: local,
    routerId: parseRouterId(settings.local.ipv4),
    sockets: linuxSockets,
  });
  for (const { address, asn: remote, isPassive, password, hasTtlSecurity } of settings.peers) {
    const isIpv6 = address.includes(':');
    const family = isIpv6 ? ipv6Unicast : ipv4Unicast;
    const peer = speaker.addPeer({
      name: address,
      address,
      passive: isPassive,
      remoteAsn: [asn(remote)],
      families: [family],
      addPathReceive: [family],
      holdTime: 9,
      connectRetryTime: 1,
      // As the daemons do; FRR 8.4 leaves a refresh unanswered without it (docs/interop.md).
      gracefulRestart: { restartTime: 60, families: [family] },
      socket: {
        ...(password === undefined ? {} : { password }),
        ...(hasTtlSecurity ? { ttlSecurityHops: 1 } : {}),
      },
    });
    const nextHop = parseIpAddress(isIpv6 ? settings.local.ipv6 : settings.local.ipv4);
    const vip = parsePrefix(isIpv6 ? settings.vips.ipv6 : settings.vips.ipv4);
    peer.setRoutes(family, [{ prefix: vip, attributes: attributes(nextHop, remote === settings.asn) }]);
  }
  for (const address of ['0.0.0.0', '::']) await speaker.listen({ address });

  function attributes(nextHop: IpAddress, isInternal: boolean): ReturnType<typeof pathAttributes> {
    const path = isInternal ? [] : [{ type: SegmentType.AsSequence, asns: [local] }];
    const localPref = isInternal ? 100 : undefined;
    return pathAttributes({ origin: Origin.Igp, asPath: path, nextHop, localPref });
  }
}

/** What is known of a neighbor now. */
export function stateOf(address: string): MatrixState {
  const peer = speaker?.peer(address);
  if (peer === undefined) throw new Error(`${address} is no neighbor`);
  const paths = peer.paths().map(({ prefix, attributes: { nextHop, asPath } }) => {
    const hops = (asPath ?? []).flatMap(({ asns }) => asns).join(' ');
    return `${formatPrefix(prefix)} via ${nextHop && formatIpAddress(nextHop)} path ${hops}`.trimEnd();
  });
  return {
    state: peer.state,
    paths: paths.sort(),
    updates: peer.status().messages.received.UPDATE,
    lastDown: peer.status().lastDown?.text,
  };
}

/** Asks a neighbor for everything again. */
export function refresh(address: string): void {
  speaker?.peer(address)?.requestRefresh(address.includes(':') ? ipv6Unicast : ipv4Unicast);
}

/** Ends all sessions. */
export async function close(): Promise<void> {
  await speaker?.close();
}
