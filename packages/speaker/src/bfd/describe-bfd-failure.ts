import type { BfdFailureClass } from '@bgp-lb/protocol';

const consequences: Readonly<Record<BfdFailureClass, string>> = {
  failure: 'the BGP session is ended',
  'no-failure': '',
  'no-session': 'there is no BGP session',
  restarted: "the router's BFD began anew; the BGP session stays",
  'earlier-process': 'the silence began before the BGP session, which stays',
};

/** What is done about it, in words; empty when there is nothing to say. */
export function describeBfdFailure(found: BfdFailureClass): string {
  return consequences[found];
}
