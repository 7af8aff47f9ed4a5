/** Our BgpSpeaker with a range of peers that may connect, on the heap that the daemons have. Runs in a namespace. */
import { preferSmallHeap } from '@bgp-lb/daemon/small-heap';
import type { SessionsPlan } from '../daemons.ts';

// As in the daemons before anything else is loaded.
preferSmallHeap();
const { asn, parseRouterId } = await import('@bgp-lb/protocol');
const { BgpSpeaker } = await import('@bgp-lb/protocol/node');

/** The module's type, for NamespaceProcess. */
export type OurRange = typeof import('./our-range.ts');

/** Listens; resolves once it does. */
export async function open({ local, asn: number, range, sessions, holdTime }: SessionsPlan): Promise<void> {
  const speaker = new BgpSpeaker({ asn: asn(number), routerId: parseRouterId(local) });
  await speaker.listen({ address: local });
  speaker.addRange({ name: 'range', range, maxSessions: sessions, remoteAsn: [asn(number)], holdTime });
}
