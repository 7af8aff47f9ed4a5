import { expect, it } from 'vitest';
import { checkOwners } from './check-owners.ts';

const look = (owners: readonly string[]) =>
  checkOwners({
    addresses: ['10.0.0.100'],
    links: [{ index: 2, name: 'eth0', address: '02:00:00:00:00:01' }],
    ask: () => owners,
    isExpected: (owner) => owner === '02:00:00:00:00:10',
    fix: 'take it off that host',
  });

it('finds no fault while nobody answers, or a load balancer that is to', () => {
  expect(look([])).toMatchObject([{ level: 'good', value: 'nobody answers for 10.0.0.100' }]);
  expect(look(['02:00:00:00:00:10'])).toMatchObject([
    { level: 'good', value: expect.stringContaining('a load balancer of this configuration') },
  ]);
});

it('names another host that answers, also beside the load balancer', () => {
  for (const owners of [['02:00:00:00:00:66'], ['02:00:00:00:00:10', '02:00:00:00:00:66']]) {
    expect(look(owners)).toMatchObject([
      { level: 'fault', value: expect.stringContaining('02:00:00:00:00:66'), fix: 'take it off that host' },
    ]);
  }
});
