import { describe, expect, it } from 'vitest';
import { judgePath, type MemberPath, type PathProbe } from './member-path.ts';

const good = (...names: string[]): PathProbe => ({ answered: true, detail: 'answered 200', names });
const silent: PathProbe = { answered: false, detail: 'the connection timed out', names: [] };
const eth0 = { name: 'eth0', kind: '', isPointToPoint: false, members: 3 };
const wg0 = { name: 'wg0', kind: 'wireguard', isPointToPoint: true, members: 3 };
const path: MemberPath = {
  vip: '10.100.0.1/32',
  name: 'm1',
  nextHop: '10.0.0.11',
  link: eth0,
  byVip: good('m1', 'kubernetes'),
  direct: good('kubernetes', 'm1'),
};

describe('the path to a member', () => {
  it.each<[string, Partial<MemberPath>, string, RegExp]>([
    ['answers by the VIP', {}, 'passes', /by eth0$/],
    ['answers by the VIP alone', { direct: silent }, 'passes', /by eth0$/],
    [
      'is not ready but answers',
      { byVip: { ...good('kubernetes', 'm1'), detail: 'answered 500' } },
      'passes',
      /./,
    ],
    [
      'drops the VIP, or answers from it',
      { byVip: silent },
      'dropped',
      /fails: the connection timed out; its own address says: answered 200$/,
    ],
    [
      'leads to another master',
      { byVip: good('kubernetes', 'm2') },
      'elsewhere',
      /certificate names kubernetes, m2$/,
    ],
    ['is dead', { byVip: silent, direct: silent }, 'untested', /does not answer by eth0/],
    ['is away', { link: null, byVip: silent, direct: silent }, 'untested', /no route/],
    [
      'shares an interface without next hops',
      { link: wg0 },
      'shared',
      /^3 members are behind wg0 \(wireguard\)/,
    ],
    ['has such an interface for itself', { link: { ...wg0, members: 1 } }, 'passes', /by wg0 \(wireguard\)$/],
    [
      'is asked at its own address',
      { byVip: null, link: wg0 },
      'passes',
      /own address answers by wg0 \(wireguard\)$/,
    ],
    ['is asked there and dead', { byVip: null, direct: silent }, 'untested', /own address does not answer/],
  ])('of a member that %s', (_what, changes, verdict, text) => {
    const judged = judgePath({ ...path, ...changes });
    expect(judged.verdict).toBe(verdict);
    expect(judged.text).toMatch(text);
  });
});
