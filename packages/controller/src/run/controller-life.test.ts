import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOOK } from '../core/deletion-hook.ts';
import { ControllerLab, fasterClock, NAMESPACE, PATHS } from '../testing/controller-lab.ts';

let lab: ControllerLab;

beforeEach(async () => {
  lab = new ControllerLab();
  await lab.start();
});

afterEach(async () => {
  await lab.close();
});

const drain = { delay: '0s', timeout: '60s', hook: true };
const hasHook = (machine: string): boolean => lab.annotations(machine)[HOOK] !== undefined;

describe('the deletion of a Machine', () => {
  async function hooked(options: { readonly wallClock?: () => number } = {}): Promise<void> {
    for (const number of [1, 2]) lab.machine(number);
    lab.loadBalancer('prod', { drain });
    lab.controller(options);
    await lab.until(() => hasHook('m1') && hasHook('m2') && lab.members() === 'm1,m2');
    lab.host('lb-1', {}, { member: { connections: 1 } });
    await lab.until(() => lab.status().ready === true);
  }

  it('waits for its member to be drained, as the LB hosts say', async () => {
    await hooked();
    lab.api.write('DELETE', `${PATHS.machines}/m2`);
    await lab.until(() => lab.pool()[1]?.draining === true);
    lab.host('lb-1', {}, { member: { connections: 1 } });
    await lab.until(() => lab.status().members?.[1]?.reason === 'draining: it is being deleted');
    expect(hasHook('m2')).toBe(true);
    lab.host('lb-1', {}, { member: { connections: 0 } });
    await lab.until(() => !hasHook('m2'));
    expect(hasHook('m1')).toBe(true);
    await lab.until(() => lab.events().some(({ reason }) => reason === 'DrainCompleted'));
    expect(lab.events().map(({ reason }) => reason)).toContain('DrainStarted');
  });

  it('waits for the timeout at most, with no LB host left', async () => {
    let passed = 0;
    await hooked({ wallClock: () => Date.now() + passed });
    lab.api.write('DELETE', `${PATHS.machines}/m2`);
    await lab.until(() => lab.status().members?.[1]?.draining === true);
    expect(hasHook('m2')).toBe(true);
    passed = 61_000;
    // Whatever makes it look again.
    lab.patch(PATHS.machines, 'm1', { metadata: { annotations: { 'example.net/note': 'x' } } });
    await lab.until(() => !hasHook('m2'));
  });

  it('is held by nothing once the load balancer is gone, or the Machine is selected no more', async () => {
    await hooked();
    lab.patch(PATHS.machines, 'm2', { metadata: { labels: { 'cluster.x-k8s.io/control-plane': null } } });
    await lab.until(() => !hasHook('m2'));
    lab.api.write('DELETE', `${PATHS.loadBalancers}/prod`);
    await lab.until(() => !hasHook('m1'));
  });

  it('is held no more when the load balancer went while no controller ran', async () => {
    lab.machine(1);
    lab.patch(PATHS.machines, 'm1', {
      metadata: { annotations: { [HOOK]: '', 'example.net/note': 'kept' } },
    });
    lab.controller();
    await lab.until(() => !hasHook('m1'));
    expect(lab.annotations('m1')).toEqual({ 'example.net/note': 'kept' });
  });
});

describe('publishing', () => {
  const endpoint = { host: '10.0.0.100', port: 6443 };
  const cluster = (spec: object): void => lab.create(PATHS.clusters, 'Cluster', 'prod', { spec });
  const endpointOf = (path: string): unknown =>
    (lab.api.object(path, 'prod') as { spec: { controlPlaneEndpoint?: unknown } } | undefined)?.spec
      .controlPlaneEndpoint;

  async function publishing(): Promise<void> {
    lab.machine(1);
    lab.loadBalancer('prod', { publishTo: { name: 'prod' } });
    lab.controller();
    await lab.until(() => lab.members() === 'm1');
    // Before any member is healthy: kubeadm init needs the address first.
    lab.host('lb-1', { 1: 'connection refused' });
  }

  it('gives an empty Cluster its endpoint, and never writes it again', async () => {
    cluster({});
    await publishing();
    await lab.until(() => lab.condition('EndpointPublished')?.status === 'True');
    expect(endpointOf(PATHS.clusters)).toEqual(endpoint);
    const writes = (): number =>
      lab.api.written.filter(({ path, token }) => token === 'controller' && path.startsWith(PATHS.clusters))
        .length;
    expect(writes()).toBe(1);
    lab.patch(PATHS.clusters, 'prod', { spec: { controlPlaneEndpoint: { host: '10.9.9.9' } } });
    await lab.until(() => lab.condition('EndpointPublished')?.reason === 'EndpointConflict');
    expect([writes(), endpointOf(PATHS.clusters)]).toEqual([1, { host: '10.9.9.9', port: 6443 }]);
  });

  it('leaves another endpoint alone', async () => {
    cluster({ controlPlaneEndpoint: { host: 'other.example.net', port: 6443 } });
    await publishing();
    await lab.until(() => lab.condition('EndpointPublished')?.reason === 'EndpointConflict');
    expect(endpointOf(PATHS.clusters)).toEqual({ host: 'other.example.net', port: 6443 });
    await lab.until(() => lab.events().some(({ reason }) => reason === 'EndpointConflict'));
  });

  it('gives an InfraCluster that others manage endpoint and provisioned', async () => {
    const infra = `/apis/infra.example.net/v1/namespaces/${NAMESPACE}/metalclusters`;
    lab.create(
      infra,
      'MetalCluster',
      'prod',
      { spec: {} },
      { annotations: { 'cluster.x-k8s.io/managed-by': 'x' } },
    );
    cluster({ infrastructureRef: { apiGroup: 'infra.example.net', kind: 'MetalCluster', name: 'prod' } });
    await publishing();
    await lab.until(() => lab.condition('EndpointPublished')?.status === 'True');
    await lab.until(() => endpointOf(infra) !== undefined);
    expect(endpointOf(infra)).toEqual(endpoint);
    expect(lab.api.object(infra, 'prod')?.['status']).toEqual({ initialization: { provisioned: true } });
    expect(endpointOf(PATHS.clusters)).toBeUndefined();
  });

  it('writes nothing but that it is paused, while its Cluster is, and all once it is not', async () => {
    cluster({ paused: true });
    lab.machine(1);
    lab.loadBalancer('prod', { publishTo: { name: 'prod' }, drain });
    lab.controller();
    await lab.until(() => lab.condition('Paused')?.status === 'True');
    lab.host('lb-1');
    // One of another Cluster, after which all before it was looked at.
    lab.loadBalancer('other', { vip: '10.0.0.101' });
    await lab.until(() => lab.status('other').ready !== undefined);
    expect(lab.status()).toEqual({ conditions: [expect.objectContaining({ type: 'Paused' })] });
    expect([lab.pool(), hasHook('m1'), endpointOf(PATHS.clusters)]).toEqual([[], false, undefined]);
    lab.patch(PATHS.clusters, 'prod', { spec: { paused: false } });
    await lab.until(() => lab.members() === 'm1' && hasHook('m1'));
    lab.host('lb-1');
    await lab.until(() => endpointOf(PATHS.clusters) !== undefined);
  });
});

describe('providers', () => {
  it('of a kind that is not known are followed by the contract alone', async () => {
    const path = `/apis/f5.example.net/v1/namespaces/${NAMESPACE}/f5loadbalancers`;
    for (const number of [1, 2]) lab.machine(number);
    lab.loadBalancer('prod', {
      vip: undefined,
      providerRef: { apiGroup: 'f5.example.net', kind: 'F5LoadBalancer', name: 'prod' },
    });
    lab.controller();
    await lab.until(() => lab.condition('ProviderReady')?.reason === 'ProviderNotFound');
    const ready = {
      type: 'Ready',
      status: 'True',
      reason: 'Up',
      message: 'up',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const members = [
      { name: 'm1', healthy: true },
      { name: 'm2', healthy: false, reason: 'refused' },
    ];
    lab.create(path, 'F5LoadBalancer', 'prod', {
      spec: {},
      status: {
        address: { host: '192.0.2.9', port: 443 },
        initialization: { provisioned: true },
        members,
        conditions: [ready],
      },
    });
    await lab.until(() => lab.status().status === '1 of 2 members healthy');
    expect(lab.status()).toMatchObject({ endpoint: 'https://192.0.2.9:443', ready: true });
  });

  it('that others made give their address', async () => {
    lab.machine(1);
    lab.create(PATHS.external, 'ExternalLoadBalancer', 'f5', {
      spec: { address: { host: 'api.example.net' } },
    });
    lab.loadBalancer('prod', {
      vip: undefined,
      providerRef: { apiGroup: 'bgp-lb.dev', kind: 'ExternalLoadBalancer', name: 'f5' },
    });
    lab.controller();
    await lab.until(() => lab.status().endpoint === 'https://api.example.net:6443');
    expect(lab.status()).toMatchObject({ ready: true, status: '1 members, not observed' });
    await lab.until(() => (lab.api.object(PATHS.external, 'f5') as { status?: object }).status !== undefined);
  });
});

describe('objects that are wrong', () => {
  it.each([
    [
      { members: [{ name: 'a', address: '10.0.0.1' }] },
      'exactly one of machineSelector and members is needed',
    ],
    [{ port: { protocol: 'udp' } }, 'udp cannot be checked by https: set healthCheck.type to none'],
    [{ zones: { mode: 'Only' } }, 'zones.name is needed with Prefer and Only'],
    [{ vip: '10.0.0.300' }, 'must validate at least one schema (anyOf)'],
    [{ port: { port: 0 } }, 'should be greater than or equal to 1'],
    [{ drain: { timeout: 'soon' } }, 'should match'],
    [{ providerRef: undefined }, 'spec.providerRef: Required value'],
  ])('%j is refused with its sentence', (spec, sentence) => {
    expect(() => lab.loadBalancer('prod', spec)).toThrow(sentence);
  });

  it.each([{ vip: '10.0.0.101' }, { vip: null }])('a VIP that becomes %j is refused', (spec) => {
    lab.loadBalancer();
    expect(() => lab.patch(PATHS.loadBalancers, 'prod', { spec })).toThrow(
      'vip cannot be changed or removed',
    );
  });
});

describe('two replicas', () => {
  const holder = (): unknown =>
    (lab.api.object(PATHS.lease, 'bgp-lb-controller') as { spec?: { holderIdentity?: string } } | undefined)
      ?.spec?.holderIdentity;
  /** 15 s are 3 s. */
  const clock = fasterClock(5);

  it('write one at a time; the other one goes on when the lease is given up', async () => {
    lab.machine(1);
    lab.loadBalancer();
    const one = lab.controller({ identity: 'one', clock });
    await lab.until(() => one.isLeader && lab.members() === 'm1');
    // Its clock is off by an hour, which decides nothing.
    const two = lab.controller({ identity: 'two', clock, wallClock: () => Date.now() + 3_600_000 });
    await lab.until(() => two.missing === undefined);
    expect([holder(), two.isLeader]).toEqual(['one', false]);
    await one.stop();
    await lab.until(() => two.isLeader, 3_000 / 5 + 2_000);
    expect(holder()).toBe('two');
    lab.machine(2);
    await lab.until(() => lab.members() === 'm1,m2');
    expect(lab.lost).toEqual([]);
  });

  it('the other one goes on when the lease is not renewed', async () => {
    const spec = {
      holderIdentity: 'dead',
      leaseDurationSeconds: 15,
      renewTime: '2099-01-01T00:00:00.000000Z',
    };
    lab.api.write('POST', PATHS.lease, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'bgp-lb-system', name: 'bgp-lb-controller' },
      spec,
    });
    const began = clock.now();
    const two = lab.controller({ identity: 'two', clock });
    await lab.until(() => two.isLeader);
    expect(clock.now() - began).toBeGreaterThanOrEqual(15_000);
  });

  it('a leader that cannot renew writes no more, before another one may', async () => {
    const one = lab.controller({ identity: 'one', clock });
    await lab.until(() => one.isLeader);
    lab.api.setMode(503);
    await lab.until(() => lab.lost.length > 0);
    expect(one.isLeader).toBe(false);
    expect(lab.lost[0]).toContain('one: the lease was not renewed for 10 s');
    lab.api.setMode('good');
  });
});
