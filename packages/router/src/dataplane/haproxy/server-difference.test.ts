import { describe, expect, it } from 'vitest';
import type { RunningServer } from './run-time-answers.ts';
import { serverDifference, type WantedServer, wantedServers } from './server-difference.ts';

const member = '10.0.0.11';
const wanted: WantedServer = { member, port: 6443, weight: 256, isDrained: false, isOverruled: false };
const running: RunningServer = {
  backend: 'members-10.0.0.100',
  name: member,
  address: member,
  port: 6443,
  admin: 'ready',
  weight: 256,
  isChecked: true,
  isUp: true,
  status: 'UP',
  check: 'L7OK',
  detail: '',
  sessions: 0,
};

function commands(one: readonly WantedServer[], has: readonly RunningServer[]): string[] {
  const all = serverDifference('10.0.0.100', one, has, () => 'ADDRESS check').commands;
  return all.map(({ command }) => command.replaceAll('members-10.0.0.100/10.0.0.11', 'X'));
}

describe('the difference between the members that are wanted and those of HAProxy', () => {
  it('is none where all is as wanted', () => {
    expect(serverDifference('10.0.0.100', [wanted], [running], () => '')).toEqual({
      commands: [],
      isWaiting: false,
    });
  });

  it('adds a member drained, so that it gets nothing before its first check', () => {
    expect(commands([wanted], [])).toEqual([
      'add server X ADDRESS check',
      'set server X state drain',
      'enable health X',
    ]);
  });

  it.each([
    ['before its first check', { check: '', isUp: true }],
    ['while its check fails', { check: 'L6RSP', isUp: false }],
    ['while it is not ready', { check: 'L7OKC', isUp: false }],
  ])('keeps a new member drained %s', (_, how) => {
    expect(commands([wanted], [{ ...running, admin: 'drain', ...how }])).toEqual([]);
    expect(commands([wanted], [{ ...running, admin: 'maint', ...how }])).toEqual([
      'set server X state drain',
    ]);
  });

  it('uses a member when its check has passed', () => {
    expect(commands([wanted], [{ ...running, admin: 'drain' }])).toEqual(['set server X state ready']);
  });

  it('leaves a member in use to its check', () => {
    expect(commands([wanted], [{ ...running, isUp: false, check: 'L4TOUT', status: 'DOWN' }])).toEqual([]);
  });

  it('ends the connections of a member that leaves before it deletes it', () => {
    expect(commands([], [{ ...running, sessions: 3 }])).toEqual([
      'set server X state maint',
      'shutdown sessions server X',
      'del server X',
    ]);
    expect(commands([], [{ ...running, admin: 'maint' }])).toEqual(['del server X']);
  });

  it('removes the dead before anything else', () => {
    const [first] = commands([{ ...wanted, member: '10.0.0.12' }], [running]);
    expect(first).toBe('set server X state maint');
  });

  it.each<[string, Partial<RunningServer>, string]>([
    ['weight', { weight: 5 }, 'set server X weight 256'],
    ['maint', { admin: 'maint' }, 'set server X state ready'],
    ['an address', { address: '10.0.0.99' }, 'set server X addr 10.0.0.11 port 6443'],
    ['no check', { isChecked: false }, 'enable health X'],
  ])('puts %s right that was set by hand', (_, how, command) => {
    expect(commands([wanted], [{ ...running, ...how }])).toEqual([command]);
  });

  it('uses an overruled member without its check', () => {
    const failing = { ...running, isUp: false, check: 'L7OKC', status: 'NOLB' };
    expect(commands([{ ...wanted, isOverruled: true }], [failing])).toEqual([
      'disable health X',
      'set server X health up',
    ]);
  });
});

describe('weights of the pool', () => {
  const drained = (weights: readonly number[]): boolean[] =>
    wantedServers(
      weights.map((weight, i) => ({ nextHop: `10.0.0.${i}`, weight })),
      6443,
      () => false,
    ).map(({ isDrained }) => isDrained);

  it('drain a member of the least weight beside others', () => {
    expect(drained([256, 1, 256])).toEqual([false, true, false]);
  });

  it('have those of the least weight serve where there are no others', () => {
    expect(drained([1, 1])).toEqual([false, false]);
  });

  it('come with the port that a member has of its own', () => {
    const [one] = wantedServers([{ nextHop: member, weight: 256, port: 7443 }], 6443, () => false);
    expect(one?.port).toBe(7443);
  });
});
