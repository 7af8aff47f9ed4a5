import { describe, expect, it } from 'vitest';
import { CarriedVips } from './carried-vips.ts';

const [first, second] = ['10.100.0.1/32', '10.100.0.2/32'];
const [one, two] = [
  { address: '10.100.0.1', port: 6443 },
  { address: '10.100.0.2', port: 6443 },
];
const member = [{ nextHop: '10.0.0.11', weight: 256 }];

/** The first VIP, which has a member. */
function carried(): CarriedVips {
  const vips = new CarriedVips([{ ...one, prefix: first }]);
  vips.setNextHops(new Map([[first, member]]));
  return vips;
}

describe('the VIPs that the kernel carries', () => {
  it('does not forward a new one before the filter knows it', () => {
    const vips = carried();
    expect(vips.set([one, two], 2000)).toEqual([second]);
    vips.setNextHops(new Map([[second, member]]));
    expect([...vips.wanted]).toEqual([
      [first, member],
      [second, []],
    ]);
    expect(vips.filtered([{ ...one, prefix: first }])).toBe(false);
    expect(vips.filtered(vips.all)).toBe(true);
    expect(vips.wanted.get(second)).toEqual(member);
    expect(vips.filtered(vips.all)).toBe(false);
  });

  it('forwards one that is there no more as it was, until its time is over', () => {
    const vips = carried();
    vips.set([two], 2000);
    expect([vips.isLeaving(first), vips.leavesAt]).toEqual([true, 2000]);
    expect(vips.wanted.get(first)).toEqual(member);
    expect(() => vips.setNextHops(new Map([[first, []]]))).toThrow('VIP 10.100.0.1/32: not configured');
    // Another reload gives it no more time.
    vips.set([two], 3000);
    vips.drop(1999);
    expect(vips.all.map(({ prefix }) => prefix)).toEqual([second, first]);
    vips.drop(2000);
    expect(vips.all.map(({ prefix }) => prefix)).toEqual([second]);
    expect(vips.leavesAt).toBeUndefined();
  });

  it('has one that comes back meanwhile as it was, with the port that it has now', () => {
    const vips = carried();
    vips.set([], 2000);
    expect(vips.set([{ ...one, port: 7443 }], 3000)).toEqual([first]);
    expect(vips.wanted.get(first)).toEqual(member);
    expect(vips.all).toEqual([{ ...one, port: 7443, prefix: first }]);
    vips.drop(Number.POSITIVE_INFINITY);
    expect(vips.all).toHaveLength(1);
  });
});
