import { describe, expect, it } from 'vitest';
import type { MemberPath } from '../paths/member-path.ts';
import { checkPaths } from './check-paths.ts';

const answer = { answered: true, detail: 'answered 200', names: ['m1'] };
const path: MemberPath = {
  vip: '10.100.0.1/32',
  name: 'm1',
  nextHop: '10.0.0.11',
  link: { name: 'eth0', kind: 'veth', isPointToPoint: false, members: 3 },
  byVip: answer,
  direct: answer,
};
const silent = { answered: false, detail: 'the connection timed out', names: [] };

describe('doctor about the paths to members', () => {
  it('is content with one that is answered', () => {
    expect(checkPaths([path])).toMatchObject([
      { level: 'good', check: 'path', place: '10.100.0.1/32 by m1 10.0.0.11' },
    ]);
  });

  it.each<[string, Partial<MemberPath>, string, RegExp]>([
    ['drops', { byVip: silent }, 'fault', /firewall.*dataplane.kind: haproxy/],
    [
      'drops over a tunnel',
      { byVip: silent, link: { name: 'wg0', kind: 'wireguard', isPointToPoint: true, members: 1 } },
      'fault',
      /^wg0 takes from a peer.*dataplane.kind: haproxy/,
    ],
    [
      'shares a tunnel',
      { link: { name: 'wg0', kind: 'wireguard', isPointToPoint: true, members: 3 } },
      'fault',
      /^dataplane.kind: haproxy/,
    ],
    [
      'leads elsewhere',
      { byVip: { ...answer, names: ['m2'] } },
      'fault',
      /who else answers.*docs\/overlay.md/,
    ],
    ['is dead', { byVip: silent, direct: silent }, 'warning', /API server/],
  ])('names one that %s, with what to change', (_what, changes, level, fix) => {
    const [finding] = checkPaths([{ ...path, ...changes }]);
    expect(finding?.level).toBe(level);
    expect(finding?.fix).toMatch(fix);
  });

  it('names a member without a name once', () => {
    expect(checkPaths([{ ...path, name: path.nextHop }])[0]?.place).toBe('10.100.0.1/32 by 10.0.0.11');
  });
});
