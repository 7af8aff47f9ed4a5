/** Our BgpSpeaker with a range of peers that may connect. Runs in a namespace. */
import { asn, parseRouterId } from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';
import type { SessionsPlan } from '../daemons.ts';

/** The module's type, for NamespaceProcess. */
export type OurRange = typeof import('./our-range.ts');

/** Listens; resolves once it does. */
export async function open({ local, asn: number, range, sessions, holdTime }: SessionsPlan): Promise<void> {
  const speaker = new BgpSpeaker({ asn: asn(number), routerId: parseRouterId(local) });
  await speaker.listen({ address: local });
  speaker.addRange({ name: 'range', range, maxSessions: sessions, remoteAsn: [asn(number)], holdTime });
}
