import { expect, it } from 'vitest';
import { routerSchema } from '../config/schema.ts';
import type { PoolEvent } from './pool-event.ts';
import { VipPools } from './vip-pools.ts';

const vip = '10.0.0.100';
const first = '10.0.0.11';

/** Whether an empty pool waits for others when the first member of a list is good. */
function waits(
  config: { readonly members: object; readonly neighbors?: readonly object[] },
  ...listed: string[]
): boolean {
  const { members, neighbors = [] } = config;
  const kubernetes = { kubeconfig: '/etc/bgp-lb/kubeconfig' };
  const parsed = routerSchema.parse({ asn: 64512, vips: [{ address: vip, members }], neighbors, kubernetes });
  const pool = new VipPools(parsed).all.get(`${vip}/32`);
  const probed: PoolEvent = { type: 'probed', nextHop: first, verdict: 'good', detail: '' };
  const all = listed.map((address) => ({ name: address, address, draining: false }));
  pool?.handle({ type: 'listed', source: { kind: 'static', name: '' }, members: all }, 0);
  for (let i = 0; i < 2; i += 1) pool?.handle(probed, 0);
  return pool?.nextHops().length === 0;
}

const range = { name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 };
const configMap = { namespace: 'lb', name: 'pool' };

it.each([
  ['a list of addresses', { members: { bgp: false, static: [{ address: first }] } }],
  ['a name that was looked up', { members: { bgp: false, static: [{ address: 'm1.example.net' }] } }],
  ['a ConfigMap', { members: { bgp: false, configMap } }],
  ['a list and BGP, with no master', { members: { static: [{ address: first }] } }],
])('a pool waits for nobody when all members of %s are good', (_, config) => {
  expect(waits(config, first)).toBe(false);
});

it.each([
  [
    'one of a list of addresses',
    { members: { bgp: false, static: [{ address: first }, { address: '10.0.0.12' }] } },
  ],
  [
    'a master that is configured',
    {
      members: { static: [{ address: first }] },
      neighbors: [{ name: 'm2', role: 'master', address: '10.0.0.12', asn: 64512 }],
    },
  ],
  ['masters of a range', { members: { configMap }, neighbors: [range] }],
])('a pool waits for %s that is not there', (_, config) => {
  expect(waits(config, first)).toBe(true);
});

it('a pool waits for another member of a ConfigMap', () => {
  expect(waits({ members: { bgp: false, configMap } }, first, '10.0.0.12')).toBe(true);
});
