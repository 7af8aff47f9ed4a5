import {
  badFirst,
  lastErrorOf,
  type Reason,
  reasonsTable,
  type SessionErrors,
  type Table,
} from '@bgp-lb/daemon';
import type { NeighborStatus } from '../api/neighbor-status.ts';
import type { RouterStatus, VipStatus } from '../api/router-status.ts';
import { advertisedText, autoText } from '../api/tables.ts';
import type { AutoStatus } from '../auto/data-plane-choice.ts';
import { clientHints } from '../evidence/client-hints.ts';
import { isDoubtful } from '../evidence/client-judge.ts';
import { vrrpReasons } from './vrrp-reasons.ts';

/** The part of a neighbor's status that is explained. */
export type ExplainedNeighbor = Pick<NeighborStatus, 'name' | 'address' | 'role' | 'state' | 'sinceMs'> &
  SessionErrors;

/** The part of the status that is explained. */
export type ExplainedStatus = Pick<
  RouterStatus,
  'vips' | 'memberSources' | 'drain' | 'healthCheck' | 'bfd' | 'dataplane' | 'onLink' | 'vrrp'
>;

/** Why a VIP is as it is on this load balancer. */
export interface Explanation {
  readonly vip: string;
  readonly endpoint: string;
  readonly ready: boolean;
  readonly advertised: string;
  readonly status: string;
  readonly reasons: readonly Reason[];
}

/** Puts the status into sentences for each VIP, the things that keep clients away first. Pure. */
export function explain(
  { vips, memberSources, drain, healthCheck, bfd, dataplane, onLink, vrrp }: ExplainedStatus,
  neighbors: readonly ExplainedNeighbor[],
): readonly Explanation[] {
  const host: Reason[] = [
    reason(
      'health check',
      healthCheck.verified,
      healthCheck.detail,
      'put the cluster CA at healthCheck.caFile',
    ),
    ...dataplane.problems.map((text) =>
      reason(dataplane.kind, false, text, '`bgp-lb-router doctor` looks closer'),
    ),
    ...dataplane.warnings.map((text) => reason(dataplane.kind, true, text, '')),
    ...(dataplane.auto === undefined ? [] : [autoReason(dataplane.auto)]),
    ...bfd.problems.map((text) => reason('BFD', false, text, 'see the log of the router')),
  ];
  return vips.map((vip) => {
    const reasons = [
      gatePool(vip),
      gateInitialHold(vip),
      gatePanic(vip),
      gateForwarding(vip, dataplane),
      ...gateClients(vip),
      ...vrrpReasons(vrrp),
      ...gatesOnLink(vip, onLink),
      gateDrain(drain),
      ...vip.advertisements.map((one) => upstreamReason(one, neighbors)),
      ...vip.members.flatMap((member) => [memberReason(member, dataplane), ...memberGates(member)]),
      ...absentMasters(vip, neighbors),
      ...sourceReasons(vip, memberSources),
      ...host,
    ];
    return {
      vip: vip.vip,
      endpoint: vip.endpoint,
      ready: vip.ready,
      advertised: advertisedText(vip),
      status: vip.status,
      reasons: badFirst(reasons),
    };
  });
}

function reason(
  what: string,
  pass: boolean,
  text: string,
  next: string,
  sinceMs: number | null = null,
): Reason {
  return { what, pass, sinceMs, reason: text, next: pass ? '' : next };
}

function autoReason(auto: AutoStatus): Reason {
  const next = 'it is decided when a member answers; dataplane.kind: kernel or haproxy decides it now';
  return reason('data plane', auto.kind !== null, autoText(auto), next);
}

function gatePool({ members }: VipStatus): Reason {
  const inPool = members.filter((member) => member.inPool);
  const sinceMs = inPool.length === 0 ? null : Math.max(...inPool.map((member) => member.sinceMs));
  if (inPool.length > 0) return reason('gate pool', true, `${inPool.length} in the pool`, '', sinceMs);
  return members.length === 0
    ? reason(
        'gate pool',
        false,
        'no source has a member for it',
        'a speaker announces it when kubeadm has succeeded; a list names it in members.static or its ConfigMap',
      )
    : reason('gate pool', false, 'no member is in the pool', 'see the members');
}

function gateInitialHold({ rules: { initialHold } }: VipStatus): Reason {
  const what = 'gate initial hold';
  if (initialHold === null) return reason(what, true, 'the pool waits for nobody', '');
  const { sinceMs, endsInMs } = initialHold;
  const text = `the pool was empty and has a good member: for ${seconds(endsInMs)} more it waits for the others`;
  return reason(what, false, text, 'it ends by itself, or when all known members are there', sinceMs);
}

function gatePanic({ rules: { panic } }: VipStatus): Reason {
  const what = 'gate panic threshold';
  return panic === null
    ? reason(what, true, 'enough members are good: health counts', '')
    : reason(
        what,
        false,
        'too few members are good: health is overruled, and all that answer are used',
        'as many good members as pool.panicThreshold asks for',
        panic.sinceMs,
      );
}

/**
 * Whether the VIP is answered for where it is an address of a subnet. One that stands by leaves that to another load balancer; a host
 * that is none takes its clients away.
 */
function gatesOnLink({ vip }: VipStatus, onLink: ExplainedStatus['onLink']): Reason[] {
  return onLink
    .filter(({ address }) => address === vip.split('/')[0])
    .map(({ interface: name, phase, owner, isOwnerPeer, problem, sinceMs }) => {
      const isForeign = owner !== null && !isOwnerPeer;
      const has = isForeign ? 'has it, and is no load balancer of this kind' : 'has it';
      const text = owner === null ? phase : `${phase}, ${owner} ${has}`;
      const isGood = !isForeign && (phase === 'answering' || phase === 'standby');
      const search = `take the VIP off that host: \`ip neigh | grep ${owner}\``;
      const next = isForeign ? search : phase === 'probing' ? 'it ends by itself' : '`ip link show`';
      return reason(
        `gate on link ${name}`,
        isGood,
        problem === '' ? text : `${text}: ${problem}`,
        next,
        sinceMs,
      );
    });
}

function gateForwarding(
  { obstacle, ready, readySinceMs, members }: VipStatus,
  { kind, title }: ExplainedStatus['dataplane'],
): Reason {
  const wanted = members.some(({ inPool }) => inPool);
  const text = ready
    ? `${title} forwards it`
    : obstacle !== null
      ? obstacle
      : wanted
        ? `${title} does not forward it`
        : 'nobody to forward it to';
  return reason(
    `gate ${kind}`,
    ready,
    text,
    '`bgp-lb-router fib` shows each next hop, and why it is not used',
    readySinceMs,
  );
}

/** A drained load balancer forwards what still arrives, and draws nothing. */
function gateDrain({ phase, sinceMs }: ExplainedStatus['drain']): Reason {
  const what = 'gate drain';
  if (phase === 'none') return reason(what, true, 'this load balancer is not drained', '');
  const text =
    phase === 'leaving'
      ? 'this load balancer is drained: upstreams are asked to prefer others'
      : 'this load balancer is drained: the VIPs are withdrawn';
  return reason(what, false, text, '`bgp-lb-router undrain`', sinceMs);
}

function upstreamReason(
  { upstream, advertised, reason: why }: VipStatus['advertisements'][number],
  neighbors: readonly ExplainedNeighbor[],
): Reason {
  const what = `upstream ${upstream}`;
  const neighbor = neighbors.find(({ name }) => name === upstream);
  const sinceMs = neighbor?.sinceMs ?? null;
  if (advertised) return reason(what, true, 'BGP session Established, the VIP is advertised', '', sinceMs);
  if (neighbor === undefined || neighbor.state === 'Established') {
    return reason(what, false, `the VIP is not advertised: ${why}`, 'what keeps it from being advertised');
  }
  const last = lastErrorOf(neighbor)?.text ?? 'never established';
  return reason(
    what,
    false,
    `the VIP is not advertised: BGP session ${neighbor.state}: ${last}`,
    '`bgp-lb-router doctor` looks closer',
    sinceMs,
  );
}

/** What brings a member back, by its state. */
const hints: Readonly<Record<VipStatus['members'][number]['state'], string>> = {
  active: '',
  'last-resort': 'its /readyz is red: `bgp-lb-speaker explain` on that master',
  draining: 'it is drained: `bgp-lb-speaker undrain` on that master, or the restart of its API server',
  stale: 'its speaker has to come back: see the static pod on that master',
  out: '`bgp-lb-speaker explain` on that master, and the health check from here: the reason',
};

/** The same of one that a list names, and that has no speaker. */
const listedHints: Readonly<Record<VipStatus['members'][number]['state'], string>> = {
  active: '',
  'last-resort': 'its /readyz is red: its API server',
  draining: 'its list says that it drains',
  stale: 'its API server',
  out: 'whether its API server answers there: the health check from here says the reason',
};

const OUT_BY_VIP =
  'whether that host has the VIP on an interface and answers on its port: the health check from here says the reason';

function memberReason(
  member: VipStatus['members'][number],
  { destination }: ExplainedStatus['dataplane'],
): Reason {
  const isUsed = member.forwardingProblem === '';
  const isGood = member.inPool && member.state === 'active' && isUsed;
  const bfd = member.bfd === 'off' ? '' : `, BFD ${member.bfd}`;
  const facts = `${member.state}, weight ${member.weight}, session ${member.session}${bfd}, health ${member.health}`;
  const text = member.reason === '' ? facts : `${facts}: ${member.reason}`;
  const hint = hintOf(member, destination);
  const next = member.drainedHere ? `\`bgp-lb-router undrain ${member.name}\`` : hint;
  return reason(`member ${member.name}`, isGood, text, next, member.sinceMs);
}

function hintOf(
  { session, state, inPool, forwardingProblem }: VipStatus['members'][number],
  destination: ExplainedStatus['dataplane']['destination'],
): string {
  if (inPool && forwardingProblem !== '') return '`bgp-lb-router fib` shows it, and why it is not used';
  if (session !== 'none') return hints[state];
  return state === 'out' && destination === 'vip' ? OUT_BY_VIP : listedHints[state];
}

/** The lists that the members of a VIP come from, and what sources say of each member. */
function sourceReasons({ vip, members }: VipStatus, sources: ExplainedStatus['memberSources']): Reason[] {
  const own = sources.filter(({ vips }) => vips.includes(vip.split('/')[0] ?? vip));
  if (own.length === 0) return [];
  const lists = own.map(({ kind, name, members: count, detail, problem, ignored }) => {
    const text = `${count} members, ${detail}${ignored === '' ? '' : `; ${ignored}`}`;
    const isGood = problem === '';
    return reason(
      `members of ${kind} ${name}`,
      isGood,
      isGood ? text : `${text}; it may be old: ${problem}`,
      kind === 'static' ? 'the name in DNS or /etc/hosts' : 'the ConfigMap, or the way to the API',
    );
  });
  const said = members.map(({ name, sources: views }) =>
    reason(
      `sources of ${name}`,
      true,
      views
        .map(({ kind, name: list, says }) => `${list === '' ? kind : `${kind} ${list}`}: ${says}`)
        .join('; '),
      '',
    ),
  );
  return [...lists, ...said];
}

/** What keeps a member from its full share, one by one. */
function memberGates({ name: member, gates, heldBackForMs }: VipStatus['members'][number]): Reason[] {
  return gates
    .filter(({ pass }) => !pass)
    .map(({ name, detail, sinceMs }) => {
      const isHeldBack = name === 'flap back-off' && heldBackForMs !== null;
      const text = isHeldBack ? `${detail}, for ${seconds(heldBackForMs)} more` : detail;
      return reason(`member ${member}: ${name}`, false, text, gateHints[name], sinceMs);
    });
}

/** What clients' own packets say. */
function gateClients({ clients }: VipStatus): Reason[] {
  if (clients === null) return [];
  const { cause, text } = clients;
  return [reason('gate clients', !isDoubtful(cause), text, clientHints[cause])];
}

/** What opens a gate of a member. */
const gateHints: Readonly<Record<VipStatus['members'][number]['gates'][number]['name'], string>> = {
  session: '`bgp-lb-router neighbors` says why it is down',
  announcement: '`bgp-lb-speaker explain` on that master',
  link: 'the cable, or the interface towards it',
  BFD: '`bgp-lb-router neighbors NAME`: BFD, which `strict` asks for',
  cluster: 'the CA of that master, or pool.identities here',
  'health check': 'what answers the health check there',
  clients: clientHints.member,
  operator: '`bgp-lb-router undrain`',
  'flap back-off': 'it ends by itself if the member stays good; pool.flapHold',
  'initial hold': 'it ends by itself, or when all known members are there; pool.initialHold',
};

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** Masters whose speaker is there and has not announced the VIP: a bootstrap that goes on, or one that failed. */
function absentMasters({ members }: VipStatus, neighbors: readonly ExplainedNeighbor[]): Reason[] {
  const known = new Set(members.map(({ nextHop }) => nextHop));
  return neighbors
    .filter(({ role, address, state }) => role === 'master' && state === 'Established' && !known.has(address))
    .map(({ address, sinceMs }) =>
      reason(
        `master ${address}`,
        false,
        'its speaker is here and announces nothing',
        '`bgp-lb-speaker explain` on that master says what it waits for',
        sinceMs,
      ),
    );
}

/** The explanation for people. */
export function explanationTables(explanations: readonly Explanation[]): readonly Table[] {
  return explanations.flatMap(({ vip, endpoint, ready, advertised, status, reasons }) => [
    {
      columns: ['VIP', 'ENDPOINT', 'READY', 'ADVERTISED', 'STATUS'],
      rows: [[vip, endpoint, ready, advertised, status]],
    },
    reasonsTable(reasons),
  ]);
}
