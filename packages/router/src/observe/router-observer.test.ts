import { createLogger, EventLog } from '@bgp-lb/daemon';
import { parsePrefix } from '@bgp-lb/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { RouterMetrics } from './router-metrics.ts';
import { type NamedNeighbor, RouterObserver } from './router-observer.ts';

const master: NamedNeighbor = { peer: '10.0.0.11', neighbor: 'masters', role: 'master' };

let clock: ManualClock;
let lines: Record<string, unknown>[];
let events: EventLog;
let metrics: RouterMetrics;
let observer: RouterObserver;

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  events = new EventLog({ capacity: 100 });
  metrics = new RouterMetrics('1.2.3');
  metrics.observe({
    members: () => [{ vip: 'v', name: '10.0.0.11', state: 'active', weight: 256, exits: 3, heldUntil: 1 }],
    shares: () => [{ vip: 'v', member: '10.0.0.11', share: 0.5 }],
    packets: () => [{ vip: 'v', member: '10.0.0.11', packets: 12 }],
    carried: () => [
      { vip: 'v', member: '10.0.0.11', connections: 7, passes: false },
      { vip: 'v', member: '10.0.0.12', connections: undefined, passes: undefined },
    ],
    forwarding: () => [{ vip: 'v', forwarding: true }],
    advertised: () => [
      { vip: 'v', upstream: 'tor-1', advertised: true },
      { vip: 'v', upstream: 'tor-2', advertised: false },
    ],
    drain: () => 'leaving',
    sessions: () => [{ neighbor: '10.0.0.11', role: 'master', state: 'Established' }],
    onLink: () => [],
    vrrp: () => undefined,
    rejectedConnections: () => 3,
    memberSources: () => [],
  });
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const logger = createLogger('info', { destination });
  observer = new RouterObserver({ logger, events, metrics, clock });
});

function types(): string[] {
  return events.recent().map(({ type }) => type);
}

function reject(times: number): void {
  for (let i = 0; i < times; i++) {
    const prefix = parsePrefix(`10.9.${i >> 8}.${i & 255}/32`);
    observer.rejected(master, {
      announced: [],
      withdrawn: [],
      rejected: [{ prefix, pathId: 0, reason: `not a configured VIP: 10.9.${i >> 8}.${i & 255}/32` }],
    });
  }
}

async function metric(line: string): Promise<string | undefined> {
  const text = await metrics.metrics.registry.metrics();
  return text
    .split('\n')
    .find((one) => one.startsWith(`${line} `))
    ?.slice(line.length + 1);
}

describe('a reload that takes VIPs and neighbors away', () => {
  it('takes their series with it, and no others', async () => {
    const probed = { verdict: 'good', result: 'ok', tookMs: 1, detail: '', warnings: [] } as const;
    for (const vip of ['10.100.0.1/32', '10.100.0.2/32']) {
      observer.transition(vip, {
        member: 'm1',
        nextHop: '10.0.0.11',
        from: 'out',
        to: 'active',
        weight: 256,
        reason: '',
      });
      observer.probe(vip, '10.0.0.11', probed);
      metrics.heldBack.inc({ vip });
    }
    reject(1);
    metrics.rejectedPaths.inc({ neighbor: 'others', reason: 'r' });
    const series = async (): Promise<string[]> =>
      (await metrics.metrics.registry.metrics())
        .split('\n')
        .filter((line) => /vip="10\.100|neighbor="(masters|others)"/.test(line))
        .map((line) => `${line.replace(/\{.*/, '')} ${/(?:vip|neighbor)="([^"]*)"/.exec(line)?.[1]}`);
    const before = await series();
    const names = (of: string): string[] => before.filter((one) => one.endsWith(of));
    expect(new Set(names(' 10.100.0.1/32')).size).toBe(6);
    observer.reloaded({
      added: [],
      removed: ['masters'],
      changed: [],
      updated: [],
      settings: [],
      vips: { added: [], removed: ['10.100.0.1'], changed: [] },
    });
    await expect
      .poll(series)
      .toEqual(
        [...names(' 10.100.0.2/32'), ...names(' others')].sort(
          (a, b) => before.indexOf(a) - before.indexOf(b),
        ),
      );
  });
});

describe('the observer', () => {
  it('writes what it learns of one VIP on a link while many hosts claim another', () => {
    const change = { interface: 'eth0', from: 'answering', phase: 'answering', isOwnerPeer: false } as const;
    const claim = (address: string, host: number): void =>
      observer.onLink({ ...change, address, owner: `02:00:00:00:00:${host}`, problem: '' });
    for (let host = 100; host < 1_100; host += 1) claim('10.100.0.1', host);
    expect(lines.length).toBeLessThan(100);
    claim('10.100.0.2', 1);
    expect(lines.at(-1)).toMatchObject({ vip: '10.100.0.2' });
  });

  it.each([
    ['standby', '02:00:00:00:00:01', true, 'info'],
    ['standby', '02:00:00:00:00:01', false, 'warn'],
    ['answering', '02:00:00:00:00:01', true, 'warn'],
    ['answering', '02:00:00:00:00:01', false, 'warn'],
    ['answering', null, false, 'info'],
  ] as const)(
    'warns of another owner of a VIP on a link: %s, %s, peer %s: %s',
    (phase, owner, isOwnerPeer, level) => {
      observer.onLink({
        ...{
          address: '10.100.0.1',
          interface: 'eth0',
          from: 'probing',
          phase,
          owner,
          isOwnerPeer,
          problem: '',
        },
      });
      expect(lines).toMatchObject([{ level, owner, isOwnerPeer }]);
      const isForeign = owner !== null && !isOwnerPeer;
      expect(JSON.stringify(lines).includes('is no load balancer')).toBe(isForeign);
    },
  );

  it('writes one log line and one event for a transition, with the reason', () => {
    observer.transition('10.100.0.1/32', {
      member: '10.0.0.11',
      nextHop: '10.0.0.11',
      from: 'active',
      to: 'out',
      weight: 0,
      reason: 'hold timer expired',
    });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      msg: '10.100.0.1/32: 10.0.0.11 active -> out: hold timer expired',
      type: 'member-transition',
    });
    expect(events.recent()).toMatchObject([{ type: 'member-transition', reason: 'hold timer expired' }]);
  });

  it('writes that a member is held back as a matter of its own, and counts it', async () => {
    const reason = 'good again, held back until it has been so for 2 s';
    const held = {
      member: 'm',
      nextHop: 'm',
      from: 'out',
      to: 'out',
      weight: 0,
      reason,
      heldFor: 2000,
    } as const;
    observer.transition('v', held);
    expect(lines.map(({ msg }) => msg)).toEqual([`v: m out: ${reason}`]);
    expect(events.recent()).toMatchObject([{ type: 'member-held-back', heldFor: 2000 }]);
    expect(await metric('bgp_lb_router_members_held_back_total{vip="v"}')).toBe('1');
    expect(await metric('bgp_lb_router_member_recent_exits{vip="v",member="10.0.0.11"}')).toBe('3');
    expect(await metric('bgp_lb_router_member_held_back{vip="v",member="10.0.0.11"}')).toBe('1');
    expect(
      await metric('bgp_lb_router_member_transitions_total{vip="v",from="out",to="out"}'),
    ).toBeUndefined();
  });

  it('writes only the first faults of a neighbor in a minute, and those of others all the same', () => {
    const fault = {
      type: 'attribute-fault',
      attribute: 8,
      action: 'treat-as-withdraw',
      subcode: 5,
      reason: 'length 3',
    } as const;
    for (let i = 0; i < 5000; i++) {
      observer.neighbor(master, fault);
    }
    expect(types()).toHaveLength(10);
    observer.neighbor({ ...master, peer: '10.0.0.12' }, fault);
    observer.neighbor(master, { type: 'idle-hold', seconds: 1 });
    expect(types().slice(10)).toEqual(['neighbor-attribute-fault', 'neighbor-idle-hold']);
  });

  it('counts every transition of a member that does not come to rest, and writes the first of a minute', async () => {
    const transition = {
      member: 'm',
      nextHop: 'm',
      from: 'out',
      to: 'active',
      weight: 256,
      reason: '',
    } as const;
    for (let i = 0; i < 500; i++) {
      observer.transition('v', transition);
    }
    expect(types()).toHaveLength(60);
    expect(await metric('bgp_lb_router_member_transitions_total{vip="v",from="out",to="active"}')).toBe(
      '500',
    );
  });

  it('counts every refused path and writes only the first ones of a minute', async () => {
    reject(5000);
    expect(types()).toHaveLength(10);
    const counter = 'bgp_lb_router_rejected_paths_total{neighbor="masters",reason="not a configured VIP"}';
    expect(await metric(counter)).toBe('5000');
    clock.advance(60_000);
    expect(lines.at(-1)).toMatchObject({ type: 'suppressed', kind: 'path-rejected', count: 4990 });
    expect(lines.at(-1)?.['msg']).toContain('4990 of them about 10.0.0.11');
    reject(1);
    expect(types()).toHaveLength(12);
  });

  it('writes of strangers a few lines in all, however many addresses they have, and of neighbors all the same', () => {
    const refused = { type: 'connection-refused', reason: 'nobody is configured at this address' } as const;
    for (let i = 0; i < 60_000; i++) {
      observer.neighbor(undefined, { ...refused, address: `2001:db8::${i.toString(16)}` });
    }
    expect(lines).toHaveLength(60);
    observer.neighbor(master, { type: 'idle-hold', seconds: 1 });
    expect(lines).toHaveLength(61);
    clock.advance(60_000);
    expect(lines.at(-1)).toMatchObject({ type: 'suppressed', kind: 'connection-refused', count: 59_940 });
    expect(types()).toHaveLength(62);
  });

  it('writes of no kind without end: neither what it repairs, nor where packets go, nor what is wrong', () => {
    for (let i = 0; i < 1000; i++) {
      observer.repaired(['set-route 10.100.0.1/32 (group) table 254 metric 84']);
      observer.forwarding('10.100.0.1/32', i % 2 === 0 ? [] : ['10.0.0.11']);
      observer.problem(`cannot read ${i}`);
      observer.failing('HAProxy', i % 2 === 0 ? 'set group: ENOMEM' : undefined);
      observer.operation('set-group', 1, 'ENOMEM');
    }
    const counts = new Map<unknown, number>();
    for (const { type } of lines) counts.set(type, (counts.get(type) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({
      repaired: 60,
      'vip-forwarding': 60,
      problem: 60,
      'data-plane': 10,
      'data-plane-refused': 10,
    });
    observer.close();
    expect(lines.filter(({ type }) => type === 'suppressed')).toHaveLength(5);
  });

  it('says which data plane is not as wanted, and counts what it was asked', async () => {
    observer.operation('reload', 900, undefined);
    observer.operation('add-server', 1, 'refused');
    observer.failing('HAProxy', 'nothing listens there');
    expect(lines.at(-1)).toMatchObject({ msg: 'HAProxy is not as wanted: nothing listens there' });
    expect(await metric('bgp_lb_router_data_plane_as_wanted')).toBe('0');
    observer.failing('HAProxy', undefined);
    expect(lines.at(-1)).toMatchObject({ msg: 'HAProxy is as wanted again' });
    expect(await metric('bgp_lb_router_data_plane_as_wanted')).toBe('1');
    const operations = 'bgp_lb_router_data_plane_operations_total';
    expect(await metric(`${operations}{operation="reload",result="ok"}`)).toBe('1');
    expect(await metric(`${operations}{operation="add-server",result="error"}`)).toBe('1');
  });

  it('has what the data plane itself finds of members, where it does', async () => {
    expect(await metric('bgp_lb_router_member_connections{vip="v",member="10.0.0.11"}')).toBe('7');
    expect(await metric('bgp_lb_router_member_check_up{vip="v",member="10.0.0.11"}')).toBe('0');
    expect(await metric('bgp_lb_router_member_check_up{vip="v",member="10.0.0.12"}')).toBeUndefined();
  });

  it('writes where the check of the data plane says otherwise than ours, and when it does no more', () => {
    observer.dissent('v', '10.0.0.11', 'HAProxy says DOWN: L4TOUT; the health check passes');
    observer.dissent('v', '10.0.0.11', undefined);
    expect(types()).toEqual(['checks-differ', 'checks-differ']);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'v: 10.0.0.11: HAProxy says DOWN: L4TOUT; the health check passes'],
      ['info', 'v: 10.0.0.11: the checks agree again'],
    ]);
  });

  it('gives no label to anything that a peer chooses', async () => {
    reject(300);
    const text = await metrics.metrics.registry.metrics();
    expect(
      text.split('\n').filter((line) => line.startsWith('bgp_lb_router_rejected_paths_total{')),
    ).toHaveLength(1);
  });

  it('writes a session that comes up, and not each state on the way', () => {
    const transition = {
      type: 'transition',
      role: 'passive',
      event: 'BGPOpen',
      reason: 'OPEN received',
    } as const;
    observer.neighbor(master, { ...transition, from: 'OpenSent', to: 'OpenConfirm' });
    expect(types()).toEqual([]);
    observer.neighbor(master, { ...transition, from: 'OpenConfirm', to: 'Established' });
    expect(types()).toEqual(['neighbor-transition']);
  });

  it('shows what it was given with each scrape', async () => {
    expect(await metric('bgp_lb_router_pool_members{vip="v",state="active"}')).toBe('1');
    expect(await metric('bgp_lb_router_pool_members{vip="v",state="stale"}')).toBe('0');
    expect(await metric('bgp_lb_router_member_bucket_share{vip="v",member="10.0.0.11"}')).toBe('0.5');
    expect(await metric('bgp_lb_router_member_packets_total{vip="v",member="10.0.0.11"}')).toBe('12');
    expect(await metric('bgp_lb_router_vip_forwarding{vip="v"}')).toBe('1');
    expect(await metric('bgp_lb_router_sessions{role="master",state="Established"}')).toBe('1');
    expect(await metric('bgp_lb_router_bgp_session_established{neighbor="10.0.0.11",role="master"}')).toBe(
      '1',
    );
    expect(await metric('bgp_lb_router_vip_advertised{vip="v",upstream="tor-1"}')).toBe('1');
    expect(await metric('bgp_lb_router_vip_advertised{vip="v",upstream="tor-2"}')).toBe('0');
    expect(await metric('bgp_lb_router_drain{phase="leaving"}')).toBe('1');
    expect(await metric('bgp_lb_router_drain{phase="none"}')).toBe('0');
    // Of what others count, the count is told again, not added to.
    expect(await metric('bgp_lb_router_rejected_connections_total')).toBe('3');
    expect(await metric('bgp_lb_router_rejected_connections_total')).toBe('3');
  });
});
