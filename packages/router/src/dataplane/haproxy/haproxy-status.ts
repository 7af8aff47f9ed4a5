import { hostPrefix } from '../../bgp/neighbor-options.ts';
import { FULL_WEIGHT, type WeightedNextHop } from '../../pool/member-view.ts';
import type { CarriedVip, ForwardingShare, VipForwarding } from '../data-plane.ts';
import type { HaproxySnapshot } from './haproxy-process.ts';
import { backendOf } from './haproxy-settings.ts';
import type { RunningServer } from './run-time-answers.ts';

/** Tells which servers get new connections, of those that the pool uses. */
export function servesOf(nextHops: readonly WeightedNextHop[]): (server: RunningServer) => boolean {
  const used = new Set(nextHops.map(({ nextHop }) => nextHop));
  return ({ name, admin, isUp, weight }) => used.has(name) && admin === 'ready' && isUp && weight > 0;
}

/** What HAProxy does for a VIP, beside what the pool wants. */
export function haproxyForwarding(
  { address, port }: CarriedVip,
  nextHops: readonly WeightedNextHop[],
  snapshot: HaproxySnapshot | undefined,
): VipForwarding {
  const backend = backendOf(address);
  const own = (snapshot?.servers ?? []).filter((server) => server.backend === backend);
  const serves = servesOf(nextHops);
  const serving = own.filter(serves);
  const total = serving.reduce((sum, { weight }) => sum + weight, 0);
  const members = nextHops.map(({ nextHop, weight }): ForwardingShare => {
    const server = own.find(({ name }) => name === nextHop);
    const isServing = server !== undefined && serves(server);
    return {
      nextHop,
      weight,
      interfaceName: undefined,
      buckets: undefined,
      share: isServing && total > 0 ? server.weight / total : 0,
      packets: undefined,
      ...(server !== undefined && {
        detail: { status: server.status, check: server.check, sessions: server.sessions },
      }),
      problem: isServing ? '' : problemOf(server, weight),
    };
  });
  return {
    vip: hostPrefix(address),
    forwarding: serving.length > 0,
    members,
    detail: {
      backend,
      bind: `${address}:${port}`,
      pid: snapshot?.process.pid ?? 0,
      version: snapshot?.process.version ?? '',
    },
  };
}

function problemOf(server: RunningServer | undefined, weight: number): string {
  if (server === undefined) return 'HAProxy does not have it yet';
  if (server.admin === 'drain' && weight < FULL_WEIGHT) return '';
  const last = server.check === '' ? 'not checked yet' : `${server.check} ${server.detail}`.trim();
  return `HAProxy says ${server.status}: ${last}`;
}
