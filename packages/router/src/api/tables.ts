import { age, droppedSignatures, type LoggedEvent, lastErrorText, type Table } from '@bgp-lb/daemon';
import type { AutoStatus } from '../auto/data-plane-choice.ts';
import type { DataPlaneStatus } from '../dataplane/data-plane.ts';
import type { NeighborStatus, RouterRoutes } from './neighbor-status.ts';
import { type RouterStatus, withheldText } from './router-status.ts';
import { sourceTables } from './source-tables.ts';
import { vrrpTables } from './vrrp-tables.ts';

/** What `dataplane.kind: auto` has come to. */
export function autoText({ kind, reason }: AutoStatus): string {
  return kind === null
    ? `the data plane is not decided yet, and no client is served: ${reason}`
    : `the data plane is ${kind} by dataplane.kind auto: ${reason}`;
}

/** `status` for people: the VIPs, their members, and what is to be known about the host. */
export function statusTables(status: RouterStatus): Table[] {
  const { vips, drain, healthCheck, bfd, dataplane, md5, onLink } = status;
  const notes = [
    ...drainNotes(drain),
    ...(healthCheck.verified ? [] : [healthCheck.detail]),
    ...dataplane.problems,
    ...(dataplane.auto === undefined ? [] : [autoText(dataplane.auto)]),
    ...bfd.problems.map((problem) => `BFD does not receive: ${problem}`),
    ...(bfd.scheduling === null || bfd.scheduling.startsWith('SCHED_FIFO')
      ? []
      : [`the BFD thread is not scheduled first, and may raise false alarms: ${bfd.scheduling}`]),
    ...signatureNotes(md5),
  ];
  return [
    {
      columns: ['VIP', 'ENDPOINT', 'READY', 'ADVERTISED', 'STATUS'],
      rows: vips.map((vip) => [vip.vip, vip.endpoint, vip.ready, advertisedText(vip), vip.status]),
    },
    {
      columns: ['VIP', 'MEMBER', 'STATE', 'WEIGHT', 'SESSION', 'BFD', 'HEALTH', 'FOR', 'REASON'],
      rows: vips.flatMap(({ vip, members }) =>
        members.map((member) => [
          vip,
          member.name,
          member.state,
          member.weight,
          member.session,
          member.bfd,
          member.health,
          age(member.sinceMs),
          member.reason,
        ]),
      ),
      empty: 'no members yet',
    },
    ...sourceTables(status),
    ...vrrpTables(status.vrrp),
    ...(onLink.length === 0
      ? []
      : [
          {
            columns: ['VIP', 'INTERFACE', 'ANSWERS', 'OTHER OWNER', 'PROBLEM'],
            rows: onLink.map(({ address, interface: name, phase, owner, isOwnerPeer, problem }) => [
              address,
              name,
              phase,
              owner === null || isOwnerPeer ? (owner ?? '') : `${owner}, no load balancer`,
              problem,
            ]),
          },
        ]),
    ...(notes.length === 0 ? [] : [{ columns: ['NOTE'], rows: notes.map((note) => [note]) }]),
  ];
}

/** `to tor-1, tor-2`, or why no upstream has it; empty without upstreams. */
export function advertisedText({ advertisements }: RouterStatus['vips'][number]): string {
  const told = advertisements.filter(({ advertised }) => advertised).map(({ upstream }) => upstream);
  if (told.length > 0) return `to ${told.join(', ')}`;
  return advertisements.length === 0 ? '' : `no: ${withheldText(advertisements)}`;
}

function drainNotes({ phase, sinceMs }: RouterStatus['drain']): string[] {
  if (phase === 'none') return [];
  const what = phase === 'leaving' ? 'upstreams are asked to prefer others' : 'the VIPs are withdrawn';
  return [
    `this load balancer is drained for ${age(sinceMs ?? 0)}: ${what}; \`bgp-lb-router undrain\` ends it`,
  ];
}

function signatureNotes(md5: RouterStatus['md5']): string[] {
  return (md5 === null ? [] : droppedSignatures(md5)).map(
    ({ count, what, cause }) => `TCP-MD5: this host has dropped ${count} segments ${what}: ${cause}`,
  );
}

/** `neighbors` for people. */
export function neighborsTable(neighbors: readonly NeighborStatus[]): Table {
  return {
    columns: [
      'NAME',
      'NEIGHBOR',
      'ROLE',
      'AS',
      'STATE',
      'FOR',
      'BFD',
      'RECEIVED',
      'REJECTED',
      'ADVERTISED',
      'LAST ERROR',
    ],
    rows: neighbors.map((one) => [
      one.name,
      one.neighbor,
      one.role,
      one.remoteAsn,
      one.state,
      age(one.sinceMs),
      one.bfd?.state ?? 'off',
      one.prefixes.received,
      one.prefixes.rejected,
      one.prefixes.advertised,
      lastErrorText(one),
    ]),
    empty: 'no neighbors: none is configured by address, and nobody has connected from a range',
  };
}

/** `neighbors NAME` for people: everything, one line each. */
export function neighborTables(one: NeighborStatus): Table[] {
  const { received, sent } = one.messages;
  const notification = (last: NeighborStatus['lastNotificationSent']): string =>
    last === null ? '' : `${last.text} (${age(last.agoMs)} ago)`;
  const facts: [string, string | number | boolean | null][] = [
    ['name', one.name],
    ['neighbor', `${one.neighbor} (${one.role})`],
    ['state', `${one.state} for ${age(one.sinceMs)}`],
    ['remote AS', one.remoteAsn],
    ['remote router id', one.remoteRouterId],
    ['local address', one.localAddress],
    ['remote address', one.remoteAddress],
    ['hold time, keepalive', one.holdTime === null ? '' : `${one.holdTime} s, ${one.keepaliveTime} s`],
    ['timers, until they expire', timersText(one.timers)],
    ['sessions established', one.establishedCount],
    ['failed attempts since', one.failedAttempts],
    ['last error', lastErrorText(one)],
    ...bfdFacts(one.bfd),
    ['capabilities sent', one.capabilities.local.join('; ')],
    ['capabilities received', one.capabilities.remote.join('; ')],
    ['paths received', one.prefixes.received],
    ['of these stale', one.prefixes.stale],
    ['paths rejected', one.prefixes.rejected],
    ['paths advertised', one.prefixes.advertised],
    ['messages received', JSON.stringify(received)],
    ['messages sent', JSON.stringify(sent)],
    ['last notification sent', notification(one.lastNotificationSent)],
    ['last notification received', notification(one.lastNotificationReceived)],
    ['last down', one.lastDown === null ? '' : `${one.lastDown.text} (${age(one.lastDown.agoMs)} ago)`],
  ];
  return [
    { columns: ['KEY', 'VALUE'], rows: facts },
    {
      columns: ['AGO', 'BY', 'FROM', 'TO', 'REASON'],
      rows: one.transitions.map(({ agoMs, role, from, to, reason }) => [age(agoMs), role, from, to, reason]),
      empty: 'no transitions yet',
    },
    {
      columns: ['REJECTED PREFIX', 'REASON'],
      rows: one.rejectedPaths.map(({ prefix, reason }) => [prefix, reason]),
      empty: 'no path was rejected',
    },
  ];
}

function timersText(timers: NeighborStatus['timers']): string {
  return Object.entries(timers)
    .map(([name, ms]) => `${name} ${(ms / 1000).toFixed(1)} s`)
    .join(', ');
}

function bfdFacts(bfd: NeighborStatus['bfd']): [string, string | number][] {
  if (bfd === null) {
    return [['BFD', 'off']];
  }
  const { transmitInterval, detectionTime, remoteState, remoteDiagnostic } = bfd;
  return [
    ['BFD', `${bfd.state} for ${age(bfd.sinceMs)} (${bfd.diagnostic})${bfd.multihop ? ', multihop' : ''}`],
    ['BFD of the neighbor', remoteState === null ? 'silent' : `${remoteState} (${remoteDiagnostic})`],
    [
      'BFD interval, Detection Time',
      `${transmitInterval} ms, ${detectionTime === null ? 'none yet' : `${detectionTime} ms`}`,
    ],
    ['BFD authentication', bfd.authentication],
    ['BFD packets', JSON.stringify(bfd.counters)],
    ...(bfd.sendError === null ? [] : [['BFD send error', bfd.sendError] satisfies [string, string]]),
  ];
}

/** `routes` for people: what is accepted and what became of it, what is refused and why, what neighbors have. */
export function routesTables({ received, rejected, advertised }: RouterRoutes): Table[] {
  return [
    {
      columns: [
        'PREFIX',
        'FROM',
        'NEXT HOP',
        'SELECTION',
        'LOCAL_PREF',
        'AS PATH',
        'ORIGINATOR',
        'CLUSTERS',
        'COMMUNITIES',
        'STALE',
        'AGE',
      ],
      rows: received.map((path) => [
        path.prefix,
        path.neighbor,
        path.nextHop,
        path.selection,
        path.localPref,
        path.asPath,
        path.originatorId,
        path.clusterList.join(' '),
        [...path.communities, ...path.largeCommunities].join(' '),
        path.stale,
        age(path.ageMs),
      ]),
      empty: 'no path is accepted',
    },
    {
      columns: ['REJECTED', 'FROM', 'REASON'],
      rows: rejected.map(({ prefix, neighbor, reason }) => [prefix, neighbor, reason]),
      empty: 'no path was rejected',
    },
    {
      columns: ['ADVERTISED', 'TO', 'NEXT HOP', 'PATH ID'],
      rows: advertised.map(({ prefix, neighbor, nextHop, pathId }) => [prefix, neighbor, nextHop, pathId]),
      empty: 'nothing is advertised',
    },
  ];
}

/** `fib` for people: what the data plane does, with each member's share, in the words of that data plane. */
export function fibTables({ vips, problems }: DataPlaneStatus): Table[] {
  const details = keysOf(vips.map(({ detail }) => detail));
  const forwarding: Table = {
    columns: ['VIP', 'FORWARDING', ...details.map(heading)],
    rows: vips.map(({ vip, forwarding: isForwarding, detail }) => [
      vip,
      isForwarding,
      ...details.map((key) => detail[key]),
    ]),
  };
  const members = vips.flatMap((one) => one.members.map((member) => ({ vip: one.vip, member })));
  const known = (['interfaceName', 'buckets', 'packets'] as const).filter((key) =>
    members.some(({ member }) => member[key] !== undefined),
  );
  const own = keysOf(members.map(({ member }) => member.detail ?? {}));
  const names = { interfaceName: 'INTERFACE', buckets: 'BUCKETS', packets: 'PACKETS' } as const;
  const shares: Table = {
    columns: [
      ...['VIP', 'NEXT HOP', 'WEIGHT', 'SHARE'],
      ...known.map((key) => names[key]),
      ...own.map(heading),
      'PROBLEM',
    ],
    rows: members.map(({ vip, member }) => [
      vip,
      member.nextHop,
      member.weight,
      `${(member.share * 100).toFixed(1)}%`,
      ...known.map((key) => member[key]),
      ...own.map((key) => member.detail?.[key]),
      member.problem,
    ]),
    empty: 'no next hops: new connections to the VIPs are refused',
  };
  const trouble: Table = { columns: ['PROBLEM'], rows: problems.map((problem) => [problem]) };
  return problems.length === 0 ? [forwarding, shares] : [forwarding, shares, trouble];
}

function keysOf(details: readonly Readonly<Record<string, unknown>>[]): string[] {
  return [...new Set(details.flatMap((detail) => Object.keys(detail)))];
}

/** `groupId` as `GROUP ID` */
function heading(key: string): string {
  return key.replace(/(?=[A-Z])/g, ' ').toUpperCase();
}

/** One event in one line. */
export function eventLine(event: LoggedEvent): string {
  return `${event.time} ${event.type} ${eventText(event)}`;
}

/** The fields of an event, `member="10.0.0.11" to="out"`. */
export function eventText({
  time: _,
  type: __,
  sequence: ___,
  monotonicMs: ____,
  ...fields
}: LoggedEvent): string {
  return Object.entries(fields)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(' ');
}
