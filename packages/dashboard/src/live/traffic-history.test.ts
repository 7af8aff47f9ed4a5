import { describe, expect, it } from 'vitest';
import { TrafficHistory } from './traffic-history.ts';

const sample = (nextHop: string, share: number, packets?: number) => ({ nextHop, share, packets });

describe('the traffic of a VIP over time', () => {
  it('has the share of each member in percent, and its packets a second', () => {
    const history = new TrafficHistory(10);
    history.add(100, [sample('10.0.0.11', 0.5, 1000), sample('10.0.0.12', 0.5, 0)]);
    history.add(102, [sample('10.0.0.11', 1, 1300)]);
    expect(history.series()).toEqual({
      times: [100, 102],
      members: [
        { nextHop: '10.0.0.11', shares: [50, 100], rates: [null, 150] },
        { nextHop: '10.0.0.12', shares: [50, null], rates: [null, null] },
      ],
    });
  });

  it.each([
    ['began again', 1000, 3],
    ['are not counted', 1000, undefined],
  ])('says nothing of packets that %s', (_, before, after) => {
    const history = new TrafficHistory(10);
    history.add(1, [sample('m1', 1, before)]);
    history.add(2, [sample('m1', 1, after)]);
    expect(history.series().members[0]?.rates).toEqual([null, null]);
  });

  it('keeps the last moments only, in order of addresses', () => {
    const history = new TrafficHistory(2);
    history.add(1, [sample('gone', 1)]);
    history.add(2, [sample('10.0.0.11', 1)]);
    history.add(3, [sample('10.0.0.2', 1)]);
    expect(history.series().times).toEqual([2, 3]);
    expect(history.series().members.map(({ nextHop }) => nextHop)).toEqual(['10.0.0.2', '10.0.0.11']);
  });

  it('leaves out a moment that is not later than the last', () => {
    const history = new TrafficHistory(5);
    history.add(2, []);
    history.add(2, [sample('m1', 1)]);
    history.add(1, [sample('m1', 1)]);
    expect(history.series().times).toEqual([2]);
  });
});
