/** Our BgpSpeaker with reflection between clients that may connect. Runs in a namespace. */
import { asn, parseRouterId } from '@bgp-lb/protocol';
import { BgpSpeaker, Reflection } from '@bgp-lb/protocol/node';
import type { ReflectPlan } from '../daemons.ts';

/** The module's type, for NamespaceProcess. */
export type OurReflector = typeof import('./our-reflector.ts');

/** Listens; resolves once it does. */
export async function open({ local, asn: number, clients, holdTime }: ReflectPlan): Promise<void> {
  const clusterId = parseRouterId(local);
  const speaker: BgpSpeaker = new BgpSpeaker({
    asn: asn(number),
    routerId: parseRouterId(local),
    clusterId,
    handlers: {
      established: (peer, negotiated) => reflection.established(peer, negotiated),
      down: (peer) => reflection.down(peer),
      routes: (peer, change) => reflection.routes(peer, change),
    },
  });
  const reflection = new Reflection({
    speaker,
    clusterId,
    roleOf: () => ({ isClient: true, isTold: true }),
  });
  await speaker.listen({ address: local });
  for (const address of clients) {
    speaker.addPeer({ name: address, address, passive: true, remoteAsn: [asn(number)], holdTime });
  }
}
