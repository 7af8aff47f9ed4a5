import { expect, it } from 'vitest';
import { routerSchema } from '../config/schema.ts';
import { type VipChanges, vipChanges } from './vip-changes.ts';

const [one, two, three] = [{ address: '10.100.0.1' }, { address: '10.100.0.2' }, { address: '10.100.0.3' }];

function changes(before: readonly object[], after: readonly object[]): VipChanges {
  const neighbors = [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }];
  const [from, to] = [before, after].map((vips) => routerSchema.parse({ asn: 64512, vips, neighbors }).vips);
  return vipChanges(from ?? [], to ?? []);
}

it('finds what differs of VIPs by address, whatever the order', () => {
  expect(changes([one, two], [two, one])).toEqual({ added: [], removed: [], changed: [] });
  expect(changes([one, two], [{ ...two, machinePort: 7443 }, three])).toEqual({
    added: ['10.100.0.3'],
    removed: ['10.100.0.1'],
    changed: ['10.100.0.2'],
  });
});
