import { hostPrefix } from '@bgp-lb/protocol';
import { FULL_WEIGHT, type WeightedNextHop } from '../../pool/member-view.ts';
import type { CarriedVip, ForwardingShare, VipForwarding } from '../data-plane.ts';
import type { HaproxySnapshot } from './haproxy-process.ts';
import { backendOf, socketAddress } from './haproxy-settings.ts';
import type { RunningServer } from './run-time-answers.ts';

/** Tells which servers get new connections, of those that the pool uses. */
export function servesOf(nextHops: readonly WeightedNextHop[]): (server: RunningServer) => boolean {
  const used = new Set(nextHops.map(({ nextHop }) => nextHop));
  return ({ name, admin, isUp, weight }) => used.has(name) && admin === 'ready' && isUp && weight > 0;
}

/**
 * Whether what an old worker, which checks nothing any more, has to a server is to end.
 * @param server `BACKEND/NAME`
 * @param servers those of the worker of now; `undefined` while it does not answer: of what is not known nothing is ended
 */
export function isDeadServer(server: string, servers: readonly RunningServer[] | undefined): boolean {
  if (servers === undefined) return false;
  const running = servers.find(({ backend, name }) => `${backend}/${name}` === server);
  if (running === undefined || running.admin === 'maint') return true;
  return running.isChecked && running.status.startsWith('DOWN');
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
        connections: server.sessions,
        ...(isJudged(server) && { check: { passes: server.isUp, text: checkText(server) } }),
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
      bind: socketAddress(address, port),
      ...(snapshot !== undefined && { pid: snapshot.process.pid, version: snapshot.process.version }),
    },
  };
}

function problemOf(server: RunningServer | undefined, weight: number): string {
  if (server === undefined) return 'HAProxy does not have it yet';
  if (server.admin === 'drain' && weight < FULL_WEIGHT) return '';
  return `HAProxy says ${checkText(server)}`;
}

/** HAProxy has an opinion of its own: it checks the member, and has done so once. */
function isJudged({ isChecked, check }: RunningServer): boolean {
  return isChecked && check !== '';
}

/** HAProxy's word for a server, and what its last check found. */
export function checkText({ status, check, detail }: RunningServer): string {
  return `${status}: ${check === '' ? 'not checked yet' : `${check} ${detail}`.trim()}`;
}
