import { describe, expect, it } from 'vitest';
import type { MemberPath, PathProbe } from '../paths/member-path.ts';
import { DataPlaneTrial, type TrialState } from './data-plane-trial.ts';

const good: PathProbe = { answered: true, detail: 'answered 200', names: ['kubernetes'] };
const silent: PathProbe = { answered: false, detail: 'the connection timed out', names: [] };
const eth0 = { name: 'eth0', kind: 'veth', isPointToPoint: false, members: 2 };
const wg0 = { name: 'wg0', kind: 'wireguard', isPointToPoint: true, members: 1 };

const path = (n: number, changes: Partial<MemberPath> = {}): MemberPath => ({
  vip: '10.100.0.1/32',
  name: `m${n}`,
  nextHop: `10.0.0.1${n}`,
  link: eth0,
  byVip: good,
  direct: good,
  ...changes,
});
const dead = { byVip: silent, direct: silent };
const dropped = { byVip: silent };

/** The outcome of a test each second, until it is decided or the time is over; with when. */
function run(tests: (second: number) => readonly MemberPath[], seconds = 30): [number, TrialState] {
  const trial = new DataPlaneTrial();
  let state: TrialState = { waiting: 'never tested' };
  for (let second = 0; second <= seconds; second += 1) {
    state = trial.tested(tests(second), second * 1000);
    if ('kind' in state) return [second, state];
  }
  return [seconds, state];
}

describe('the data plane that is chosen', () => {
  it('is none while no member is known, or none answers', () => {
    expect(run(() => [])[1]).toEqual({ waiting: 'no member is known yet' });
    expect(run(() => [path(1, dead)])[1]).toMatchObject({ waiting: expect.stringContaining('own address') });
  });

  it('is the kernel soon after a first member that passes: others join a cluster through it', () => {
    expect(run((second) => (second < 7 ? [path(1, dead)] : [path(1)]))).toMatchObject([
      10,
      { kind: 'kernel' },
    ]);
  });

  it('is HAProxy where one of several is dropped, who is named', () => {
    expect(run(() => [path(1), path(2, dropped)])).toMatchObject([
      5,
      { kind: 'haproxy', reason: expect.stringMatching(/^m2: .*timed out/) },
    ]);
  });

  it('is HAProxy where the dropped one comes a moment after the first', () => {
    expect(run((second) => (second < 2 ? [path(1)] : [path(1), path(2, dropped)]))).toMatchObject([
      7,
      { kind: 'haproxy' },
    ]);
  });

  it('is the kernel where a member gets the VIP after its API server', () => {
    expect(run((second) => [path(1, second < 4 ? dropped : {})])).toMatchObject([7, { kind: 'kernel' }]);
  });

  it('is not kept waiting by one that is known and dead for long', () => {
    expect(run(() => [path(1), path(2, dead)])).toMatchObject([
      10,
      { kind: 'kernel', reason: 'requests to the VIPs through m1 are answered' },
    ]);
  });

  it('waits for no test where the interface has no link layer, even where the first member passes', () => {
    expect(run(() => [path(1, { link: wg0 })])).toMatchObject([0, { kind: 'haproxy' }]);
    expect(run(() => [path(1, { link: wg0, ...dead })])[1]).toHaveProperty('waiting');
  });

  it('asks for every VIP', () => {
    const other = { vip: '10.100.0.2/32', ...dropped };
    expect(run(() => [path(1), path(1, other)])).toMatchObject([5, { kind: 'haproxy' }]);
  });

  it('begins to wait again when all are gone', () => {
    const tests = (second: number): MemberPath[] => [path(1, second === 2 ? dead : {})];
    expect(run(tests)).toMatchObject([6, { kind: 'kernel' }]);
  });
});
