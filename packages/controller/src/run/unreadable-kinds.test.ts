import { afterEach, beforeEach, expect, it } from 'vitest';
import { HOOK } from '../core/deletion-hook.ts';
import { ControllerLab, PATHS } from '../testing/controller-lab.ts';

const group = 'other.example.net';
const drain = { delay: '0s', timeout: '60s', hook: true };
let lab: ControllerLab;

beforeEach(async () => {
  lab = new ControllerLab();
  await lab.start();
  // Without the ClusterRole that would let the controller list it.
  lab.api.define({ group, version: 'v1', kind: 'Other', plural: 'others', hasStatus: true });
  lab.machine(1);
});

afterEach(async () => {
  await lab.close();
});

it('a provider whose kind cannot be listed is said, and members go on', async () => {
  lab.loadBalancer('prod', { drain, providerRef: { apiGroup: group, kind: 'Other', name: 'prod' } });
  lab.controller();
  await lab.until(() => lab.condition('ProviderReady')?.reason === 'ProviderNotReadable');
  expect(lab.condition('ProviderReady')).toMatchObject({
    status: 'Unknown',
    message: expect.stringContaining('403'),
  });
  await lab.until(() => lab.members() === 'm1' && lab.annotations('m1')[HOOK] !== undefined);
  expect(lab.status()).toMatchObject({ endpoint: 'https://10.0.0.100:6443', ready: false });
  lab.allowMore({ apiGroups: [group], resources: ['others'], verbs: ['list', 'watch'] });
  await lab.until(() => lab.condition('ProviderReady')?.reason === 'ProviderNotFound', 20_000);
});

it('an InfraCluster whose kind cannot be listed is said, and all else goes on', async () => {
  const infrastructureRef = { apiGroup: group, kind: 'Other', name: 'prod' };
  lab.create(PATHS.clusters, 'Cluster', 'prod', { spec: { infrastructureRef } });
  lab.loadBalancer('prod', { drain, publishTo: { name: 'prod' } });
  lab.controller();
  await lab.until(() => lab.members() === 'm1');
  lab.host('lb-1');
  await lab.until(() => lab.status().ready === true);
  expect(lab.condition('EndpointPublished')).toMatchObject({
    reason: 'InfraClusterNotReadable',
    message: expect.stringContaining('403'),
  });
});
