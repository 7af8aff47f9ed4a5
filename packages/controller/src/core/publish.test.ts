import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { describe, expect, it } from 'vitest';
import { instance, loadBalancer, machine, object, snapshot } from '../testing/objects.ts';
import { reconcile } from './reconcile.ts';
import type { Apply, Outcome, Snapshot } from './snapshot.ts';

const publishing = loadBalancer({ publishTo: { name: 'prod' } });
const cluster = (spec: object = {}): KubernetesObject => object('Cluster', 'prod', { spec });
const infra = (spec: object = {}, more: object = {}): KubernetesObject =>
  object(
    'MetalCluster',
    'prod',
    { spec, ...more },
    { annotations: { 'cluster.x-k8s.io/managed-by': 'bgp-lb' } },
  );
const served = (parts: Partial<Snapshot>): Outcome =>
  reconcile({
    ...snapshot({
      loadBalancer: publishing,
      candidates: [machine(1)],
      instances: [instance('lb-1', { 1: 'down' })],
    }),
    ...parts,
  });
const writes = ({ applies }: Outcome): readonly Apply[] =>
  applies.filter(({ what }) => what === 'endpoint' || what === 'provisioned');
const reason = ({ applies }: Outcome): unknown => {
  const status = applies.find(({ what }) => what === 'status')?.fields['status'] as {
    conditions: { type: string; reason: string }[];
  };
  return status.conditions.find(({ type }) => type === 'EndpointPublished')?.reason;
};
const endpoint = { controlPlaneEndpoint: { host: '10.0.0.100', port: 6443 } };

describe('publishing the endpoint', () => {
  it('writes it to an empty Cluster as soon as an LB host answers, healthy members or not: kubeadm init needs it first', () => {
    const outcome = served({ clusters: [cluster()] });
    expect(writes(outcome)).toEqual([
      {
        what: 'endpoint',
        target: {
          ...{ apiVersion: 'bgp-lb.dev/v1alpha1', kind: 'Cluster', namespace: 'fleet', name: 'prod' },
          // Another Cluster of this name, or one that is not empty any more, is not written.
          ...{ uid: 'uid-prod', resourceVersion: '7' },
        },
        isStatus: false,
        fields: { spec: endpoint },
      },
    ]);
    expect(outcome.events).toContainEqual({
      type: 'Normal',
      reason: 'EndpointPublished',
      message: 'Cluster prod has 10.0.0.100:6443',
    });
  });

  it.each([
    ['there already', { clusters: [cluster(endpoint)] }, 'Published'],
    [
      'another one there',
      { clusters: [cluster({ controlPlaneEndpoint: { host: '10.9.9.9', port: 6443 } })] },
      'EndpointConflict',
    ],
    [
      'another port there',
      { clusters: [cluster({ controlPlaneEndpoint: { host: '10.0.0.100', port: 1 } })] },
      'EndpointConflict',
    ],
    ['no such Cluster', { clusters: [] }, 'ClusterNotFound'],
    [
      'its infrastructure not known yet',
      { clusters: [cluster({ infrastructureRef: { kind: 'MetalCluster', name: 'prod' } })] },
      'InfraClusterNotFound',
    ],
    ['nothing answers', { clusters: [cluster()], instances: [] }, 'NotProvisioned'],
  ])('%s: no write, %s', (_, parts, expected) => {
    const outcome = served(parts);
    expect(writes(outcome)).toEqual([]);
    expect(reason(outcome)).toBe(expected);
  });

  it('says a conflict once', () => {
    const clusters = [cluster({ controlPlaneEndpoint: { host: '10.9.9.9', port: 6443 } })];
    const first = served({ clusters });
    expect(first.events.map((event) => event.reason)).toContain('EndpointConflict');
    const status = first.applies.find(({ what }) => what === 'status')?.fields['status'];
    const second = served({ clusters, loadBalancer: loadBalancer({ publishTo: { name: 'prod' } }, status) });
    expect(second.events.map((event) => event.reason)).not.toContain('EndpointConflict');
  });

  it('says why it is refused, and one text of those that differ in numbers alone', () => {
    const conditionAfter = (text: string, status?: unknown): unknown => {
      const { applies, events } = served({
        clusters: [cluster()],
        loadBalancer: loadBalancer({ publishTo: { name: 'prod' } }, status),
        publishRefused: text,
      });
      expect(events.map((event) => event.reason)).not.toContain('EndpointPublished');
      return applies.find(({ what }) => what === 'status')?.fields['status'];
    };
    const said = (text: string): unknown => ({
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'EndpointPublished',
          status: 'False',
          reason: 'PublishRefused',
          message: text,
        }),
      ]),
    });
    const first = conditionAfter('500: dial tcp 10.0.0.1:4711: refused');
    expect(first).toMatchObject(said('500: dial tcp 10.0.0.1:4711: refused') as object);
    // Nothing to be written.
    expect(conditionAfter('500: dial tcp 10.0.0.1:9a3f: refused', first)).toBeUndefined();
    expect(conditionAfter('403: denied', first)).toMatchObject(said('403: denied') as object);
  });

  it('an InfraCluster that others manage gets endpoint and provisioned together, and the Cluster is left to its owner', () => {
    const clusters = [cluster({ infrastructureRef: { kind: 'MetalCluster', name: 'prod' } })];
    const outcome = served({ clusters, infraCluster: infra() });
    expect(writes(outcome).map(({ what, target, fields }) => [what, target.kind, fields])).toEqual([
      ['endpoint', 'MetalCluster', { spec: endpoint }],
      ['provisioned', 'MetalCluster', { status: { initialization: { provisioned: true } } }],
    ]);
    const done = infra(endpoint, { status: { initialization: { provisioned: true } } });
    expect(writes(served({ clusters, infraCluster: done }))).toEqual([]);
    const other = infra({ controlPlaneEndpoint: { host: 'other', port: 6443 } });
    expect(reason(served({ clusters, infraCluster: other }))).toBe('EndpointConflict');
  });

  it('an InfraCluster that its own provider manages is not touched: the Cluster gets it', () => {
    const clusters = [cluster({ infrastructureRef: { kind: 'MetalCluster', name: 'prod' } })];
    const own = object('MetalCluster', 'prod', { spec: {} });
    expect(writes(served({ clusters, infraCluster: own })).map(({ target }) => target.kind)).toEqual([
      'Cluster',
    ]);
  });
});

describe('providers by the contract alone', () => {
  const ref = (kind: string, apiGroup = 'bgp-lb.dev'): Record<string, unknown> => ({
    providerRef: { apiGroup, kind, name: 'prod' },
  });
  const statusOf = (
    loadBalancing: KubernetesObject,
    provider: KubernetesObject | undefined,
  ): Record<string, unknown> => {
    const { applies } = reconcile(
      snapshot({ loadBalancer: loadBalancing, provider, candidates: [machine(1), machine(2)] }),
    );
    return applies.find(({ what }) => what === 'status')?.fields['status'] as Record<string, unknown>;
  };

  it('an ExternalLoadBalancer gives its address, is ready, and its members are not observed', () => {
    const external = object('ExternalLoadBalancer', 'prod', {
      spec: { address: { host: 'api.example.net', port: 443 } },
    });
    expect(
      statusOf(loadBalancer({ vip: undefined, ...ref('ExternalLoadBalancer') }), external),
    ).toMatchObject({
      endpoint: 'https://api.example.net:443',
      ready: true,
      status: '2 members, not observed',
    });
  });

  it('one that cannot be read leaves the address as it was', () => {
    const address = { host: '192.0.2.9', port: 443 };
    const spec = { vip: undefined, ...ref('F5LoadBalancer', 'f5.example.net') };
    const { applies } = reconcile(
      snapshot({
        loadBalancer: loadBalancer(spec, { address }),
        provider: undefined,
        providerUnreadable: '403: it is forbidden',
        candidates: [machine(1)],
      }),
    );
    const status = applies.find(({ what }) => what === 'status')?.fields['status'];
    expect(status).toMatchObject({ address, endpoint: 'https://192.0.2.9:443', ready: false });
    expect(applies.map(({ what }) => what)).toContain('pool');
  });

  it('a kind that is not known is believed by its status', () => {
    const provider = object('F5LoadBalancer', 'prod', {
      status: {
        address: { host: '192.0.2.9' },
        initialization: { provisioned: true },
        members: [
          { name: 'm1', healthy: true },
          { name: 'm2', healthy: false, reason: 'connection refused', observedBy: 'f5-a' },
        ],
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            reason: 'Up',
            message: 'all is well',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    });
    const status = statusOf(
      loadBalancer({ vip: undefined, ...ref('F5LoadBalancer', 'f5.example.net') }),
      provider,
    );
    expect(status).toMatchObject({
      endpoint: 'https://192.0.2.9:6443',
      ready: true,
      status: '1 of 2 members healthy',
    });
    expect(JSON.stringify(status['members'])).toContain('connection refused (f5-a)');
  });

  it.each([
    ['is not there', undefined, 'ProviderNotFound'],
    ['has no status yet', object('F5LoadBalancer', 'prod', {}), 'NoCondition'],
    [
      'breaks the contract',
      object('F5LoadBalancer', 'prod', { status: { members: 'all' } }),
      'InvalidProvider',
    ],
  ])('one that %s is not ready, and says so', (_, provider, expected) => {
    const status = statusOf(loadBalancer(ref('F5LoadBalancer', 'f5.example.net')), provider);
    expect(status['ready']).toBe(false);
    expect(status['conditions']).toContainEqual(
      expect.objectContaining({ type: 'ProviderReady', reason: expected }),
    );
  });
});
