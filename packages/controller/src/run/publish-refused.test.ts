import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOOK } from '../core/deletion-hook.ts';
import { ControllerLab, NAMESPACE, PATHS } from '../testing/controller-lab.ts';
import { SteppedClock } from '../testing/stepped-clock.ts';

let lab: ControllerLab;

beforeEach(async () => {
  lab = new ControllerLab();
  await lab.start();
});

afterEach(async () => {
  await lab.close();
});

const endpoint = { host: '10.0.0.100', port: 6443 };
const endpointOf = (path: string): unknown =>
  (lab.api.object(path, 'prod') as { spec: { controlPlaneEndpoint?: unknown } }).spec.controlPlaneEndpoint;
const hasHook = (): boolean => lab.annotations('m1')[HOOK] !== undefined;

async function publishing(options: Parameters<ControllerLab['controller']>[0] = {}): Promise<void> {
  lab.machine(1);
  lab.loadBalancer('prod', {
    publishTo: { name: 'prod' },
    drain: { delay: '0s', timeout: '60s', hook: true },
  });
  lab.controller(options);
  await lab.until(() => lab.members() === 'm1' && hasHook());
  lab.host('lb-1');
}

/** An InfraCluster that others manage, whose kind may be read; `hasStatus`: it has a status of its own path. */
function infraOf(group: string, hasStatus: boolean): string {
  const [version, plural] = ['v1', 'plainclusters'];
  lab.api.define({ group, version, kind: 'PlainCluster', plural, hasStatus });
  const path = `/apis/${group}/${version}/namespaces/${NAMESPACE}/${plural}`;
  const annotations = { 'cluster.x-k8s.io/managed-by': 'x' };
  lab.create(path, 'PlainCluster', 'prod', { spec: {} }, { annotations });
  const infrastructureRef = { apiGroup: group, kind: 'PlainCluster', name: 'prod' };
  lab.create(PATHS.clusters, 'Cluster', 'prod', { spec: { infrastructureRef } });
  return path;
}

describe('an endpoint that is refused', () => {
  it('is said, and holds neither the status nor the deletion of a Machine', async () => {
    const path = infraOf('readonly.example.net', true);
    lab.allowMore({
      apiGroups: ['readonly.example.net'],
      resources: ['plainclusters'],
      verbs: ['list', 'watch'],
    });
    await publishing();
    await lab.until(() => lab.condition('EndpointPublished')?.reason === 'PublishRefused');
    expect(lab.condition('EndpointPublished')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('403'),
    });
    lab.host('lb-1', { 1: 'HTTP 500' });
    await lab.until(() => lab.status().status === '0 of 1 members healthy');
    lab.api.write('DELETE', `${PATHS.machines}/m1`);
    await lab.until(() => lab.pool()[0]?.draining === true);
    lab.host('lb-1', {}, { member: { connections: 0 } });
    await lab.until(() => !hasHook());
    expect(endpointOf(path)).toBeUndefined();
    expect(lab.events().map(({ reason }) => reason)).not.toContain('EndpointPublished');
    // Each attempt fails in the same way, which is not written again.
    const written = lab.api.written.filter(({ path: to }) => to === `${PATHS.loadBalancers}/prod/status`);
    expect(written.length).toBeLessThan(15);
    lab.allowMore({
      apiGroups: ['readonly.example.net'],
      resources: ['plainclusters', 'plainclusters/status'],
      verbs: ['list', 'watch', 'patch'],
    });
    lab.host('lb-1', { 1: 'HTTP 503' });
    await lab.until(() => lab.condition('EndpointPublished')?.reason === 'Published');
    expect(endpointOf(path)).toEqual(endpoint);
  });

  it('does not make a drain wait that is over by time, however long it has been refused', async () => {
    infraOf('readonly.example.net', true);
    lab.allowMore({
      apiGroups: ['readonly.example.net'],
      resources: ['plainclusters'],
      verbs: ['list', 'watch'],
    });
    const clock = new SteppedClock();
    await publishing({ clock, wallClock: () => clock.wall() });
    // Until the next attempt is minutes away.
    for (let round = 0; round < 18; round += 1) {
      lab.host('lb-1', {}, { member: { connections: 1 } });
      await lab.pass(clock, 20);
    }
    lab.api.write('DELETE', `${PATHS.machines}/m1`);
    await lab.until(() => lab.status().members?.[0]?.draining === true);
    for (let round = 0; round < 4; round += 1) {
      lab.host('lb-1', {}, { member: { connections: 1 } });
      await lab.pass(clock, 16);
    }
    await lab.until(() => lab.status().members?.[0]?.drained === true && !hasHook());
    expect(lab.condition('EndpointPublished')?.reason).toBe('PublishRefused');
  });

  it('is said of a kind that has no status to mark as provisioned', async () => {
    infraOf('infra2.example.net', false);
    lab.allowMore({
      apiGroups: ['infra2.example.net'],
      resources: ['*'],
      verbs: ['list', 'watch', 'patch'],
    });
    await publishing();
    await lab.until(() => lab.condition('EndpointPublished')?.reason === 'PublishRefused');
    expect(lab.condition('EndpointPublished')?.message).toContain('404');
    expect(lab.events().map(({ reason }) => reason)).not.toContain('EndpointPublished');
  });
});

describe('an endpoint that is empty', () => {
  it('is written, also where the empty one belongs to another manager', async () => {
    lab.create(PATHS.clusters, 'Cluster', 'prod', { spec: { controlPlaneEndpoint: { host: '', port: 0 } } });
    await publishing();
    await lab.until(() => lab.condition('EndpointPublished')?.status === 'True');
    expect(endpointOf(PATHS.clusters)).toEqual(endpoint);
  });
});
