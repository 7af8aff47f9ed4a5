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
  bfd: 'Up',
  health: 'passing',
  reason: '',
  sinceMs: 61_000,
  recentExits: 0,
  heldBackForMs: null,
  drainedHere: false,
} as const;
const status: ExplainedStatus = {
  vips: [
    {
      vip: '10.100.0.1/32',
      endpoint: '10.100.0.1:443',
      ready: true,
      status: '1 of 2 members healthy',
      advertised: true,
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
  healthCheck: { verified: true, detail: 'checked against the cluster CA' },
  bfd: { scheduling: 'SCHED_FIFO 10', problems: [] },
  dataplane: { kind: 'kernel', problems: [] },
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
  lastDown: { text: 'hold timer' },
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
      ['gate kernel', true],
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

  it('names a master whose speaker is here and announces nothing', () => {
    const neighbors = [neighbor('master', '10.0.0.11'), neighbor('master', '10.0.0.13')];
    expect(failing({ members: [member] }, neighbors)).toEqual([
      'master 10.0.0.13: its speaker is here and announces nothing',
    ]);
    expect(failing({ members: [member] }, [neighbor('master', '10.0.0.13', 'OpenSent')])).toEqual([]);
  });

  it.each([
    ['nobody has announced it', [], /no master has announced it/],
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
    const ready = { members: [member] };
    expect(failing(ready, [neighbor('upstream', '10.0.1.1')])).toEqual([]);
    expect(failing(ready, [neighbor('upstream', '10.0.1.1', 'Active')])).toEqual([
      'upstream 10.0.1.1: BGP session Active: hold timer',
    ]);
    expect(failing({ ready: false, members: [] }, [neighbor('upstream', '10.0.1.1')])).toContain(
      'upstream 10.0.1.1: the VIP is not advertised',
    );
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
    expect(text).toMatch(/10\.100\.0\.1\/32 +10\.100\.0\.1:443 +yes +1 of 2 members healthy/);
    expect(text).toMatch(/member 10\.0\.0\.12 +no +5s +draining/);
  });
});
