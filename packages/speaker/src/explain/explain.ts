import {
  age,
  badFirst,
  lastErrorOf,
  type Reason,
  reasonsTable,
  type SessionErrors,
  type Table,
} from '@bgp-lb/daemon';
import type { SpeakerStatus } from '../status.ts';

/** The part of the status that is explained. */
export type ExplainedStatus = Pick<SpeakerStatus, 'gates' | 'bfd'> & {
  readonly vips: readonly (Omit<SpeakerStatus['vips'][number], 'elsewhere'> & {
    readonly elsewhere?: readonly string[];
  })[];
  readonly drainAnnotation?: SpeakerStatus['drainAnnotation'];
  readonly kernel?: Pick<SpeakerStatus['kernel'], 'wayBack'>;
  readonly routers: readonly (Pick<
    SpeakerStatus['routers'][number],
    'address' | 'session' | 'bfd' | 'sinceMs'
  > &
    SessionErrors)[];
};

/** Why the VIPs are as they are on this master. */
export interface Explanation {
  readonly vips: readonly { readonly vip: string; readonly state: string; readonly reason: string }[];
  readonly reasons: readonly Reason[];
}

/** What opens a gate that is closed. */
const gateHints: Record<SpeakerStatus['gates'][number]['name'], string> = {
  bootstrap:
    'kubeadm has to succeed and its marker to be written after that; on a former member, run `bgp-lb-speaker prepare` before kubeadm',
  readyz: 'the API server of this machine has to answer /readyz with 200',
  vip: 'a TLS connection to the VIP on this machine has to reach its API server, with a certificate for the VIP',
  drain:
    'the drain is ended by `bgp-lb-speaker undrain`, or by whatever began it; an API server that stops, by its restart',
};

/** Puts the status into sentences, the things that keep clients away first. Pure. */
export function explain({ vips, gates, routers, drainAnnotation, kernel }: ExplainedStatus): Explanation {
  const reasons = [
    ...vips.flatMap(elsewhereReasons),
    ...vips.flatMap(advertisedReasons),
    ...gates.map(
      ({ name, pass, detail, sinceMs }): Reason => ({
        what: `gate ${name}`,
        pass,
        sinceMs,
        reason: detail,
        next: pass ? '' : gateHints[name],
      }),
    ),
    ...routers.map(routerReason),
    ...(kernel?.wayBack ?? []).map(wayBackReason),
    ...(drainAnnotation === null || drainAnnotation === undefined ? [] : [annotationReason(drainAnnotation)]),
  ];
  return {
    vips: vips.map(({ vip, state, reason }) => ({ vip, state, reason })),
    reasons: badFirst(reasons),
  };
}

/** What keeps answers from clients, or would. */
function wayBackReason({ level, place, value, fix }: SpeakerStatus['kernel']['wayBack'][number]): Reason {
  const pass = level !== 'fault';
  return { what: `way back: ${place}`, pass, sinceMs: null, reason: value, next: fix };
}

/** A VIP that is to be advertised, and which routers have it. */
function advertisedReasons({
  vip,
  advertisement,
  advertisedTo,
}: ExplainedStatus['vips'][number]): readonly Reason[] {
  if (advertisement === 'none') return [];
  const isTold = advertisedTo.length > 0;
  const reason = isTold ? `advertised to ${advertisedTo.join(', ')}` : 'no router has it';
  return [
    {
      what: `VIP ${vip}`,
      pass: isTold,
      sinceMs: null,
      reason,
      next: isTold ? '' : 'a session with a router',
    },
  ];
}

function elsewhereReasons({ vip, elsewhere = [] }: ExplainedStatus['vips'][number]): readonly Reason[] {
  return elsewhere.map((link) => ({
    what: `${vip} on ${link}`,
    pass: false,
    sinceMs: null,
    reason:
      'somebody else put it there, and this host answers ARP for it: clients of its subnet pass the load balancers by',
    next: 'stop kube-vip, keepalived or whatever has it, and remove the address',
  }));
}

function routerReason(router: ExplainedStatus['routers'][number]): Reason {
  const { address, session, bfd, sinceMs } = router;
  const what = `router ${address}`;
  if (session === 'Established') {
    const bfdText = bfd === 'off' ? '' : `, BFD ${bfd}`;
    return { what, pass: true, sinceMs, reason: `BGP session Established${bfdText}`, next: '' };
  }
  return {
    what,
    pass: false,
    sinceMs,
    reason: `BGP session ${session}: ${lastErrorOf(router)?.text ?? 'never established'}`,
    next: '`bgp-lb-speaker doctor` says why the router cannot be reached',
  };
}

function annotationReason({
  node,
  wish,
  succeededMs,
  error,
}: NonNullable<SpeakerStatus['drainAnnotation']>): Reason {
  const heard = succeededMs === null ? 'nothing was heard' : `last heard ${age(succeededMs)} ago`;
  return {
    what: `drain annotation of ${node}`,
    pass: error === null,
    sinceMs: null,
    reason: `${wish}, ${heard}${error === null ? '' : `: ${error}`}`,
    next:
      error === null
        ? ''
        : 'the last known answer holds; check the kubeconfig of `drain.annotation`, its rights (`bgp-lb-speaker manifest --rbac`) and the name of the Node',
  };
}

/** The explanation for people. */
export function explanationTables({ vips, reasons }: Explanation): readonly Table[] {
  return [
    {
      columns: ['VIP', 'STATE', 'REASON'],
      rows: vips.map(({ vip, state, reason }) => [vip, state, reason]),
    },
    reasonsTable(reasons),
  ];
}
