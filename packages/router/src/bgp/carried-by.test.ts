import { expect, it } from 'vitest';
import { carriedBy } from './carried-by.ts';

it('withholds a VIP whose members are all in doubt, says why, and leaves out one without a pool', () => {
  const pools = new Map([
    ['a', { isDoubtful: false }],
    ['b', { isDoubtful: true }],
    ['c', { isDoubtful: false }],
  ]);
  const forwarding = (vip: string): string[] => (vip === 'c' ? [] : ['10.0.0.11', '10.0.0.12']);
  expect([...carriedBy(['a', 'b', 'c', 'gone'], pools, { forwarding })]).toEqual([
    ['a', { members: 2 }],
    ['b', { members: 0, withheld: expect.stringMatching(/BFD lost all/) }],
    ['c', { members: 0 }],
  ]);
});
