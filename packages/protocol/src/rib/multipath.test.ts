import { describe, expect, it } from 'vitest';
import { parseIpAddress } from '../types/ip-address.ts';
import { parseRouterId } from '../types/router-id.ts';
import { pathFrom, source } from './kit/paths.ts';
import type { Selection } from './multipath.ts';
import { selectPaths } from './multipath.ts';
import type { PathSource } from './path.ts';

/** `m11 best, m12 multipath`: every path, in the order of the selection; what traffic may take has a star. */
function summary({ paths }: Selection): string {
  return paths
    .map(({ path, reason, isUsed }) => `${path.from.name}${isUsed ? '*' : ''} ${reason}`)
    .join(', ');
}

const m11 = source(11);
const m12 = source(12);
const m13 = source(13);

describe('selectPaths', () => {
  it('uses all that are as good as the best, in the order of the tie-breakers', () => {
    expect(summary(selectPaths([m13, m11, m12].map((from) => pathFrom(from))))).toBe(
      'm11* best, m12* multipath, m13* multipath',
    );
  });

  it('leaves out one that lost at a step that says how good it is, and names the step', () => {
    const draining = pathFrom(m11, { localPref: 0 });
    expect(summary(selectPaths([draining, pathFrom(m12), pathFrom(m13)]))).toBe(
      'm12* best, m13* multipath, m11 lower LOCAL_PREF',
    );
  });

  it('counts a next hop once: the way with the shorter CLUSTER_LIST stands for it', () => {
    const reflector = source(9);
    const originator = { originatorId: m11.routerId, nextHop: m11.address };
    const again = pathFrom(reflector, { ...originator, clusterList: [parseRouterId('10.0.0.9')] });
    expect(summary(selectPaths([again, pathFrom(m11), pathFrom(m12)]))).toBe(
      'm11* best, m9 same next hop as a better path, m12* multipath',
    );
  });

  it('takes what only another reflector knows', () => {
    const far = { originatorId: m13.routerId, nextHop: m13.address };
    const reflected = pathFrom(source(9), { ...far, clusterList: [parseRouterId('10.0.0.9')] });
    expect(summary(selectPaths([reflected, pathFrom(m11)]))).toBe('m11* best, m9* multipath');
  });

  it('has no best where no next hop can be reached', () => {
    const selection = selectPaths([pathFrom(m11)], { isReachable: () => false });
    expect(selection.best).toBeUndefined();
    expect(summary(selection)).toBe('m11 next hop unreachable');
  });

  it('does not take paths without a next hop for different ones', () => {
    const without = { nextHop: undefined };
    expect(summary(selectPaths([pathFrom(m11, without), pathFrom(m12, without)]))).toBe(
      'm11* best, m12 same next hop as a better path',
    );
    expect(summary(selectPaths([pathFrom(m11, { nextHop: parseIpAddress('fe80::1') })]))).toBe('m11* best');
  });

  it('takes a link-local next hop for another one on each link', () => {
    const nextHop = parseIpAddress('fe80::1');
    const on = (peer: PathSource, zone: string) => pathFrom({ ...peer, zone }, { nextHop });
    expect(summary(selectPaths([on(m11, 'eth0'), on(m12, 'eth1'), on(m13, 'eth0')]))).toBe(
      'm11* best, m12* multipath, m13 same next hop as a better path',
    );
  });
});
