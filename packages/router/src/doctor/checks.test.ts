import type { FirewallChain } from '@bgp-lb/linux';
import { describe, expect, it } from 'vitest';
import type { RouterStatus } from '../api/router-status.ts';
import { checkForwarding, checkMtu, checkSysctls } from '../dataplane/kernel/check-host.ts';
import { checkSignatures, checkStatus, checkVipBinding } from './check-status.ts';

const member = {
  name: 'm1',
  nextHop: '10.0.0.11',
  state: 'active',
  inPool: true,
  weight: 256,
  session: 'Established',
  sources: [{ kind: 'bgp', name: '', says: 'announced' }],
  bfd: 'Up',
  health: 'passing',
  reason: '',
  sinceMs: 1,
  recentExits: 0,
  heldBackForMs: null,
  drainedHere: false,
  forwardingProblem: '',
  gates: [],
} as const;
const status: RouterStatus = {
  routerId: '10.0.0.10',
  asn: 64512,
  vips: [
    {
      vip: '10.100.0.1/32',
      endpoint: '10.100.0.1:443',
      ready: true,
      status: '',
      advertised: true,
      advertisements: [{ upstream: 'tor', advertised: true, reason: '' }],
      readySinceMs: 1,
      rules: { panic: null, initialHold: null },
      obstacle: null,
      clients: null,
      members: [member],
    },
  ],
  memberSources: [],
  drain: { phase: 'none', sinceMs: null },
  healthCheck: { verified: true, detail: 'checked' },
  bfd: { scheduling: 'SCHED_FIFO 10', problems: [] },
  dataplane: { kind: 'kernel', title: 'the kernel', destination: 'vip', problems: [], warnings: [] },
  onLink: [],
  vrrp: null,
  md5: { notFound: 0, unexpected: 0, failure: 0 },
  version: '0',
  uptimeMs: 1,
};
/** The VIP with upstreams that have it or not. */
const advertisedTo = (...upstreams: boolean[]): RouterStatus['vips'] =>
  status.vips.map((vip) => ({
    ...vip,
    advertised: upstreams.includes(true),
    advertisements: upstreams.map((advertised, n) => ({ upstream: `tor-${n}`, advertised, reason: 'x' })),
  }));
/** The VIP with one member that clients are not served by. */
const doubted = (doubt: string): RouterStatus['vips'] =>
  status.vips.map((vip) => ({
    ...vip,
    clients: {
      ...{ cause: 'served', text: '', windowMs: 1, arrived: 0, sent: 0, followed: 0, established: 0 },
      members: [{ nextHop: member.nextHop, sent: 0, followed: 0, established: 0, doubt }],
    },
  }));
const levels = (findings: readonly { readonly level: string }[]): string[] =>
  findings.map(({ level }) => level);

describe('doctor of the router', () => {
  it('finds nothing in the status of a router that is well', () => {
    expect(new Set(levels(checkStatus(status)))).toEqual(new Set(['good']));
  });

  it.each<[string, Partial<RouterStatus>, string]>([
    ['a VIP without members', { vips: status.vips.map((vip) => ({ ...vip, ready: false })) }, 'fault'],
    [
      'a member that is out',
      {
        vips: status.vips.map((vip) => ({
          ...vip,
          members: [{ ...member, state: 'out', inPool: false, reason: 'probes time out' }],
        })),
      },
      'fault',
    ],
    [
      'a member that drains',
      { vips: status.vips.map((vip) => ({ ...vip, members: [{ ...member, state: 'draining' }] })) },
      'warning',
    ],
    ['health that is not verified', { healthCheck: { verified: false, detail: 'no CA' } }, 'warning'],
    ['a load balancer that is drained', { drain: { phase: 'withdrawn', sinceMs: 1 } }, 'fault'],
    ['a VIP that no upstream has', { vips: advertisedTo(false) }, 'fault'],
    ['a VIP that one of two upstreams has', { vips: advertisedTo(true, false) }, 'warning'],
    [
      'a way that no client is known to take',
      { dataplane: { ...status.dataplane, warnings: ['x'] } },
      'warning',
    ],
    ['clients that a member does not serve', { vips: doubted('clients established 0 of 20') }, 'fault'],
    [
      'a kernel that is not as it should be',
      { dataplane: { ...status.dataplane, problems: ['x'] } },
      'fault',
    ],
    ['BFD without a socket', { bfd: { scheduling: 'SCHED_FIFO 10', problems: ['x'] } }, 'fault'],
    ['BFD that others keep waiting', { bfd: { scheduling: 'nice -15 (EPERM)', problems: [] } }, 'warning'],
  ])('tells of %s, with what to do', (_what, changes, level) => {
    const bad = checkStatus({ ...status, ...changes }).filter((finding) => finding.level !== 'good');
    expect(levels(bad)).toEqual([level]);
    expect(bad[0]?.fix).not.toBe('');
  });

  it.each([
    ['ordinary (sched_setscheduler: EPERM; setpriority: EACCES)', /^give the daemon CAP_SYS_NICE/],
    [
      'nice -15 (sched_setscheduler: EPERM)',
      /^the daemon has CAP_SYS_NICE, and the kernel refuses SCHED_FIFO/,
    ],
  ])('says what keeps the BFD thread from its place by what it got: %s', (scheduling, fix) => {
    const findings = checkStatus({ ...status, bfd: { scheduling, problems: [] } });
    expect(findings.find(({ check }) => check === 'bfd')?.fix).toMatch(fix);
  });

  it('names members without the VIP, where packets for the VIP go to members', () => {
    const path = (nextHop: string, ...largeCommunities: string[]) => ({
      prefix: '10.100.0.1/32',
      nextHop,
      largeCommunities,
    });
    const received = [path('10.0.0.11', '64512:1:5'), path('10.0.0.12', '64512:1:5', '64512:3:1')] as never;
    expect(checkVipBinding({ received }, 64512, status.dataplane)).toMatchObject([
      {
        level: 'fault',
        place: '10.100.0.1/32 by 10.0.0.12',
        value: expect.stringContaining('vipBind: false'),
      },
    ]);
    expect(checkVipBinding({ received }, 64512, { ...status.dataplane, destination: 'member' })).toEqual([]);
  });

  it('finds a member at fault that HAProxy does not use although it passes the health check, and speaks of no VIP there', () => {
    const dataplane = {
      kind: 'haproxy',
      title: 'HAProxy',
      destination: 'member',
      problems: ['no answer'],
      warnings: [],
    } as const;
    const forwardingProblem = 'HAProxy says DOWN: L4TOUT';
    const unused = {
      ...member,
      name: 'm2',
      nextHop: '10.0.0.12',
      forwardingProblem,
      reason: forwardingProblem,
    };
    const listed = {
      ...member,
      name: 'm3',
      nextHop: '10.0.0.13',
      session: 'none',
      state: 'out',
      inPool: false,
    } as const;
    const vips = status.vips.map((vip) => ({ ...vip, members: [member, unused, listed] }));
    const found = checkStatus({ ...status, dataplane, vips });
    const members = found.filter(({ check }) => check === 'member');
    expect(levels(members)).toEqual(['good', 'warning', 'fault']);
    expect(members.map(({ value }) => value)).toEqual([
      'answers /readyz over TLS at its own address',
      expect.stringContaining('HAProxy says DOWN: L4TOUT'),
      expect.anything(),
    ]);
    expect(members[1]).toMatchObject({ fix: 'bgp-lb-router fib shows it' });
    expect(members[2]).toMatchObject({ fix: expect.stringMatching(/^what answers on its port/) });
    expect(found.find(({ check }) => check === 'haproxy')).toMatchObject({
      place: 'HAProxy',
      value: 'no answer',
    });
    expect(JSON.stringify(found)).not.toMatch(/kernel|arp_ignore/);
  });

  it('counts what the kernel dropped for its TCP-MD5 signature', () => {
    expect(checkSignatures({ failure: 3, notFound: 1, unexpected: 0 })).toMatchObject([
      { level: 'warning', value: '3 segments dropped with a wrong signature since boot' },
      { level: 'warning', value: '1 segments dropped without a signature since boot' },
    ]);
    expect(levels(checkSignatures({ failure: 0, notFound: 0, unexpected: 0 }))).toEqual(['good']);
    expect(checkSignatures(null)).toEqual([]);
  });

  it('names chains that let no client through, those that may not, and rules that it cannot read', () => {
    const chain: FirewallChain = {
      ...{ version: 4, table: 'ip filter', name: 'FORWARD', hook: 'forward', priority: 0 },
      ...{ policy: 'drop', rules: [] },
    };
    const perhaps: FirewallChain = { ...chain, name: 'OTHER', rules: [[() => 'maybe', { kind: 'accept' }]] };
    const unread = [
      { table: 'iptables-legacy filter', problem: 'not installed' },
      { table: 'ip large', problem: 'nft printed more than 16777216 octets' },
    ];
    const links = { inputs: ['eth1'], outputs: ['eth0'] };
    const vips = [{ address: '10.100.0.1', port: 443 }];
    expect(checkForwarding({ chains: [chain], unread }, vips, links)).toMatchObject([
      { level: 'fault', place: 'ip filter FORWARD', fix: expect.stringContaining('10.100.0.1 port 443') },
      { level: 'warning', place: 'iptables-legacy filter', fix: 'install iptables; iptables-legacy -S' },
      { level: 'warning', place: 'ip large', fix: 'nft list table ip large' },
    ]);
    expect(checkForwarding({ chains: [perhaps], unread: [] }, vips, links)).toMatchObject([
      { level: 'warning', place: 'ip filter OTHER' },
    ]);
    expect(levels(checkForwarding({ chains: [], unread: [] }, vips, links))).toEqual(['good']);
  });

  it('makes a missing setting only when it is asked to', () => {
    const values = new Map([['net.ipv4.ip_forward', '0']]);
    const access = {
      read: (name: string) => values.get(name) ?? '',
      write: (name: string, value: string) => void values.set(name, value),
    };
    const settings = [{ name: 'net.ipv4.ip_forward', value: '1', acceptable: [], why: 'forwarding' }];
    expect(checkSysctls(settings, access, false)).toMatchObject([
      {
        level: 'fault',
        place: 'net.ipv4.ip_forward',
        fix: expect.stringContaining('sysctl -w net.ipv4.ip_forward=1'),
      },
    ]);
    expect(values.get('net.ipv4.ip_forward')).toBe('0');
    expect(checkSysctls(settings, access, true)).toMatchObject([
      { level: 'good', value: expect.stringMatching(/^fixed/) },
    ]);
    expect(values.get('net.ipv4.ip_forward')).toBe('1');
    expect(checkSysctls(settings, access, false)).toMatchObject([
      { level: 'good', value: '1 settings are as wanted' },
    ]);
  });

  it('tells of links that bring more than those towards the masters take', () => {
    const links = [
      { name: 'in', mtu: 9000 },
      { name: 'out', mtu: 1500 },
    ];
    expect(checkMtu(links, ['out'])).toMatchObject([
      { level: 'warning', place: 'out 1500', value: 'smaller than in 9000' },
    ]);
    expect(levels(checkMtu(links, ['in']))).toEqual(['good']);
    expect(checkMtu(links, [])).toEqual([]);
  });
});
