/** Our BgpSpeaker with one peer that may connect. Runs in a namespace. */
import { asn, ipv4Unicast, parseRouterId } from '@bgp-lb/protocol';
import { BgpSpeaker, type Peer } from '@bgp-lb/protocol/node';

/** The module's type, for NamespaceProcess. */
export type OurSpeaker = typeof import('./our-speaker.ts');

export interface OurSpeakerOptions {
  readonly local: string;
  readonly remote: string;
  readonly asn: number;
  readonly remoteAsn: number;
  /** In seconds. */
  readonly holdTime: number;
}

let peer: Peer | undefined;

/** Listens; resolves once it does. */
export async function open(options: OurSpeakerOptions): Promise<void> {
  const speaker = new BgpSpeaker({ asn: asn(options.asn), routerId: parseRouterId(options.local) });
  await speaker.listen({ address: options.local });
  peer = speaker.addPeer({
    name: 'feeder',
    address: options.remote,
    passive: true,
    remoteAsn: [asn(options.remoteAsn)],
    holdTime: options.holdTime,
  });
}

/** Prefixes in the Adj-RIB-In. */
export function count(): number {
  return peer?.adjRibIn?.sizeOf(ipv4Unicast) ?? 0;
}
