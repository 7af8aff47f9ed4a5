import { expect, it } from 'vitest';
import { carriedBy } from './carried-by.ts';

it('withholds a VIP whose members are all in doubt, or that something is in the way of, says why, and leaves out one without a pool', () => {
  const pools = new Map([
    ['a', { isDoubtful: false }],
    ['b', { isDoubtful: true }],
    ['c', { isDoubtful: false }],
    ['d', { isDoubtful: false }],
  ]);
  const obstacle = (vip: string): string | undefined => (vip === 'd' ? 'by ip rule 100' : undefined);
  const forwarding = (vip: string): string[] => (vip === 'c' ? [] : ['10.0.0.11', '10.0.0.12']);
  expect([...carriedBy(['a', 'b', 'c', 'd', 'gone'], pools, { forwarding, obstacle })]).toEqual([
    ['a', { members: 2 }],
    ['b', { members: 0, withheld: expect.stringMatching(/BFD lost all/) }],
    ['c', { members: 0 }],
    ['d', { members: 0, withheld: 'by ip rule 100' }],
  ]);
});
