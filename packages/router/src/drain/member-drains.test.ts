import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OperatorDrain } from '../pool/operator-drain.ts';
import { running } from '../pool/testing/pool-bench.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { MemberDrains } from './member-drains.ts';

let folder: string;
let wall: number;
let heard: string[];
let applied: Map<string, OperatorDrain | undefined>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'member-drains-'));
  wall = Date.parse('2026-01-02T03:04:05Z');
  heard = [];
  applied = new Map();
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = (): string => join(folder, 'member-drains.json');

/** A router's drains of a pool with these members, whose clock began again. */
function start(...members: string[]): MemberDrains {
  const bench = running(...members);
  return new MemberDrains({
    path: path(),
    pools: new Map([['v', bench.pool]]),
    clock: new ManualClock(),
    wallClock: () => wall,
    apply: (nextHop, drain) => {
      applied.set(nextHop, drain);
      bench.send({ type: 'operator', nextHop, drain });
    },
    changed: (member, order) => void heard.push(`${member} ${order === undefined ? 'back' : order.wait}`),
  });
}

describe('members that the operator drains', () => {
  it('are drained until that is taken back, and told of', () => {
    const drains = start('a', 'b');
    expect(drains.drain({ member: 'a', wait: 5000, force: false })).toEqual({
      member: 'a',
      since: '2026-01-02T03:04:05.000Z',
      leavesInMs: 5000,
      force: false,
      inUse: ['10.100.0.1/32'],
    });
    wall += 6000;
    expect(drains.all()).toMatchObject([{ member: 'a', leavesInMs: 0 }]);
    drains.undrain('a');
    expect(drains.all()).toEqual([]);
    expect(applied).toEqual(new Map([['a', undefined]]));
    expect(heard).toEqual(['a 5000', 'a back']);
  });

  it('are refused by name where nobody else would be left, or nobody is known', () => {
    const drains = start('a', 'b');
    drains.drain({ member: 'b', wait: 0, force: false });
    const last = { member: 'a', wait: 0, force: false };
    expect(() => drains.drain(last)).toThrow('nobody else is active for 10.100.0.1/32');
    expect(() => drains.drain({ ...last, member: 'c' })).toThrow('no member c; known: a, b');
    expect(() => drains.undrain('a')).toThrow('a is not drained here; drained: b');
    expect(applied.has('a')).toBe(false);
    expect(drains.drain({ ...last, force: true })).toMatchObject({ inUse: [] });
  });

  it('are drained on after a restart, for the time that is left, whatever was done to the clock', () => {
    start('a', 'b', 'c').drain({ member: 'a', wait: 60_000, force: false });
    wall += 20_000;
    expect(start('b').restore()).toBeUndefined();
    expect(applied.get('a')).toEqual({ until: 40_000, isForced: false });
    wall -= 3_600_000;
    start('b').restore();
    expect(applied.get('a')).toEqual({ until: 60_000, isForced: false });
    wall += 24 * 3_600_000;
    const drains = start('b');
    drains.restore();
    expect(applied.get('a')).toEqual({ until: 0, isForced: false });
    // Also of one that is not there at the moment.
    drains.undrain('a');
    expect(start('b').restore()).toBeUndefined();
    expect(readFileSync(path(), 'utf8')).toContain('"drains": []');
  });

  it.each([
    ['a later release', '{"version":2,"drains":[]}'],
    ['half a file', '{"version":1,"dra'],
    ['somebody else', '{"version":1,"drains":[{"member":"a","since":"soon","wait":0,"force":false}]}'],
    ['too many', JSON.stringify({ version: 1, drains: Array.from({ length: 129 }, () => ({})) })],
  ])('are not those that %s has written: that file is put aside', (_what, text) => {
    writeFileSync(path(), text);
    const drains = start('a', 'b');
    expect(drains.restore()).toMatch(/is not what this release writes.*member-drains\.json\.refused now$/);
    expect([drains.all(), applied.size]).toEqual([[], 0]);
    drains.drain({ member: 'a', wait: 0, force: false });
    expect(readFileSync(`${path()}.refused`, 'utf8')).toBe(text);
    expect(readdirSync(folder).sort()).toEqual(['member-drains.json', 'member-drains.json.refused']);
  });

  it('are not those of a file that cannot even be put aside, and nothing ends by it', () => {
    writeFileSync(path(), 'x');
    mkdirSync(join(`${path()}.refused`, 'full'), { recursive: true });
    expect(start('a').restore()).toMatch(/is not what this release writes.*cannot be put aside: E/);
    expect(applied.size).toBe(0);
  });

  it('are not there where an earlier release was, which kept none', () => {
    const drains = start('a');
    expect(drains.restore()).toBeUndefined();
    expect(drains.all()).toEqual([]);
  });

  it('change nothing when they cannot be kept', () => {
    const drains = start('a', 'b');
    // Where the new file is written first.
    mkdirSync(`${path()}.new`);
    expect(() => drains.drain({ member: 'a', wait: 0, force: false })).toThrow(
      'nothing was changed, since it cannot be kept',
    );
    expect([drains.all(), applied.size, heard]).toEqual([[], 0, []]);
  });

  it('are a bounded number', () => {
    const members = Array.from({ length: 130 }, (_, n) => `m${n}`);
    const since = new Date(wall).toISOString();
    const kept = members.slice(0, 128).map((member) => ({ member, since, wait: 0, force: false }));
    writeFileSync(path(), JSON.stringify({ version: 1, drains: kept }));
    const drains = start(...members);
    expect(drains.restore()).toBeUndefined();
    const one = { member: 'm128', wait: 0, force: false };
    expect(() => drains.drain(one)).toThrow('128 members are drained already');
    // One that is among them can still be changed.
    expect(drains.drain({ member: 'm0', wait: 1000, force: false })).toMatchObject({ leavesInMs: 1000 });
    drains.undrain('m0');
    expect(drains.drain(one)).toMatchObject({ member: 'm128' });
  });
});
