import type { Table } from '@bgp-lb/daemon';
import type { ConnectedClient, ResetReport } from './kernel/client-connections.ts';
import type { VipView } from './lifecycle/lifecycle.ts';
import type { DrainRequest } from './lifecycle/lifecycle-input.ts';
import type { VipStateName } from './lifecycle/vip-state.ts';
import { prefixText } from './status.ts';

/** The answer of `GET /api/v1/drain`. */
export interface DrainStatus {
  /** What asks for a drain: `command`, `drain file`, `annotation`, `stop`, `API server`. Empty when nothing does. */
  readonly requestedBy: readonly string[];
  /** No VIP is on this master any more, nor advertised by it; before kubeadm has succeeded there is nothing to drain. */
  readonly isDone: boolean;
  readonly vips: readonly {
    readonly vip: string;
    readonly state: VipStateName;
    readonly reason: string;
    /** Other masters in service that the routers have told of. */
    readonly others: readonly string[];
    /** Since its drain began; `null` when none goes on. */
    readonly drainingMs: number | null;
  }[];
  /** Connections of clients to the VIPs; `null` when the kernel does not tell. */
  readonly connections: number | null;
  /** The clients with most of them. */
  readonly clients: readonly ConnectedClient[];
  /** What was reset when a VIP left, the last ones: how long ago, how many of clients, and which clients. */
  readonly reset: readonly (ResetReport & { readonly agoMs: number })[];
}

export interface DrainSource {
  readonly requests: readonly DrainRequest[];
  readonly isApiServerStopping: boolean;
  readonly isBootstrapped: boolean;
  readonly views: readonly VipView[];
  readonly others: (vip: string) => ReadonlySet<string>;
  readonly connections: number | undefined;
  readonly clients: readonly ConnectedClient[] | undefined;
  readonly resets: readonly { readonly at: number; readonly report: ResetReport }[];
  readonly now: number;
}

/** Everything about a drain, as plain JSON. */
export function drainStatus(source: DrainSource): DrainStatus {
  const { requests, isApiServerStopping, isBootstrapped, views, others, connections, clients, resets, now } =
    source;
  return {
    requestedBy: [...requests.map(({ by }) => by), ...(isApiServerStopping ? ['API server'] : [])],
    isDone: !isBootstrapped || views.every(({ state }) => state === 'absent'),
    vips: views.map(({ vip, state, reason, startedAt }) => ({
      vip: prefixText(vip.address),
      state,
      reason,
      others: [...others(vip.address)].sort(),
      drainingMs: startedAt === undefined ? null : Math.round(now - startedAt),
    })),
    connections: connections ?? null,
    clients: clients ?? [],
    reset: resets.map(({ at, report }) => ({ ...report, agoMs: Math.round(now - at) })),
  };
}

/** Why a drain by command is refused; `undefined` when it is not. An unforced drain leaves another master in the pool of each VIP. */
export function whyNotDrain(
  views: readonly VipView[],
  others: (vip: string) => ReadonlySet<string>,
): string | undefined {
  const emptied = views.filter(
    ({ vip, advertisement }) => advertisement !== 'none' && others(vip.address).size === 0,
  );
  if (emptied.length === 0) return undefined;
  const vips = emptied.map(({ vip }) => prefixText(vip.address)).join(', ');
  return (
    `nobody would serve ${vips}: no router has told of another master in service (those that drain do not count, and a router ` +
    'that does not reflect paths tells of none); --force drains all the same'
  );
}

/** The drain for people. */
export function drainTables({ vips, clients, reset }: DrainStatus): readonly Table[] {
  return [
    {
      columns: ['vip', 'state', 'other masters', 'reason'],
      rows: vips.map(({ vip, state, others, reason }) => [vip, state, others.join(', '), reason]),
    },
    {
      columns: ['client', 'connections'],
      rows: clients.map(({ address, connections }) => [address, connections]),
      empty: 'no client is connected',
    },
    ...(reset.length === 0
      ? []
      : [
          {
            columns: ['vip', 'reset', 'clients'],
            rows: reset.map(({ vip, count, clients: named }) => [prefixText(vip), count, named.join(', ')]),
          },
        ]),
  ];
}
