/** What tests see of the router beyond its status: the parts of its API's answers that they look at. */

import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MemberStatus } from '../../scripts/lab/lb-host.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { textFrom } from './host-http.ts';

/** An entry of `/api/v1/neighbors`. */
export interface NeighborView {
  readonly name: string;
  readonly state: string;
  readonly establishedCount: number;
  readonly lastNotificationSent: {
    readonly code: number;
    readonly subcode: number;
    readonly text: string;
  } | null;
  readonly lastDown: { readonly kind: string; readonly text: string } | null;
  readonly prefixes: { readonly received: number; readonly rejected: number };
}

/** `/api/v1/routes`. */
export interface RoutesView {
  readonly received: readonly {
    readonly neighbor: string;
    readonly prefix: string;
    readonly nextHop: string;
    readonly localPref: number | null;
    readonly communities: readonly string[];
    readonly largeCommunities: readonly string[];
    readonly selection: string;
  }[];
  readonly rejected: readonly {
    readonly neighbor: string;
    readonly prefix: string;
    readonly reason: string;
  }[];
  readonly advertised: readonly {
    readonly prefix: string;
    readonly neighbor: string;
    readonly nextHop: string;
    readonly pathId: number | null;
  }[];
}

/** An entry of `/api/v1/events`; each type has more fields of its own. */
export interface EventView {
  readonly sequence: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

async function neighborsOf(lab: Lab): Promise<readonly NeighborView[]> {
  return (await lab.lb.router.request('GET', '/api/v1/neighbors')) as readonly NeighborView[];
}

/** The router's session with a master; undefined when it knows of none. */
export async function neighbor(lab: Lab, address: string): Promise<NeighborView | undefined> {
  return (await neighborsOf(lab)).find(({ name }) => name === address);
}

export async function routesOf(lab: Lab): Promise<RoutesView> {
  return (await lab.lb.router.request('GET', '/api/v1/routes')) as RoutesView;
}

/** The router's events after one, oldest first. */
export async function eventsSince(lab: Lab, sequence: number): Promise<readonly EventView[]> {
  return (await lab.lb.router.request('GET', `/api/v1/events?since=${sequence}`)) as readonly EventView[];
}

/** The number of the router's last event: what comes later is seen by `eventsSince`. */
export async function lastEvent(lab: Lab): Promise<number> {
  const events = (await lab.lb.router.request('GET', '/api/v1/events?limit=1')) as readonly EventView[];
  return events.at(-1)?.sequence ?? 0;
}

/** Waits for an event after `sequence` that is as wanted. */
export function waitForEvent(
  lab: Lab,
  sequence: number,
  what: string,
  isWanted: (event: EventView) => boolean,
  timeoutMs = 10_000,
): Promise<EventView> {
  return waitUntil(async () => (await eventsSince(lab, sequence)).find(isWanted), {
    what: `an event of the router: ${what}`,
    timeoutMs,
    detail: async () => JSON.stringify((await eventsSince(lab, sequence)).slice(-10)),
  });
}

/** A master as a member of the pool; undefined while the router does not know it. */
export async function member(lab: Lab, master: MasterHost): Promise<MemberStatus | undefined> {
  const { vips } = await lab.lb.router.status();
  const pool = vips.find(({ vip }) => vip === `${vipAddress}/32`);
  return pool?.members.find(({ nextHop }) => nextHop === master.address);
}

/** The samples of `/metrics` by name with labels, as the text has them: `bgp_lb_x{a="b"}`. */
export async function metricsOf(lab: Lab): Promise<ReadonlyMap<string, number>> {
  return parseMetrics(await textFrom(lab.lb.router.socketPath, '/metrics'));
}

/** The samples of a text in Prometheus' exposition format; throws for a line that is neither sample nor comment. */
export function parseMetrics(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ') || line.startsWith('# TYPE ')) continue;
    const match = /^([a-z_][a-z0-9_]*(?:\{(?:[a-z_][a-z0-9_]*="(?:[^"\\]|\\.)*",?)*\})?) (\S+)$/i.exec(line);
    const [, name, value] = match ?? [];
    if (name === undefined || Number.isNaN(Number(value === '+Inf' ? 'Infinity' : value))) {
      throw new SyntaxError(`not a line of the exposition format: ${line}`);
    }
    samples.set(name, Number(value === '+Inf' ? 'Infinity' : value));
  }
  return samples;
}
