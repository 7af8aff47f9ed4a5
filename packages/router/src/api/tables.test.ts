import { formatTable } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { eventLine, fibTables, routesTables, statusTables } from './tables.ts';

function text(tables: readonly Parameters<typeof formatTable>[0][]): string {
  return tables.map((table) => formatTable(table)).join('\n');
}

describe('what people read', () => {
  it('status: the VIP, each member with its reason, and notes', () => {
    const shown = text(
      statusTables({
        routerId: '10.0.0.10',
        asn: 64512,
        vips: [
          {
            vip: '10.0.0.100/32',
            endpoint: '10.0.0.100:6443',
            ready: true,
            status: '0 of 1 members healthy',
            advertised: false,
            advertisements: [
              { upstream: 'tor-1', advertised: false, reason: 'this load balancer is drained' },
              { upstream: 'tor-2', advertised: false, reason: 'the BGP session is Idle' },
            ],
            readySinceMs: 1,
            rules: { panic: null, initialHold: null },
            obstacle: null,
            clients: null,
            members: [
              {
                name: '10.0.0.13',
                nextHop: '10.0.0.13',
                state: 'out',
                inPool: false,
                weight: 0,
                session: 'Idle',
                sources: [{ kind: 'bgp', name: '', says: 'announced' }],
                bfd: 'off',
                health: 'unknown',
                reason: 'hold timer expired',
                sinceMs: 12_300,
                recentExits: 0,
                heldBackForMs: null,
                drainedHere: false,
                forwardingProblem: '',
                gates: [],
              },
            ],
          },
        ],
        memberSources: [],
        drain: { phase: 'withdrawn', sinceMs: 61_000 },
        healthCheck: { verified: false, detail: 'certificates are not verified' },
        bfd: { scheduling: 'nice -15 (sched_setscheduler: EPERM)', problems: ['IPv4 port 3784: EADDRINUSE'] },
        dataplane: {
          kind: 'kernel',
          title: 'the kernel',
          destination: 'vip',
          problems: ['nft cannot be run'],
          warnings: ['x'],
        },
        onLink: [],
        vrrp: null,
        md5: null,
        version: '0.1.0',
        uptimeMs: 1,
      }),
    );
    expect(shown).toMatch(/10\.0\.0\.13 +out +0 +Idle +off +unknown +12s +hold timer expired/);
    expect(shown).toMatch(
      /10\.0\.0\.100\/32 +10\.0\.0\.100:6443 +yes +no: tor-1: this load balancer is drained; tor-2: the BGP session is Idle +0 of 1/,
    );
    expect(shown).toContain('this load balancer is drained for 61s: the VIPs are withdrawn');
    expect(shown).toContain('certificates are not verified');
    expect(shown).toContain('nft cannot be run');
    expect(shown).toContain('BFD does not receive: IPv4 port 3784: EADDRINUSE');
    expect(shown).toContain('may raise false alarms: nice -15 (sched_setscheduler: EPERM)');
  });

  it('routes: what was refused, and why', () => {
    const shown = text(
      routesTables({
        received: [
          {
            neighbor: '10.0.0.11',
            prefix: '10.0.0.100/32',
            nextHop: '10.0.0.11',
            asPath: '',
            localPref: 0,
            communities: ['65535:0'],
            largeCommunities: [],
            pathId: 0,
            originatorId: null,
            clusterList: [],
            selection: 'lower LOCAL_PREF',
            stale: false,
            ageMs: 1000,
          },
        ],
        rejected: [{ neighbor: '10.0.0.11', prefix: '0.0.0.0/0', reason: 'not a configured VIP: 0.0.0.0/0' }],
        advertised: [],
      }),
    );
    expect(shown).toMatch(/10\.0\.0\.11 +10\.0\.0\.11 +lower LOCAL_PREF +0 /);
    expect(shown).toMatch(/0\.0\.0\.0\/0 +10\.0\.0\.11 +not a configured VIP/);
    expect(shown).toContain('nothing is advertised');
  });

  it('fib: the share of each member', () => {
    const shown = text(
      fibTables({
        kind: 'kernel',
        title: 'the kernel',
        destination: 'vip',
        problems: [],
        warnings: [],
        vips: [
          {
            vip: '10.0.0.100/32',
            forwarding: true,
            members: [
              {
                nextHop: '10.0.0.11',
                weight: 256,
                interfaceName: 'eth0',
                buckets: 5461,
                share: 1 / 3,
                packets: 1234,
                problem: '',
              },
            ],
            detail: { table: 254, groupId: 84000004, buckets: 16384, floor: true },
          },
        ],
      }),
    );
    expect(shown).toMatch(/NEXT HOP +WEIGHT +SHARE +INTERFACE +BUCKETS +PACKETS +PROBLEM/);
    expect(shown).toMatch(/10\.0\.0\.11 +256 +33\.3% +eth0 +5461 +1234/);
    expect(shown).toMatch(/VIP +FORWARDING +TABLE +GROUP ID +BUCKETS +FLOOR/);
    expect(shown).toContain('84000004');
  });

  it('fib: with HAProxy its servers and their checks, and no column of the kernel', () => {
    const member = { weight: 256, interfaceName: undefined, buckets: undefined, packets: undefined };
    const shown = text(
      fibTables({
        kind: 'haproxy',
        title: 'HAProxy',
        destination: 'member',
        problems: [],
        warnings: [],
        vips: [
          {
            vip: '10.0.0.100/32',
            forwarding: true,
            members: [
              {
                ...{ ...member, nextHop: '10.0.0.11', share: 1, problem: '' },
                detail: { status: 'UP', check: 'L7OK', sessions: 7 },
              },
              {
                ...{ ...member, nextHop: '10.0.0.12', share: 0, problem: 'HAProxy says DOWN: L4CON' },
                detail: { status: 'DOWN', check: 'L4CON', sessions: 0 },
              },
            ],
            detail: { backend: 'members-10.0.0.100', bind: '10.0.0.100:443', pid: 12, version: '2.6.12' },
          },
        ],
      }),
    );
    expect(shown).toMatch(/VIP +FORWARDING +BACKEND +BIND +PID +VERSION\n/);
    expect(shown).toMatch(/VIP +NEXT HOP +WEIGHT +SHARE +STATUS +CHECK +SESSIONS +PROBLEM\n/);
    expect(shown).toMatch(/10\.0\.0\.11 +256 +100\.0% +UP +L7OK +7/);
    expect(shown).toMatch(/10\.0\.0\.12 +256 +0\.0% +DOWN +L4CON +0 +HAProxy says DOWN: L4CON/);
  });

  it('events: time, type, and the rest by name', () => {
    const line = eventLine({
      sequence: 1,
      time: '2026-01-01T00:00:00.000Z',
      monotonicMs: 5,
      type: 'vip-forwarding',
      nextHops: ['10.0.0.11'],
    });
    expect(line).toBe('2026-01-01T00:00:00.000Z vip-forwarding nextHops=["10.0.0.11"]');
  });
});
