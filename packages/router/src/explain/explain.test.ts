import { formatTable } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { type ExplainedNeighbor, type ExplainedStatus, explain, explanationTables } from './explain.ts';

const member = {
  name: '10.0.0.11',
  nextHop: '10.0.0.11',
  state: 'active',
  inPool: true,
  weight: 256,
  session: 'Established',
  sources: [{ kind: 'bgp', name: '', says: 'announced' }],
  bfd: 'Up',
  health: 'passing',
  reason: '',
  sinceMs: 61_000,
  recentExits: 0,
  heldBackForMs: null,
  drainedHere: false,
  forwardingProblem: '',
  gates: [
    { name: 'session', pass: true, detail: 'Established', sinceMs: 70_000 },
    { name: 'flap back-off', pass: true, detail: '', sinceMs: 70_000 },
  ],
} as const;
const status: ExplainedStatus = {
  memberSources: [],
  vips: [
    {
      vip: '10.100.0.1/32',
      endpoint: '10.100.0.1:443',
      ready: true,
      readySinceMs: 3_000,
      status: '1 of 2 members healthy',
      advertised: true,
      advertisements: [],
      rules: { panic: null, initialHold: null },
      obstacle: null,
      clients: null,
      members: [
        member,
        {
          ...member,
          name: '10.0.0.12',
          nextHop: '10.0.0.12',
          state: 'draining',
          weight: 1,
          reason: 'drained by command',
          sinceMs: 5_000,
        },
      ],
    },
  ],
  drain: { phase: 'none', sinceMs: null },
  healthCheck: { verified: true, detail: 'checked against the cluster CA' },
  bfd: { scheduling: 'SCHED_FIFO 10', problems: [] },
  dataplane: { kind: 'kernel', title: 'the kernel', destination: 'vip', problems: [], warnings: [] },
  onLink: [],
  vrrp: null,
};
const neighbor = (
  role: ExplainedNeighbor['role'],
  address: string,
  state: ExplainedNeighbor['state'] = 'Established',
): ExplainedNeighbor => ({
  name: address,
  address,
  role,
  state,
  sinceMs: 2_000,
  lastDown: { text: 'hold timer', agoMs: 9_000 },
  lastNotificationSent: null,
  lastNotificationReceived: null,
  lastFailure: null,
});

const failing = (
  changes: Partial<ExplainedStatus['vips'][number]>,
  neighbors: readonly ExplainedNeighbor[] = [],
): string[] =>
  explain({ ...status, vips: status.vips.map((vip) => ({ ...vip, ...changes })) }, neighbors)
    .flatMap(({ reasons }) => reasons)
    .filter(({ pass }) => !pass)
    .map(({ what, reason }) => `${what}: ${reason}`);

describe('explain of the router', () => {
  it('says first what is not as it should be, since when, why, and what changes it', () => {
    const [explanation] = explain(status, []);
    expect(explanation?.reasons.map(({ what, pass }) => [what, pass])).toEqual([
      ['member 10.0.0.12', false],
      ['gate pool', true],
      ['gate initial hold', true],
      ['gate panic threshold', true],
      ['gate kernel', true],
      ['gate drain', true],
      ['member 10.0.0.11', true],
      ['health check', true],
    ]);
    expect(explanation?.reasons[0]).toMatchObject({
      sinceMs: 5_000,
      reason: 'draining, weight 1, session Established, BFD Up, health passing: drained by command',
      next: expect.stringContaining('bgp-lb-speaker undrain'),
    });
    expect(explanation?.reasons.slice(1).every(({ next }) => next === '')).toBe(true);
  });

  it('sends to no speaker for a member that a list names, and says what each source says of it', () => {
    const views = [{ kind: 'configMap', name: 'lb/pool', says: 'listed' }];
    const listed = { ...member, state: 'out', inPool: false, session: 'none', sources: views } as const;
    const source = {
      kind: 'configMap',
      name: 'lb/pool',
      vips: ['10.100.0.1'],
      members: 1,
      heardMs: 5,
    } as const;
    const [first] = status.vips;
    const [explained] = explain(
      {
        ...status,
        vips: first === undefined ? [] : [{ ...first, members: [listed] }],
        memberSources: [
          { ...source, detail: 'generation 7', problem: 'it is empty', ignored: '', credential: null },
        ],
      },
      [],
    );
    const of = (what: string) => explained?.reasons.find((one) => one.what === what);
    expect(of(`member ${listed.name}`)?.next).toContain('has the VIP on an interface');
    expect(of(`sources of ${listed.name}`)?.reason).toBe('configMap lb/pool: listed');
    expect(of('members of configMap lb/pool')).toMatchObject({
      pass: false,
      reason: '1 members, generation 7; it may be old: it is empty',
    });
  });

  it('names a master whose speaker is here and announces nothing', () => {
    const neighbors = [neighbor('master', '10.0.0.11'), neighbor('master', '10.0.0.13')];
    expect(failing({ members: [member] }, neighbors)).toEqual([
      'master 10.0.0.13: its speaker is here and announces nothing',
    ]);
    expect(failing({ members: [member] }, [neighbor('master', '10.0.0.13', 'OpenSent')])).toEqual([]);
  });

  it.each([
    ['nobody has announced it', [], /no source has a member for it/],
    [
      'nobody is in the pool',
      [{ ...member, state: 'out', inPool: false, weight: 0 }],
      /no member is in the pool/,
    ],
    ['the kernel refuses', [member], /the kernel does not forward it/],
  ] as const)('tells what a VIP without members waits for: %s', (_what, members, text) => {
    expect(failing({ ready: false, members }).join('\n')).toMatch(text);
  });

  it('tells of an upstream without a session, and of one that gets nothing', () => {
    const to = (advertised: boolean, reason = '') => ({
      members: [member],
      advertisements: [{ upstream: '10.0.1.1', advertised, reason }],
    });
    expect(failing(to(true), [neighbor('upstream', '10.0.1.1')])).toEqual([]);
    expect(failing(to(false, 'x'), [neighbor('upstream', '10.0.1.1', 'Active')])).toEqual([
      'upstream 10.0.1.1: the VIP is not advertised: BGP session Active: hold timer',
    ]);
    expect(failing(to(false, 'it is forwarded to no member'), [neighbor('upstream', '10.0.1.1')])).toEqual([
      'upstream 10.0.1.1: the VIP is not advertised: it is forwarded to no member',
    ]);
  });

  it('tells of the drain of this load balancer, and what ends it', () => {
    const [vip] = explain({ ...status, drain: { phase: 'withdrawn', sinceMs: 9_000 } }, []);
    expect(vip?.reasons.find(({ what }) => what === 'gate drain')).toEqual({
      what: 'gate drain',
      pass: false,
      sinceMs: 9_000,
      reason: 'this load balancer is drained: the VIPs are withdrawn',
      next: '`bgp-lb-router undrain`',
    });
  });

  it('tells of the rules that hold for all members, with since when and for how long more', () => {
    const rules = { panic: { sinceMs: 4_000 }, initialHold: { sinceMs: 500, endsInMs: 1_500 } };
    const [vip] = explain({ ...status, vips: status.vips.map((one) => ({ ...one, rules })) }, []);
    const found = vip?.reasons.filter(({ what }) => /panic|initial/.test(what));
    expect(found?.map(({ what, pass, sinceMs }) => [what, pass, sinceMs])).toEqual([
      ['gate initial hold', false, 500],
      ['gate panic threshold', false, 4_000],
    ]);
    expect(found?.[0]?.reason).toContain('for 1.5 s more');
    expect(found?.[1]?.reason).toContain('health is overruled');
  });

  it('tells of each thing that keeps a member from its share, with since when and what opens it', () => {
    const gates = [
      { name: 'session', pass: true, detail: 'Established', sinceMs: 70_000 },
      { name: 'BFD', pass: false, detail: 'BFD is not Up (strict)', sinceMs: 3_000 },
      { name: 'flap back-off', pass: false, detail: 'left 3 times of late', sinceMs: 1_000 },
    ] as const;
    const held = { ...member, state: 'out', inPool: false, weight: 0, heldBackForMs: 3_000, gates } as const;
    const [vip] = explain({ ...status, vips: status.vips.map((one) => ({ ...one, members: [held] })) }, []);
    const found = vip?.reasons.filter(({ what }) => what.startsWith('member 10.0.0.11:'));
    expect(found).toEqual([
      {
        what: 'member 10.0.0.11: BFD',
        pass: false,
        sinceMs: 3_000,
        reason: 'BFD is not Up (strict)',
        next: expect.stringContaining('strict'),
      },
      {
        what: 'member 10.0.0.11: flap back-off',
        pass: false,
        sinceMs: 1_000,
        reason: 'left 3 times of late, for 3.0 s more',
        next: expect.stringContaining('pool.flapHold'),
      },
    ]);
  });

  it.each([
    ['answering', null, false, true],
    ['standby', '02:00:00:00:00:01', true, true],
    ['standby', '02:00:00:00:00:01', false, false],
    ['answering', '02:00:00:00:00:01', false, false],
    ['probing', null, false, false],
    ['absent', null, false, false],
  ] as const)('tells whether it is answered for on a link: %s, %s, %s', (phase, owner, isOwnerPeer, pass) => {
    const problem = phase === 'absent' ? 'eth0 is down' : '';
    const onLink = [
      {
        address: '10.100.0.1',
        interface: 'eth0',
        phase,
        owner,
        isOwnerPeer,
        problem,
        sinceMs: 7_000,
      } as const,
    ];
    const [vip] = explain({ ...status, onLink }, []);
    const found = vip?.reasons.find(({ what }) => what === 'gate on link eth0');
    expect(found).toMatchObject({ pass, sinceMs: 7_000, reason: expect.stringMatching(owner ?? phase) });
    if (owner !== null && !isOwnerPeer) expect(found?.next).toContain(`ip neigh | grep ${owner}`);
    expect(vip?.reasons.find(({ what }) => what === 'gate kernel')?.sinceMs).toBe(3_000);
  });

  it('speaks of HAProxy where that carries the VIPs, and of a member that it does not use', () => {
    const dataplane = {
      kind: 'haproxy',
      title: 'HAProxy',
      destination: 'member',
      problems: ['no answer'],
      warnings: [],
    } as const;
    const forwardingProblem = 'HAProxy says DOWN: L4TOUT';
    const unused = { ...member, forwardingProblem, reason: `not forwarded to: ${forwardingProblem}` };
    const listed = { ...member, name: 'm2', session: 'none', state: 'out', inPool: false } as const;
    const vips = status.vips.map((one) => ({ ...one, ready: false, members: [unused, listed] }));
    const [vip] = explain({ ...status, dataplane, vips }, []);
    const of = (what: string) => vip?.reasons.find((one) => one.what === what);
    expect(of('gate haproxy')).toMatchObject({ pass: false, reason: 'HAProxy does not forward it' });
    expect(of('haproxy')).toMatchObject({ pass: false, reason: 'no answer' });
    expect(of('member 10.0.0.11')).toMatchObject({
      pass: false,
      next: expect.stringContaining('`bgp-lb-router fib`'),
    });
    expect(of('member m2')?.next).toMatch(/^whether its API server answers/);
    expect(JSON.stringify(vip)).not.toMatch(/kernel|on an interface/);
  });

  it('names the command that takes a member back which the operator has drained here', () => {
    const drained = { ...member, state: 'out', inPool: false, weight: 0, drainedHere: true } as const;
    const [vip] = explain(
      { ...status, vips: status.vips.map((one) => ({ ...one, members: [drained] })) },
      [],
    );
    expect(vip?.reasons.find(({ what }) => what === 'member 10.0.0.11')?.next).toBe(
      '`bgp-lb-router undrain 10.0.0.11`',
    );
  });

  it('is a table for people', () => {
    const text = explanationTables(explain(status, []))
      .map((table) => formatTable(table))
      .join('\n');
    expect(text).toMatch(/10\.100\.0\.1\/32 +10\.100\.0\.1:443 +yes +- +1 of 2 members healthy/);
    expect(text).toMatch(/member 10\.0\.0\.12 +no +5s +draining/);
  });
});
