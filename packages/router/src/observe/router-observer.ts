import {
  type EventLog,
  LineLimiter,
  type LineLimits,
  type Logger,
  type SuppressedLines,
  suppressedText,
} from '@bgp-lb/daemon';
import { formatPrefix, hostPrefix, type RouteChange } from '@bgp-lb/protocol';
import {
  type BfdScheduling,
  type BfdStateChange,
  type Clock,
  type PeerEvent,
  schedulingText,
} from '@bgp-lb/protocol/node';
import type { DataPlaneChoice } from '../auto/data-plane-choice.ts';
import { type BfdFailure, describeBfdChange } from '../bfd/bfd-failure.ts';
import type { DrainPhase } from '../drain/host-drain.ts';
import type { MemberDrainOrder } from '../drain/member-drains.ts';
import { isDoubtful, type VipEvidence } from '../evidence/client-judge.ts';
import type { ClientNews } from '../evidence/client-watch.ts';
import type { ProbeReport } from '../health/member-probe.ts';
import { rejectionClass } from '../membership/import-policy.ts';
import type { SourceEvent } from '../membership/source-status.ts';
import type { OnLinkChange } from '../on-link/on-link-responder.ts';
import type { Transition } from '../pool/member-view.ts';
import type { Rebalance } from '../rebalance/rebalancer.ts';
import type { ReloadChanges } from '../reload/reload-changes.ts';
import type { VrrpChange } from '../vrrp/vrrp-status.ts';
import { peerEventText } from './peer-event-text.ts';
import type { RouterMetrics } from './router-metrics.ts';

/**
 * Lines of one kind within a minute, which are events too; the others are only counted. What a neighbor can cause is bounded for each,
 * what a stranger can cause in all as well: it has as many addresses as it likes.
 */
const LIMITS = {
  stranger: { perSubject: 10, perKind: 60 },
  neighbor: { perSubject: 10, perKind: 600 },
  /** Transitions of one member of one VIP, and those of one BFD session. */
  member: { perSubject: 60, perKind: 1200 },
  dataPlane: { perSubject: 10, perKind: 10 },
  warning: { perSubject: 1, perKind: 60 },
  other: { perSubject: 60, perKind: 60 },
} as const satisfies Readonly<Record<string, LineLimits>>;

type Level = 'debug' | 'info' | 'warn' | 'error';

/** What a line is about, and how many such lines are written. */
interface Bound {
  readonly subject: string;
  readonly limits: LineLimits;
}

const unbound: Bound = { subject: '', limits: LIMITS.other };

/** A neighbor as it is named in logs. */
export interface NamedNeighbor {
  /** Name of the peer: for members of a range, its address. */
  readonly peer: string;
  /** Name of the neighbor in the configuration. */
  readonly neighbor: string;
  readonly role: string;
}

/** Writes what happens once: one log line, one event, and the counters. */
export class RouterObserver {
  #logger: Logger;
  #events: EventLog;
  #metrics: RouterMetrics;
  #limiter: LineLimiter;

  constructor(options: {
    readonly logger: Logger;
    readonly events: EventLog;
    readonly metrics: RouterMetrics;
    readonly clock: Pick<Clock, 'now' | 'after'>;
  }) {
    this.#logger = options.logger;
    this.#events = options.events;
    this.#metrics = options.metrics;
    this.#limiter = new LineLimiter({
      clock: options.clock,
      suppressed: (lines) => this.#suppressed(lines),
    });
  }

  /** Says what was not written yet; no timer is left. */
  close(): void {
    this.#limiter.close();
  }

  transition(vip: string, transition: Transition): void {
    const { member, from, to, weight, reason, heldFor } = transition;
    if (heldFor !== undefined) {
      this.#metrics.heldBack.inc({ vip });
      const held = `${vip}: ${member} ${to}: ${reason}`;
      this.#record('info', 'member-held-back', { vip, ...transition }, held, ofMember(vip, member));
      return;
    }
    this.#metrics.transitions.inc({ vip, from, to });
    const because = reason === '' ? '' : `: ${reason}`;
    const change = from === to ? `weight ${weight}` : `${from} -> ${to}`;
    const text = `${vip}: ${member} ${change}${because}`;
    this.#record('info', 'member-transition', { vip, ...transition }, text, ofMember(vip, member));
  }

  /** One line when a rebalance begins, and one when it has ended. */
  rebalanced(rebalance: Rebalance): void {
    const { vip, member, state, moved, busy, missing, reason } = rebalance;
    const did = `${moved} buckets moved, ${busy} of them busy, ${missing} missing`;
    const text = state === 'running' ? 'begun' : `${state}: ${did}${reason === '' ? '' : `: ${reason}`}`;
    this.#record('info', 'rebalance', rebalance, `${vip}: rebalance towards ${member} ${text}`);
  }

  forwarding(vip: string, nextHops: readonly string[]): void {
    const text = nextHops.length === 0 ? 'to nobody: unreachable' : `to ${nextHops.join(', ')}`;
    const level = nextHops.length === 0 ? 'warn' : 'info';
    const bound = { subject: vip, limits: LIMITS.member };
    this.#record(level, 'vip-forwarding', { vip, nextHops }, `${vip}: forwarded ${text}`, bound);
  }

  /** The data plane's own check of a member says otherwise than the router's, or no more. */
  dissent(vip: string, member: string, dissent: string | undefined): void {
    const text = `${vip}: ${member}: ${dissent ?? 'the checks agree again'}`;
    const level = dissent === undefined ? 'info' : 'warn';
    this.#record(
      level,
      'checks-differ',
      { vip, member, dissent: dissent ?? null },
      text,
      ofMember(vip, member),
    );
  }

  /** Something of others keeps all clients of a VIP from its members, or does no more. */
  obstacle(vip: string, obstacle: string | undefined): void {
    const text =
      obstacle === undefined ? 'nothing is in the way of clients any more' : `not ready: ${obstacle}`;
    const bound = { subject: vip, limits: LIMITS.member };
    const level = obstacle === undefined ? 'info' : 'warn';
    this.#record(level, 'vip-obstacle', { vip, obstacle: obstacle ?? null }, `${vip}: ${text}`, bound);
  }

  /** What becomes of the clients of a VIP, as their own packets say. */
  clients(vip: string, { cause, text, ...numbers }: VipEvidence): void {
    const level = isDoubtful(cause) ? 'warn' : 'info';
    const fields = { vip, cause, reason: text, ...numbers };
    const bound = { subject: vip, limits: LIMITS.member };
    this.#record(level, 'client-evidence', fields, `${vip}: clients ${cause}: ${text}`, bound);
  }

  /** What clients have sent since the last look. */
  clientPackets(vip: string, news: ClientNews): void {
    this.#metrics.clients.counted(vip, news);
  }

  reloaded(changes: ReloadChanges): void {
    this.#metrics.reloads.inc({ result: 'taken' });
    this.#metrics.lastReload.successful.set(1);
    this.#metrics.lastReload.successTimestamp.setToCurrentTime();
    const { vips, ...others } = changes;
    void this.#metrics.forget({ vips: vips.removed.map(hostPrefix), neighbors: changes.removed });
    const lists = [
      ...Object.entries(others),
      ...Object.entries(vips).map(([what, of]) => [`VIPs ${what}`, of] as const),
    ];
    const parts = lists.flatMap(([what, names]: readonly [string, readonly string[]]) =>
      names.length === 0 ? [] : [`${what} ${names.join(', ')}`],
    );
    const text = parts.length === 0 ? 'nothing has changed' : parts.join('; ');
    this.#record('info', 'reloaded', { ...changes }, `configuration reloaded: ${text}`);
  }

  drain(phase: DrainPhase): void {
    const texts = {
      none: 'serves again',
      leaving: 'leaves: upstreams are asked to prefer others',
      withdrawn: 'has left: the VIPs are withdrawn, what still comes is forwarded',
    };
    this.#record('info', 'host-drain', { phase }, `this load balancer ${texts[phase]}`);
  }

  memberDrain(member: string, order: MemberDrainOrder | undefined): void {
    const how = order?.force === true ? ', forced' : '';
    const text =
      order === undefined
        ? 'is drained here no more'
        : `is drained here: live connections have ${order.wait / 1000} s${how}`;
    this.#record(
      'info',
      'member-drain',
      { ...order, member, drained: order !== undefined },
      `${member} ${text}`,
    );
  }

  reloadRefused(error: string): void {
    this.#metrics.reloads.inc({ result: 'refused' });
    this.#metrics.lastReload.successful.set(0);
    this.#record('error', 'reload-refused', { error }, `the old configuration stays: ${error}`);
  }

  reloadIncomplete(error: string): void {
    this.#metrics.reloads.inc({ result: 'incomplete' });
    this.#metrics.lastReload.successful.set(0);
    this.#record('error', 'reload-incomplete', { error }, error);
  }

  onLink({ address, interface: name, from, phase, owner, isOwnerPeer, problem }: OnLinkChange): void {
    const fields = { vip: address, interface: name, from, to: phase, owner, isOwnerPeer };
    const isForeign = owner !== null && !isOwnerPeer;
    const what = isForeign ? ', and is no load balancer of this kind' : '';
    const who = owner === null ? '' : `: ${owner} says that it has it${what}`;
    const isContested = phase === 'answering' && owner !== null;
    this.#record(
      isContested || isForeign || phase === 'absent' ? 'warn' : 'info',
      'on-link',
      problem === '' ? fields : { ...fields, problem },
      `${address} on ${name}: ${phase}${problem === '' ? who : `: ${problem}`}`,
      // Any host on the link can claim a VIP as often as it likes: nothing of the others may be lost by that.
      { subject: `${address} ${name}`, limits: LIMITS.member },
    );
  }

  /** keepalived has given this host the VIPs, or taken them. */
  vrrp({ interface: name, from, to, why }: VrrpChange): void {
    this.#metrics.vrrpTransitions.inc({ to });
    const text = `VRRP on ${name}: ${from} -> ${to}: ${why}`;
    this.#record(
      to === 'fault' || to === 'stop' ? 'warn' : 'info',
      'vrrp',
      { interface: name, from, to, why },
      text,
    );
  }

  neighbor(who: NamedNeighbor | undefined, event: PeerEvent): void {
    if (who === undefined) {
      if (event.type === 'connection-refused') {
        const { address, reason } = event;
        const text = `BGP connection of ${address}: ${reason}`;
        const bound = { subject: address, limits: LIMITS.stranger };
        this.#record('warn', 'connection-refused', { address, reason }, text, bound);
      }
      return;
    }
    if (event.type === 'transition' && event.to !== 'Established' && event.from !== 'Established') {
      this.#logger.debug({ ...who, ...event }, `${who.peer}: ${event.from} -> ${event.to}`);
      return;
    }
    this.#countNeighborEvent(who, event);
    const level = event.type === 'forgotten' || event.type === 'paths-kept' ? 'debug' : 'info';
    const { type, ...fields } = event;
    const text = `${who.peer}: ${peerEventText(event)}`;
    this.#record(level, `neighbor-${type}`, { ...who, ...fields }, text, ofNeighbor(who));
  }

  /** One line for each change of a BFD session; `failure` where it is a failure. */
  bfd(who: NamedNeighbor, change: BfdStateChange, failure: BfdFailure | undefined): void {
    const { from, to, reason, isFailure, detectionTime, timerDelay, lastReceivedAt, at } = change;
    this.#metrics.bfd.transitions.inc({ role: who.role, to });
    if (failure !== undefined) {
      this.#metrics.bfd.failures.inc({ role: who.role, died: failure.died });
    }
    const silentFor = lastReceivedAt === undefined ? undefined : Math.round(at - lastReceivedAt);
    const fields = { ...who, from, to, reason, isFailure, detectionTime, timerDelay, silentFor, ...failure };
    const made = { host: 'its host is dead', process: 'its host lives', nothing: 'nothing died' } as const;
    const judged = failure === undefined ? '' : `; ${made[failure.died]}: ${failure.because}`;
    const text = `${who.peer}: BFD ${from} -> ${to}: ${describeBfdChange(change)}${judged}`;
    const level = failure?.died === 'host' ? 'warn' : 'info';
    this.#record(level, 'bfd-state', fields, text, { subject: who.peer, limits: LIMITS.member });
  }

  /** How the BFD thread is scheduled: an ordinary one may be late, which its neighbors take for death. */
  bfdScheduled(scheduling: BfdScheduling): void {
    const level = scheduling.policy === 'fifo' ? 'info' : 'warn';
    const text = `the BFD thread is scheduled as ${schedulingText(scheduling)}`;
    this.#record(level, 'bfd-scheduling', { ...scheduling }, text);
  }

  rejected(who: NamedNeighbor, change: RouteChange): void {
    for (const { prefix, reason } of change.rejected) {
      this.#metrics.rejectedPaths.inc({ neighbor: who.neighbor, reason: rejectionClass(reason) });
      // A neighbor can have a million of them: nothing is put into words that is not written.
      if (this.#limiter.admits('path-rejected', who.peer, LIMITS.neighbor)) {
        const fields = { ...who, prefix: formatPrefix(prefix), reason };
        this.#write(
          'warn',
          'path-rejected',
          fields,
          `${who.peer}: path to ${fields.prefix} refused: ${reason}`,
        );
      }
    }
  }

  probe(vip: string, nextHop: string, { verdict, result, tookMs, detail, warnings }: ProbeReport): void {
    this.#metrics.probes.inc({ vip, result });
    this.#metrics.probeDuration.observe({ vip }, tookMs / 1000);
    const trouble = verdict === undefined ? [`cannot be probed: ${detail}`] : [];
    for (const warning of [...warnings, ...trouble]) {
      const text = `${vip} through ${nextHop}: ${warning}`;
      this.#record('warn', 'problem', { text }, text, { subject: nextHop, limits: LIMITS.warning });
    }
  }

  operation(kind: string, tookMs: number, error: string | undefined): void {
    const { operations, operationDuration } = this.#metrics.dataPlane;
    operations.inc({ operation: kind, result: error === undefined ? 'ok' : 'error' });
    operationDuration.observe({ operation: kind }, tookMs / 1000);
    if (error !== undefined) {
      const bound = { subject: '', limits: LIMITS.dataPlane };
      this.#record('error', 'data-plane-refused', { operation: kind, error }, error, bound);
    }
  }

  /** The data plane is not as wanted, or is again. @param title of it */
  failing(title: string, problem: string | undefined): void {
    const isWell = problem === undefined;
    this.#metrics.dataPlane.asWanted.set(isWell ? 1 : 0);
    const text = isWell ? `${title} is as wanted again` : `${title} is not as wanted: ${problem}`;
    const bound = { subject: '', limits: LIMITS.dataPlane };
    this.#record(isWell ? 'info' : 'error', 'data-plane', { problem: problem ?? null }, text, bound);
  }

  /** What `dataplane.kind: auto` has come to: once when it is decided, and at each start. */
  dataPlaneChosen({ kind, reason, decidedAt }: DataPlaneChoice): void {
    const text = `the data plane is ${kind}, as decided ${decidedAt}: ${reason}`;
    this.#record('info', 'data-plane-chosen', { kind, reason, decidedAt }, text);
  }

  configured(settings: readonly string[]): void {
    this.#record('info', 'host-configured', { settings }, `set ${settings.join(', ')}`);
  }

  repaired(operations: readonly string[]): void {
    this.#metrics.dataPlane.repairs.inc(operations.length);
    this.#record('warn', 'repaired', { operations }, `put right: ${operations.join('; ')}`);
  }

  /** What a list of members says now, or why it says nothing. */
  memberSource({ kind, name, isBad, text }: SourceEvent): void {
    const fields = { kind, name, text };
    const bound = { subject: `${kind} ${name}`, limits: LIMITS.other };
    this.#record(
      isBad ? 'warn' : 'info',
      'member-source',
      fields,
      `members of ${kind} ${name}: ${text}`,
      bound,
    );
  }

  problem(text: string): void {
    this.#record('warn', 'problem', { text }, text);
  }

  #countNeighborEvent(who: NamedNeighbor, event: PeerEvent): void {
    if (event.type === 'transition') {
      this.#metrics.sessionTransitions.inc({
        role: who.role,
        event: event.to === 'Established' ? 'up' : 'down',
      });
    } else if (event.type === 'notification-sent' || event.type === 'notification-received') {
      const direction = event.type === 'notification-sent' ? 'sent' : 'received';
      this.#metrics.notifications.inc({ direction, code: notificationClass(event) });
    }
  }

  #record(level: Level, type: string, fields: object, text: string, bound: Bound = unbound): void {
    if (level === 'debug' || this.#limiter.admits(type, bound.subject, bound.limits)) {
      this.#write(level, type, fields, text);
    }
  }

  #write(level: Level, type: string, fields: object, text: string): void {
    this.#logger[level]({ type, ...fields }, text);
    if (level !== 'debug') this.#events.append(type, fields);
  }

  #suppressed(lines: SuppressedLines): void {
    this.#write('warn', 'suppressed', lines, suppressedText(lines));
  }
}

function ofMember(vip: string, member: string): Bound {
  return { subject: `${vip} ${member}`, limits: LIMITS.member };
}

function ofNeighbor({ peer }: NamedNeighbor): Bound {
  return { subject: peer, limits: LIMITS.neighbor };
}

/** Code and subcode without the text of the peer's operator: a label must not be the peer's to choose. */
function notificationClass({ code, subcode }: { readonly code: number; readonly subcode: number }): string {
  return `${code}/${subcode}`;
}
