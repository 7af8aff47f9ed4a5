import { describe, expect, it } from 'vitest';
import type { MemberView } from '../pool/member-view.ts';
import { type VipFacts, vipStatus } from './router-status.ts';

const active: MemberView = {
  name: '10.0.0.11',
  nextHop: '10.0.0.11',
  state: 'active',
  inPool: true,
  weight: 256,
  session: 'Established',
  sources: [{ kind: 'bgp', name: '', says: 'announced' }],
  health: 'passing',
  reason: '',
  since: 1000,
  exits: 0,
  gates: [{ name: 'session', pass: true, detail: 'Established', since: 300 }],
};
const out: MemberView = {
  ...active,
  name: '10.0.0.13',
  nextHop: '10.0.0.13',
  state: 'out',
  inPool: false,
  weight: 0,
  session: 'Idle',
  health: 'unknown',
  reason: 'hold timer expired',
};

function facts(changed: Partial<VipFacts> = {}): VipFacts {
  return {
    vip: '10.0.0.100/32',
    endpoint: '10.0.0.100:6443',
    obstacle: undefined,
    clients: undefined,
    members: [active, out],
    rules: { panicSince: undefined, initialHold: undefined },
    forwarding: ['10.0.0.11'],
    forwardingSince: 500,
    advertisements: [{ upstream: 'tor', advertised: true, reason: '' }],
    drained: new Set(['10.0.0.12']),
    title: 'the kernel',
    shares: [],
    bfdOf: (nextHop) => (nextHop === '10.0.0.11' ? 'Up' : 'Down'),
    now: 13_300,
    ...changed,
  };
}

describe('the status of a VIP', () => {
  it('has the fields that tools depend on', () => {
    const status = vipStatus(facts());
    expect(status).toMatchObject({
      vip: '10.0.0.100/32',
      endpoint: '10.0.0.100:6443',
      ready: true,
      readySinceMs: 12_800,
      status: '1 of 2 members healthy',
    });
    const { sinceMs, ...first } = status.members[0] ?? { sinceMs: 0 };
    expect(Object.keys(first)).toEqual([
      'name',
      'nextHop',
      'state',
      'inPool',
      'weight',
      'session',
      'sources',
      'bfd',
      'health',
      'reason',
      'recentExits',
      'heldBackForMs',
      'drainedHere',
      'forwardingProblem',
      'gates',
    ]);
    expect(first).toMatchObject({ state: 'active', bfd: 'Up', reason: '' });
    expect(sinceMs).toBe(12_300);
    expect(first).toMatchObject({ gates: [{ name: 'session', pass: true, sinceMs: 13_000 }] });
    expect(status.rules).toEqual({ panic: null, initialHold: null });
  });

  it('gives each member that is out its reason', () => {
    expect(vipStatus(facts()).members[1]).toMatchObject({ state: 'out', reason: 'hold timer expired' });
  });

  it.each([
    [1000, 'BFD down for 12.3 s'],
    [-186_700, 'BFD down for 200 s'],
  ])('says since when BFD has been down (%i)', (reasonSince, reason) => {
    const members = [{ ...out, reason: 'BFD down', reasonSince }];
    expect(vipStatus(facts({ members })).members[0]).toMatchObject({ bfd: 'Down', reason });
  });

  it('says for how long a member is held back that left too often', () => {
    const members = [active, { ...out, exits: 3, heldUntil: 15_300 }];
    expect(vipStatus(facts({ members })).members.map((one) => [one.recentExits, one.heldBackForMs])).toEqual([
      [0, null],
      [3, 2000],
    ]);
  });

  it('says since when health is overruled, and for how long an empty pool waits for others', () => {
    const rules = { panicSince: 10_000, initialHold: { since: 13_000, until: 15_000 } };
    expect(vipStatus(facts({ rules })).rules).toEqual({
      panic: { sinceMs: 3_300 },
      initialHold: { sinceMs: 300, endsInMs: 1_700 },
    });
  });

  it.each([
    ['nobody', [], false],
    ['an upstream that has it', [true], true],
    ['upstreams of which one has it', [false, true], true],
    ['upstreams that have nothing', [false, false], false],
  ])('is advertised where the Adj-RIB-Out of an upstream holds it: %s', (_, upstreams, advertised) => {
    const advertisements = upstreams.map((has, n) => ({ upstream: `${n}`, advertised: has, reason: '' }));
    expect(vipStatus(facts({ advertisements }))).toMatchObject({ ready: true, advertised, advertisements });
  });

  it('is not ready when the kernel forwards to nobody', () => {
    const shares = [{ nextHop: '10.0.0.11', problem: 'eth0 is down' }];
    const status = vipStatus(facts({ forwarding: [], shares }));
    expect(status).toMatchObject({ ready: false });
    expect(status.members[0]?.reason).toBe('not forwarded to: eth0 is down');
  });

  it('says nothing of forwarding where a member in the pool is to get nothing new, as one that is drained', () => {
    const drained: MemberView = { ...active, state: 'draining', weight: 1, reason: 'drained by command' };
    const shares = [{ nextHop: '10.0.0.11', problem: '' }];
    const [member] = vipStatus(facts({ members: [drained], forwarding: [], shares })).members;
    expect(member).toMatchObject({ forwardingProblem: '', reason: 'drained by command' });
  });

  it('says so when the data plane knows nothing of a member in the pool', () => {
    const [member] = vipStatus(facts({ forwarding: [], title: 'HAProxy' })).members;
    expect(member?.forwardingProblem).toBe('HAProxy has nothing for it');
  });

  it.each([
    [true, 'probes time out; HAProxy says UP: L7OK'],
    [false, 'probes time out'],
  ])('says where the check of the data plane finds a member good that fails ours (%s)', (passes, reason) => {
    const failing: MemberView = { ...active, health: 'failing', reason: 'probes time out' };
    const check = { passes, text: passes ? 'UP: L7OK' : 'DOWN: L4TOUT' };
    const shares = [{ nextHop: '10.0.0.11', problem: '', check }];
    const [member] = vipStatus(facts({ title: 'HAProxy', members: [failing], shares })).members;
    expect(member?.reason).toBe(reason);
  });

  it('counts as healthy only who is in the pool and passes', () => {
    const sick: MemberView = { ...active, nextHop: '10.0.0.12', health: 'failing' };
    expect(vipStatus(facts({ members: [active, sick, out] })).status).toBe('1 of 3 members healthy');
  });

  it('says so when there are no members yet', () => {
    expect(vipStatus(facts({ members: [], forwarding: [] })).status).toBe('no members yet');
  });
});
