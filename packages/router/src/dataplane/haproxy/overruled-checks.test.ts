import { expect, it } from 'vitest';
import { OverruledChecks } from './overruled-checks.ts';
import type { RunningServer } from './run-time-answers.ts';

const nextHops = ['10.0.0.11', '10.0.0.12'].map((nextHop) => ({ nextHop, weight: 256 }));

function server(name: string, isUp: boolean, check: string): RunningServer {
  return {
    backend: 'members-10.0.0.100',
    name,
    address: name,
    port: 6443,
    admin: 'ready',
    weight: 256,
    isChecked: true,
    isUp,
    status: isUp ? 'UP' : 'DOWN',
    check,
    detail: '',
    sessions: 0,
  };
}

it('leaves a dead member to its check again when another is good, also while the pool uses everyone', () => {
  const checks = new OverruledChecks();
  const isByPool = (): boolean => true;
  const dead = [server('10.0.0.11', false, 'L4CON'), server('10.0.0.12', false, 'L4CON')];
  checks.look(nextHops, dead, isByPool, 0);
  expect([checks.has('10.0.0.11'), checks.has('10.0.0.12')]).toEqual([true, true]);
  // The pool's panic goes on for the first alone; HAProxy's check of the second has passed.
  const isFirst = (nextHop: string): boolean => nextHop === '10.0.0.11';
  const forced = [server('10.0.0.11', true, ''), server('10.0.0.12', true, '')];
  checks.look(nextHops, forced, isFirst, 5000);
  expect([checks.has('10.0.0.11'), checks.has('10.0.0.12')]).toEqual([true, false]);
  checks.look(nextHops, [server('10.0.0.11', true, ''), server('10.0.0.12', true, 'L7OK')], isFirst, 5200);
  expect([checks.has('10.0.0.11'), checks.has('10.0.0.12')]).toEqual([false, false]);
});
