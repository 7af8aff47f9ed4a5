import { describe, expect, it } from 'vitest';
import type { Resolution } from './desired-objects.ts';
import { LinkWatch } from './link-watch.ts';

const found: Resolution = { interfaceIndex: 2, interfaceName: 'eth0' };
const lost: Resolution = { problem: 'no carrier on eth0' };

describe('the watch over links', () => {
  it('says once that a way is lost, and once that it is there again', () => {
    const watch = new LinkWatch();
    const ways = new Map<string, Resolution>([
      ['a', found],
      ['b', found],
    ]);
    const look = () => watch.look(ways.keys(), (nextHop) => ways.get(nextHop) ?? found);
    expect(look()).toEqual([]);
    ways.set('a', lost);
    expect(look()).toEqual([{ nextHop: 'a', problem: 'no carrier on eth0' }]);
    expect(look()).toEqual([]);
    ways.set('a', { problem: 'eth0 is down' });
    expect(look()).toEqual([{ nextHop: 'a', problem: 'eth0 is down' }]);
    ways.set('a', found);
    expect(look()).toEqual([{ nextHop: 'a', problem: undefined }]);
    expect(look()).toEqual([]);
  });

  it('takes back what it said of a next hop that nobody asks for any more', () => {
    const watch = new LinkWatch();
    watch.look(['a'], () => lost);
    expect(watch.look([], () => lost)).toEqual([{ nextHop: 'a', problem: undefined }]);
  });

  it('does not take a refusal of the kernel for a lost way', () => {
    const refused: Resolution = { problem: 'set-nexthop: EINVAL', isRefusal: true };
    expect(new LinkWatch().look(['a'], () => refused)).toEqual([]);
  });
});
