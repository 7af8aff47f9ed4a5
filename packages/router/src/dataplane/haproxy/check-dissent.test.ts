import { expect, it } from 'vitest';
import { CheckDissent } from './check-dissent.ts';
import type { RunningServer } from './run-time-answers.ts';

const nextHop = '10.0.0.11';
const nextHops = [{ nextHop, weight: 256 }];
const up: RunningServer = {
  backend: 'members-10.0.0.100',
  name: nextHop,
  address: nextHop,
  port: 6443,
  admin: 'ready',
  weight: 256,
  isChecked: true,
  isUp: true,
  status: 'UP',
  check: 'L7OK',
  detail: 'Layer7 check passed',
  sessions: 0,
};
const down: RunningServer = { ...up, isUp: false, status: 'DOWN', check: 'L4TOUT', detail: 'timeout' };
const never = (): boolean => false;
const always = (): boolean => true;

it.each([
  [
    'DOWN while the pool uses it',
    down,
    up,
    never,
    'HAProxy says DOWN: L4TOUT timeout; the health check passes',
  ],
  [
    'UP while the pool uses it against its health',
    up,
    down,
    always,
    'HAProxy says UP: L7OK Layer7 check passed; the health check fails',
  ],
])('tells once when HAProxy says %s for long, and when it does no more', (_, other, same, isByPool, text) => {
  const dissent = new CheckDissent();
  const look = (server: RunningServer, now: number) => dissent.look(nextHops, [server], isByPool, now);
  expect(look(same, 0)).toEqual([]);
  expect([look(other, 100), look(other, 2_099)]).toEqual([[], []]);
  expect(look(other, 2_100)).toEqual([{ nextHop, text }]);
  expect(look(other, 9_000)).toEqual([]);
  expect(look(same, 9_100)).toEqual([{ nextHop, text: undefined }]);
  expect(look(same, 9_200)).toEqual([]);
});

it('tells nothing of what was over soon', () => {
  const dissent = new CheckDissent();
  expect(dissent.look(nextHops, [down], never, 0)).toEqual([]);
  expect(dissent.look(nextHops, [up], never, 1_900)).toEqual([]);
  expect(dissent.look(nextHops, [down], never, 2_000)).toEqual([]);
  expect(dissent.look(nextHops, [down], never, 3_900)).toEqual([]);
});

it.each<[string, Partial<RunningServer>]>([
  ['was not checked yet', { check: '' }],
  ['is not checked at the moment', { isChecked: false }],
  ['is no member of the pool', { name: '10.0.0.99' }],
])('has no word on a server that %s', (_, change) => {
  const dissent = new CheckDissent();
  const servers = [{ ...down, ...change }];
  expect([0, 5_000].map((now) => dissent.look(nextHops, servers, never, now))).toEqual([[], []]);
});

it('says that it is over when the member leaves the pool', () => {
  const dissent = new CheckDissent();
  dissent.look(nextHops, [down], never, 0);
  dissent.look(nextHops, [down], never, 3_000);
  expect(dissent.look([], [down], never, 3_100)).toEqual([{ nextHop, text: undefined }]);
});
