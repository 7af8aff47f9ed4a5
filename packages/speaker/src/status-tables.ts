import { age, lastErrorText, type SessionErrors, type Table } from '@bgp-lb/daemon';
import type { SpeakerStatus } from './status.ts';

/** An entry of `routers`, as far as people are shown it. */
type ShownRouter = SessionErrors &
  Pick<
    SpeakerStatus['routers'][number],
    'address' | 'session' | 'bfd' | 'sinceMs' | 'remoteAsn' | 'password'
  >;

/** The part of the status that people are shown. */
export type ShownStatus = Pick<
  SpeakerStatus,
  'vips' | 'gates' | 'bfd' | 'drainAnnotation' | 'otherMasters' | 'kernel'
> & { readonly routers: readonly ShownRouter[] };

/** The status for people: VIPs, gates, routers, and what is to be known about the host. Pure. */
export function statusTables(status: ShownStatus): readonly Table[] {
  const { vips, gates, routers, bfd, drainAnnotation, otherMasters } = status;
  return [
    {
      columns: ['VIP', 'STATE', 'BOUND', 'ADVERTISEMENT', 'ADVERTISED', 'REASON'],
      rows: vips.map(({ vip, state, bound, advertisement, advertisedTo, reason }) => [
        vip,
        state,
        bound,
        advertisement,
        advertisedTo.length === 0 ? 'no' : `to ${advertisedTo.join(', ')}`,
        reason,
      ]),
    },
    ...notes(status),
    {
      columns: ['GATE', 'GOOD', 'FOR', 'DETAIL'],
      rows: gates.map(({ name, pass, sinceMs, detail }) => [name, pass, age(sinceMs), detail]),
    },
    {
      columns: ['ROUTER', 'STATE', 'FOR', 'BFD', 'AS', 'PASSWORD', 'LAST ERROR'],
      rows: routers.map((router) => [
        router.address,
        router.session,
        age(router.sinceMs),
        router.bfd,
        router.remoteAsn,
        router.password,
        lastErrorText(router),
      ]),
      empty: 'no routers: none is configured',
    },
    ...(bfd === null
      ? []
      : [
          {
            columns: ['BFD THREAD', 'SOCKETS'],
            rows: [[bfd.scheduling, bfd.missing.length === 0 ? 'open' : bfd.missing.join('; ')]],
          },
        ]),
    ...(drainAnnotation === null
      ? []
      : [
          {
            columns: ['NODE', 'DRAIN ANNOTATION', 'LAST HEARD', 'ERROR'],
            rows: [
              [
                drainAnnotation.node,
                drainAnnotation.wish,
                drainAnnotation.succeededMs === null ? 'never' : `${age(drainAnnotation.succeededMs)} ago`,
                drainAnnotation.error,
              ],
            ],
          },
        ]),
    ...(otherMasters.length === 0
      ? []
      : [
          {
            columns: ['VIP', 'OTHER MASTER', 'ASKS FOR LESS', 'ROUTERS'],
            rows: otherMasters.map(({ vip, address, asksForLess, routers: by }) => [
              vip,
              address,
              asksForLess,
              by.join(', '),
            ]),
          },
        ]),
  ];
}

/** What of this host's network is not as it should be. */
function notes({ vips, kernel }: ShownStatus): readonly Table[] {
  const troubles = [
    ...(kernel.fault === null ? [] : [kernel.fault]),
    ...vips.flatMap(({ vip, elsewhere }) =>
      elsewhere.length === 0 ? [] : [`${vip} is on ${elsewhere.join(', ')}: another program put it there`],
    ),
    ...(kernel.routesMissing ?? []),
    ...kernel.wayBack.map(({ place, value }) => `way back to clients, ${place}: ${value}`),
  ];
  return troubles.length === 0 ? [] : [{ columns: ['NOTE'], rows: troubles.map((text) => [text]) }];
}
