import { EventLog, LineLimiter, type Logger, type ProbeResult, suppressedText } from '@bgp-lb/daemon';
import { type BfdFailureClass, describeBfdDiagnostic } from '@bgp-lb/protocol';
import {
  type BfdScheduling,
  type BfdStateChange,
  type DownReason,
  type Peer,
  type PeerEvent,
  schedulingText,
  systemClock,
} from '@bgp-lb/protocol/node';
import { describeBfdFailure } from './bfd/describe-bfd-failure.ts';
import type { RouterChanges } from './bgp/advertiser.ts';
import type { VipCheckResult } from './health/vip-check.ts';
import type { ResetReport } from './kernel/client-connections.ts';
import type { VipElsewhere } from './kernel/vips-elsewhere.ts';
import type { Transition } from './lifecycle/lifecycle.ts';
import { type MetricsSource, SpeakerMetrics } from './metrics.ts';
import { prefixText } from './status.ts';

const EVENTS_KEPT = 512;
/** Lines of one kind within a minute: a router whose sessions flap, or another program that fights for the kernel, must not fill a disk. */
const LIMITS = { perSubject: 60, perKind: 300 };

/** Where what happens is written down: log, events and counters, one line each. */
export class Journal {
  readonly events: EventLog = new EventLog({ capacity: EVENTS_KEPT });
  readonly metrics: SpeakerMetrics;
  readonly #logger: Logger;
  readonly #limiter = new LineLimiter({
    clock: systemClock,
    suppressed: (lines) => {
      this.events.append('suppressed', lines);
      this.#logger.warn(lines, suppressedText(lines));
    },
  });

  /** @param version of the speaker */
  constructor(logger: Logger, source: MetricsSource, version: string) {
    this.#logger = logger;
    this.metrics = new SpeakerMetrics(source, version);
  }

  /** Says what was not written yet; no timer is left. */
  close(): void {
    this.#limiter.close();
  }

  vipMoved({ vip, from, to, reason }: Transition): void {
    const prefix = prefixText(vip);
    this.metrics.transitions.inc({ vip: prefix, from, to });
    this.#record(
      'vip-state',
      { vip: prefix, from, to, reason },
      `VIP ${prefix}: ${from} -> ${to}: ${reason}`,
    );
  }

  /** What the connection to a VIP on this host shows now, where it is not what it showed before. */
  vipChecked(vip: string, { check, detail }: VipCheckResult): void {
    const prefix = prefixText(vip);
    this.events.append('vip-checked', { vip: prefix, check, detail });
    const said = { vip: prefix, check };
    if (check === 'passed') this.#logger.info(said, `VIP ${prefix}: ${detail}`);
    else this.#logger.warn(said, `VIP ${prefix}: ${detail}`);
  }

  bootstrapProven(detail: string): void {
    this.#record('bootstrap-proven', { detail }, detail);
  }

  probed({ kind, tookMs }: ProbeResult): void {
    this.metrics.probes.inc({ result: kind });
    this.metrics.probeDuration.observe(tookMs / 1000);
  }

  kernelRepaired(object: string, what: string): void {
    this.metrics.kernelRepairs.inc({ object });
    this.#record('kernel-repaired', { object, what }, `kernel repaired: ${what}`);
  }

  kernelFailed(error: unknown): void {
    this.metrics.kernelFailures.inc();
    if (!this.#admits('kernel-failed')) return;
    this.events.append('kernel-failed', { error: String(error) });
    this.#logger.error({ err: error }, 'the kernel refused a change');
  }

  /** @param why what keeps routes to the VIPs from being there now, one phrase each */
  routesMissing(why: readonly string[]): void {
    this.events.append('routes-missing', { why });
    if (why.length === 0) this.#logger.info('all routes to the VIPs are there');
    else this.#logger.warn({ why }, why.join('; '));
  }

  /** @param found everything that is so now */
  vipsElsewhere(found: readonly VipElsewhere[]): void {
    this.events.append('vips-elsewhere', { found });
    if (found.length === 0) {
      this.#logger.info('no VIP is on a link of this host any more');
      return;
    }
    const places = found.map(({ vip, link }) => `${vip} is on ${link}`).join(', ');
    this.#logger.warn(
      { found },
      `${places}: somebody else (kube-vip, keepalived) put it there, and this host answers ARP for it; it is left alone`,
    );
  }

  reloaded(changes: RouterChanges): void {
    const parts = Object.entries(changes).flatMap(([what, routers]: [string, readonly string[]]) =>
      routers.length === 0 ? [] : [`${what} ${routers.join(', ')}`],
    );
    this.#record(
      'reloaded',
      { ...changes },
      `configuration reloaded: routers: ${parts.length === 0 ? 'no session has changed' : parts.join('; ')}`,
    );
  }

  sessionEstablished({ address }: Peer): void {
    this.#record('session-established', { router: address }, `BGP session with ${address} established`);
  }

  sessionLost({ address }: Peer, { kind, text }: DownReason): void {
    this.metrics.sessionsLost.inc({ router: address, reason: kind });
    this.#record(
      'session-down',
      { router: address, kind, text },
      `BGP session with ${address} down: ${text}`,
    );
  }

  connectionsReset({ vip, count, clients, others }: ResetReport): void {
    const prefix = prefixText(vip);
    this.metrics.connectionsReset.inc({ vip: prefix }, count);
    const named = count === 0 ? '' : ` (${clients.join(', ')})`;
    this.#record(
      'connections-reset',
      { vip: prefix, count, clients, others },
      `VIP ${prefix} leaves: ${count} connections of clients${named} and ${others} of routers and this host were left and have been reset`,
    );
  }

  connectionsUnknown(error: unknown): void {
    this.#logger.warn(
      { err: error },
      'connections to the VIPs cannot be listed or reset: a drain does not end before its time, and who is left is not told',
    );
  }

  bfdChanged(change: BfdStateChange, verdict: BfdFailureClass): void {
    const { id: router, from, to, reason, isFailure } = change;
    this.metrics.bfdTransitions.inc({ router, to });
    if (isFailure) this.metrics.bfdFailures.inc({ router, verdict });
    const said = [bfdCircumstances(change), describeBfdFailure(verdict)].filter((text) => text !== '');
    this.#record(
      'bfd-state',
      { router, from, to, reason, isFailure, verdict },
      `BFD with ${router}: ${from} -> ${to}: ${[reason, ...said].join('; ')}`,
    );
  }

  bfdScheduled(scheduling: BfdScheduling): void {
    const text = schedulingText(scheduling);
    this.#record('bfd-scheduling', { ...scheduling }, `the BFD thread is scheduled as ${text}`);
  }

  bfdFailed(what: string): void {
    if (!this.#admits('bfd-failed')) return;
    this.events.append('bfd-failed', { what });
    this.#logger.error({ what }, `BFD ${what}`);
  }

  routesIgnored(router: string, count: number): void {
    this.metrics.ignoredRoutes.inc({ router }, count);
  }

  peerEvent(peer: Peer | undefined, event: PeerEvent): void {
    const router = peer?.address;
    if (event.type === 'transition')
      this.#logger.debug({ router, ...event }, 'BGP connection changed its state');
    else if (event.type === 'attribute-fault')
      this.#logger.debug({ router, ...event }, 'a received attribute was faulty');
    else if (this.#admits(event.type, router))
      this.#logger.info(
        { router, ...event },
        `BGP with ${router ?? 'an unknown address'}: ${event.type}${detailOf(event)}`,
      );
  }

  /** Whether one more line of a kind may be written. @param subject the router that it is about */
  #admits(kind: string, subject = ''): boolean {
    return this.#limiter.admits(kind, subject, LIMITS);
  }

  #record(type: string, fields: object, message: string): void {
    if (!this.#admits(type, 'router' in fields ? String(fields.router) : '')) return;
    this.events.append(type, fields);
    this.#logger.info(fields, message);
  }
}

/** The figures by which one tells a dead router from a slow host. */
function bfdCircumstances({ reason, at, ...change }: BfdStateChange): string {
  const { lastReceivedAt, detectionTime, timerDelay, remoteDiagnostic } = change;
  if (reason === 'peer-down') return `the router says ${describeBfdDiagnostic(remoteDiagnostic)}`;
  if (reason !== 'detection-expired' || lastReceivedAt === undefined) return '';
  const silence = `nothing heard for ${Math.round(at - lastReceivedAt)} ms`;
  const limit = detectionTime === undefined ? '' : `, the detection time is ${Math.round(detectionTime)} ms`;
  return `${silence}${limit}${timerDelay >= 20 ? `, our timer was ${Math.round(timerDelay)} ms late` : ''}`;
}

/** What the event says in words, where it does. */
function detailOf(event: PeerEvent): string {
  if ('text' in event) return `: ${event.text}`;
  return 'reason' in event ? `: ${event.reason}` : '';
}
