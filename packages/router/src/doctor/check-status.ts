import { checkScheduling, droppedSignatures, type Finding, fault, good, warning } from '@bgp-lb/daemon';
import type { RouterRoutes } from '../api/neighbor-status.ts';
import type { RouterStatus } from '../api/router-status.ts';
import { checkClients } from './check-clients.ts';
import { checkSources } from './check-sources.ts';
import { checkVrrp } from './check-vrrp.ts';

/** What a running router says of itself and its members, as findings. Pure. */
export function checkStatus(status: RouterStatus): readonly Finding[] {
  return [
    ...checkDrain(status.drain),
    ...status.vips.flatMap((one) => [
      one.ready
        ? good('vip', one.vip, 'forwarded to a member')
        : fault(
            'vip',
            one.vip,
            one.obstacle ?? 'forwarded to nobody',
            `bgp-lb-router explain ${one.vip} says what is missing`,
          ),
      ...checkAdvertised(one),
      ...checkClients([one]),
      ...one.members.map((member) => checkMember(one.vip, member, status.dataplane.destination)),
    ]),
    status.healthCheck.verified
      ? good('health check', 'healthCheck.caFile', status.healthCheck.detail)
      : warning(
          'health check',
          'healthCheck.caFile',
          status.healthCheck.detail,
          'put the cluster CA there: without it any TLS server counts as an API server',
        ),
    ...status.dataplane.problems.map((problem) =>
      fault(
        status.dataplane.kind,
        status.dataplane.title,
        problem,
        'what it names has to change on this host',
      ),
    ),
    ...status.dataplane.warnings.map((problem) =>
      warning(
        status.dataplane.kind,
        status.dataplane.title,
        problem,
        'nothing, where no client of the VIP comes by that way, as by a management interface',
      ),
    ),
    ...checkBfd(status.bfd),
    ...checkSources(status.memberSources),
    ...checkVrrp(status.vrrp),
  ];
}

function checkDrain({ phase }: RouterStatus['drain']): readonly Finding[] {
  if (phase === 'none') return [];
  const value = phase === 'leaving' ? 'upstreams are asked to prefer others' : 'the VIPs are withdrawn';
  return [fault('drain', 'this load balancer', value, 'bgp-lb-router undrain, when it is to serve again')];
}

/** A VIP that no upstream has gets no clients from there; one that some have is short of its redundancy. */
function checkAdvertised({
  vip,
  ready,
  advertised,
  advertisements,
}: RouterStatus['vips'][number]): readonly Finding[] {
  return advertisements.map((one) => {
    const place = `${vip} to ${one.upstream}`;
    if (one.advertised) return good('advertised', place, 'the upstream has it');
    const fix = `bgp-lb-router explain ${vip}`;
    const value = `not advertised: ${one.reason}`;
    return advertised && ready
      ? warning('advertised', place, value, fix)
      : fault('advertised', place, value, fix);
  });
}

/** The TLS request to each member is made by the router itself, again and again: its last word counts, and that of the data plane. */
function checkMember(
  vip: string,
  member: RouterStatus['vips'][number]['members'][number],
  destination: RouterStatus['dataplane']['destination'],
): Finding {
  const place = `${vip} by ${member.nextHop}`;
  const { state, health, reason } = member;
  const isUsed = member.forwardingProblem === '';
  if (state === 'active' && health === 'passing' && isUsed) {
    const where = destination === 'vip' ? 'through the VIP' : 'at its own address';
    return good('member', place, `answers /readyz over TLS ${where}`);
  }
  const value = reason === '' ? `${state}, health ${health}` : `${state}, health ${health}: ${reason}`;
  const fix =
    member.inPool && !isUsed ? 'bgp-lb-router fib shows it' : memberFix(member.session, destination);
  return member.inPool ? warning('member', place, value, fix) : fault('member', place, value, fix);
}

function memberFix(session: string, destination: RouterStatus['dataplane']['destination']): string {
  const isDirect = destination === 'vip';
  if (session === 'none') {
    const vip = isDirect ? 'the VIP on an interface of that host, ' : '';
    return `${vip}what answers on its port, a firewall there, or its API server`;
  }
  return `bgp-lb-speaker explain on that master; a firewall there, ${isDirect ? 'arp_ignore, ' : ''}or its API server`;
}

function checkBfd({ scheduling, problems }: RouterStatus['bfd']): readonly Finding[] {
  const check = 'bfd';
  return [
    ...problems.map((problem) =>
      fault(
        check,
        'sockets',
        problem,
        'free the UDP port, or give the daemon CAP_NET_RAW and CAP_NET_BIND_SERVICE',
      ),
    ),
    ...(scheduling === null ? [] : [checkScheduling({ scheduling, grant: 'give the daemon CAP_SYS_NICE' })]),
  ];
}

/** The large community by which a speaker says that packets for the VIP are not answered there: `vipBind: false`. */
const NO_VIP = ':3:1';

/** Members that have no VIP on themselves, beside a data plane that forwards packets for the VIP to them. Pure. */
export function checkVipBinding(
  { received }: Pick<RouterRoutes, 'received'>,
  asn: number,
  { kind, destination }: RouterStatus['dataplane'],
): readonly Finding[] {
  if (destination !== 'vip') return [];
  return received
    .filter(({ largeCommunities }) => largeCommunities.includes(`${asn}${NO_VIP}`))
    .map(({ prefix, nextHop }) =>
      fault(
        'vip binding',
        `${prefix} by ${nextHop}`,
        `its speaker has vipBind: false, and dataplane.kind is ${kind}: no packet for the VIP is answered there`,
        'set vipBind: true on that master, or dataplane.kind: haproxy here',
      ),
    );
}

/** What the kernel dropped for its signature. Pure. */
export function checkSignatures(md5: RouterStatus['md5']): readonly Finding[] {
  if (md5 === null) return [];
  const check = 'tcp-md5';
  const place = '/proc/net/netstat';
  const found = droppedSignatures(md5);
  return found.length === 0
    ? [good(check, place, 'no segment was dropped for its signature since boot')]
    : found.map(({ count, what, cause, fix }) =>
        warning(check, place, `${count} segments dropped ${what} since boot`, `${cause}: ${fix}`),
      );
}
