import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Condition } from '../api/fields.ts';
import type { MachineLoadBalancerStatus } from '../api/machine-load-balancer.ts';
import { at, instance, loadBalancer, machine, NOON, object, snapshot } from '../testing/objects.ts';
import { reconcile } from './reconcile.ts';
import type { Apply, Outcome, Snapshot } from './snapshot.ts';

const five = [1, 2, 3, 4, 5].map((number) => machine(number));
const allGood = { 1: true, 2: true, 3: true, 4: true, 5: true } as const;

function statusOf({ applies }: Outcome): MachineLoadBalancerStatus {
  const apply = applies.find(({ what }) => what === 'status');
  if (apply === undefined) throw new Error('the status is not written');
  return apply.fields['status'] as MachineLoadBalancerStatus;
}

const conditionOf = (outcome: Outcome, type: string): Condition | undefined =>
  statusOf(outcome).conditions?.find((one) => one.type === type);
const reasonsOf = (outcome: Outcome): string =>
  (statusOf(outcome).conditions ?? [])
    .map(({ type, status, reason }) => `${type}=${status}/${reason}`)
    .join(' ');

function poolOf({ applies }: Outcome): readonly { name: string; draining: boolean }[] | undefined {
  const data = applies.find(({ what }) => what === 'pool')?.fields['data'] as
    | { 'pool.yaml': string }
    | undefined;
  return data === undefined ? undefined : parse(data['pool.yaml']).members;
}
const names = (outcome: Outcome): string | undefined =>
  poolOf(outcome)
    ?.map(({ name }) => name)
    .join();

/** The snapshot after everything that was asked for is written. */
function written(before: Snapshot, { applies }: Outcome, later = 0): Snapshot {
  const merge = (one: KubernetesObject, what: Apply['what']): KubernetesObject => {
    const fields = applies.find((apply) => apply.what === what)?.fields;
    return fields === undefined ? one : { ...one, ...fields, metadata: one.metadata };
  };
  return {
    ...before,
    now: before.now + later,
    loadBalancer: merge(before.loadBalancer, 'status'),
    provider: before.provider === undefined ? undefined : merge(before.provider, 'provider-status'),
    pool: merge(
      before.pool ?? object('ConfigMap', 'bgp-lb-pool-prod', {}, { labels: { 'bgp-lb.dev/pool': '' } }),
      'pool',
    ),
  };
}

describe('a load balancer of five machines', () => {
  const healthy = snapshot({ candidates: five, instances: [instance('lb-1', allGood)] });

  it('has endpoint, address, members and every condition at first sight', () => {
    const outcome = reconcile(healthy);
    expect(statusOf(outcome)).toMatchObject({
      endpoint: 'https://10.0.0.100:6443',
      address: { host: '10.0.0.100', port: 6443 },
      ready: true,
      status: '5 of 5 members healthy',
      observedGeneration: 1,
    });
    expect(reasonsOf(outcome)).toBe(
      'Ready=True/Ready EndpointAssigned=True/Assigned MembersHealthy=True/AllHealthy ProviderReady=True/Serving ' +
        'ProtocolSupported=True/Supported EndpointPublished=False/NotWanted Paused=False/NotPaused',
    );
    expect(names(outcome)).toBe('m1,m2,m3,m4,m5');
    const added = [1, 2, 3, 4, 5].map((number) => `m${number} (10.0.0.${10 + number})`);
    expect(outcome.events.map(({ reason, message }) => `${reason} ${message}`)).toEqual([
      `MemberAdded ${added.join(', ')}`,
      'MemberHealthy m1, m2, m3, m4, m5: healthy',
    ]);
  });

  it('asks for no write once all is written', () => {
    expect(reconcile(written(healthy, reconcile(healthy), 60_000)).applies).toEqual([]);
  });

  it('names the one that is not healthy, keeps Ready and its time, and says so in one event', () => {
    const first = written(healthy, reconcile(healthy), 5_000);
    const { instances } = snapshot({ instances: [instance('lb-1', { ...allGood, 3: 'HTTP 500' })] });
    const outcome = reconcile({ ...first, instances });
    expect(statusOf(outcome)).toMatchObject({ status: '4 of 5 members healthy', ready: true });
    expect(conditionOf(outcome, 'Ready')).toMatchObject({ status: 'True', lastTransitionTime: at(0) });
    expect(conditionOf(outcome, 'MembersHealthy')).toMatchObject({
      reason: 'SomeNotHealthy',
      message: 'm3: healthy at 0 of 1 LB hosts; lb-1: HTTP 500',
      lastTransitionTime: at(5),
    });
    expect(outcome.events).toEqual([
      {
        type: 'Warning',
        reason: 'MemberUnhealthy',
        message: 'm3: healthy at 0 of 1 LB hosts; lb-1: HTTP 500',
      },
    ]);
  });

  it('is not ready when no member is healthy', () => {
    const bad = { 1: 'x', 2: 'x', 3: 'x', 4: 'x', 5: 'x' };
    const outcome = reconcile(snapshot({ candidates: five, instances: [instance('lb-1', bad)] }));
    expect(statusOf(outcome).ready).toBe(false);
    expect(conditionOf(outcome, 'Ready')).toMatchObject({ status: 'False', reason: 'NoHealthyMember' });
  });

  it('takes a member for healthy that most LB hosts find healthy', () => {
    const hosts = (...said: (true | string)[]): KubernetesObject[] =>
      said.map((one, index) => instance(`lb-${index}`, { 1: one }));
    const healthyAt = (...said: (true | string)[]): string | undefined =>
      statusOf(reconcile(snapshot({ candidates: [machine(1)], instances: hosts(...said) }))).status;
    expect(healthyAt(true, true, 'no')).toBe('1 of 1 members healthy');
    expect(healthyAt(true, 'no')).toBe('0 of 1 members healthy');
    expect(healthyAt(true, 'no', 'no')).toBe('0 of 1 members healthy');
  });

  it('says which members LB hosts have that no machine stands for', () => {
    const outcome = reconcile(
      snapshot({ candidates: [machine(1)], instances: [instance('lb-1', { 1: true, 9: true })] }),
    );
    expect(conditionOf(outcome, 'MembersHealthy')?.message).toContain('not selected: m9 (10.0.0.19)');
  });

  it('hears only LB hosts that belong to its provider', () => {
    const foreign = {
      ...instance('lb-1', allGood),
      spec: { providers: [{ kind: 'BGPLoadBalancer', name: 'other' }] },
    };
    const outcome = reconcile(snapshot({ candidates: five, instances: [foreign] }));
    expect(conditionOf(outcome, 'MembersHealthy')).toMatchObject({ status: 'Unknown', reason: 'NoInstance' });
  });
});

describe('without an LB host that is alive', () => {
  const healthy = snapshot({ candidates: five, instances: [instance('lb-1', allGood)] });
  const silent = (before: Snapshot): Snapshot => ({
    ...before,
    instances: healthy.instances.map((one) => ({ ...one, silentMs: 41_000 })),
  });

  it('health is unknown, ready stays for one stale period, then it is false', () => {
    const first = silent(written(healthy, reconcile(healthy), 60_000));
    const outcome = reconcile(first);
    expect(conditionOf(outcome, 'MembersHealthy')).toMatchObject({ status: 'Unknown', reason: 'NoInstance' });
    expect(statusOf(outcome)).toMatchObject({ ready: true, status: '5 members, no LB host reports' });
    expect(outcome.requeueAfter).toBe(40_000);
    const after = reconcile(written(first, outcome, 41_000));
    expect(statusOf(after).ready).toBe(false);
    expect(conditionOf(after, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'NoInstance' });
  });

  it('one that was never ready is not ready', () => {
    expect(statusOf(reconcile(silent(snapshot({ candidates: five })))).ready).toBe(false);
  });

  it('does not look again by itself for one that grows stale: it is told', () => {
    expect(reconcile(healthy).requeueAfter).toBeUndefined();
  });
});

describe('zones', () => {
  const zoned = [
    machine(1, { failureDomain: 'a' }),
    machine(2, { failureDomain: 'b' }),
    machine(3, { failureDomain: 'b' }),
  ];
  const cases: readonly [object, Record<number, true | string>, string][] = [
    [{ mode: 'Any' }, { 1: true, 2: true, 3: true }, 'm1,m2,m3'],
    [{ mode: 'Only', name: 'b' }, { 2: true, 3: true }, 'm2,m3'],
    [{ mode: 'Prefer', name: 'a' }, { 1: true, 2: true, 3: true }, 'm1'],
    [{ mode: 'Prefer', name: 'a' }, { 1: 'HTTP 500' }, 'm1,m2,m3'],
    [{ mode: 'Prefer', name: 'c' }, {}, 'm1,m2,m3'],
  ];
  it.each(cases)('%j, with health %j, uses %s', (zones, health, expected) => {
    const outcome = reconcile(
      snapshot({
        loadBalancer: loadBalancer({ zones }),
        candidates: zoned,
        instances: [instance('lb-1', health)],
      }),
    );
    expect(names(outcome)).toBe(expected);
  });

  it.each(['z'.repeat(64), 'z'.repeat(256), 'rack 7', 'Zürich'])(
    'one that the pool of LB hosts cannot name, %j, is in the status alone',
    (zone) => {
      const outcome = reconcile(snapshot({ candidates: [machine(1, { failureDomain: zone })] }));
      expect(statusOf(outcome)).toMatchObject({ members: [{ zone }], zones: [{ name: zone }] });
      expect(poolOf(outcome)).toEqual([{ name: 'm1', address: '10.0.0.11', port: 6443, draining: false }]);
    },
  );

  it('counts members of each zone, and follows one that moves', () => {
    const zonesIn = (candidates: KubernetesObject[]): unknown =>
      statusOf(
        reconcile(snapshot({ candidates, instances: [instance('lb-1', { 1: true, 2: true, 3: 'no' })] })),
      ).zones;
    expect(zonesIn(zoned)).toEqual([
      { name: 'a', healthy: 1, total: 1 },
      { name: 'b', healthy: 1, total: 2 },
    ]);
    expect(zonesIn([machine(1, { failureDomain: 'c' })])).toEqual([{ name: 'c', healthy: 1, total: 1 }]);
  });
});

describe('which machines are members', () => {
  const other = machine(
    7,
    {},
    { labels: { 'cluster.x-k8s.io/cluster-name': 'b', 'cluster.x-k8s.io/control-plane': '' } },
  );
  const worker = machine(8, {}, { labels: { 'cluster.x-k8s.io/cluster-name': 'prod' } });
  const membersOf = (spec: object, candidates: readonly KubernetesObject[]): string | undefined =>
    names(reconcile(snapshot({ loadBalancer: loadBalancer({ ...spec }), candidates })));

  it('those that the selector finds, of one cluster or of several', () => {
    expect(membersOf({}, [machine(1), other, worker])).toBe('m1,m7');
    expect(membersOf({ clusterNames: ['prod'] }, [machine(1), other])).toBe('m1');
  });

  it('those of the spec, with source Static', () => {
    const members = [
      { name: 'x', address: '10.0.0.30', port: 7443 },
      { name: 'six', address: 'fd00::1' },
    ];
    const outcome = reconcile(
      snapshot({ loadBalancer: loadBalancer({ source: 'Static', machineSelector: undefined, members }) }),
    );
    // Of the family of the VIP.
    expect(poolOf(outcome)).toEqual([{ name: 'x', address: '10.0.0.30', port: 7443, draining: false }]);
  });

  it('one without an address of the wanted type is shown, and not used', () => {
    const outcome = reconcile(snapshot({ candidates: [machine(1), machine(2, { addresses: [] })] }));
    expect(names(outcome)).toBe('m1');
    expect(statusOf(outcome).members?.[1]).toMatchObject({
      healthy: false,
      reason: 'it has no address that can be used',
    });
  });

  it('of two with one address the one that stays', () => {
    const address = { addresses: [{ type: 'InternalIP', address: '10.0.0.11' }] };
    const leaving = machine(1, address, { deletionTimestamp: at(-5) });
    expect(names(reconcile(snapshot({ candidates: [leaving, machine(2, address)] })))).toBe('m2');
  });

  it('64 at most, and the others are named', () => {
    const many = Array.from({ length: 66 }, (_, index) =>
      machine(index, { addresses: [{ type: 'InternalIP', address: `10.0.1.${index}` }] }),
    );
    const outcome = reconcile(snapshot({ candidates: many, instances: [instance('lb-1', {})] }));
    expect(poolOf(outcome)).toHaveLength(64);
    expect(conditionOf(outcome, 'MembersHealthy')?.message).toContain('more than a pool takes: m8, m9');
  });

  it('an emptied selection does not empty the pool', () => {
    expect(reconcile(snapshot({})).applies.map(({ what }) => what)).not.toContain('pool');
  });
});

describe('what is wrong with the spec', () => {
  const cases: readonly [string, object, string][] = [
    [
      'both ways to name members',
      { members: [{ name: 'a', address: '10.0.0.1' }] },
      'exactly one of machineSelector and members',
    ],
    ['no way to name members', { machineSelector: undefined }, 'exactly one of machineSelector and members'],
    [
      'https and udp',
      { port: { port: 53, machinePort: 53, protocol: 'udp' } },
      'udp cannot be checked by https',
    ],
    ['Prefer without a zone', { zones: { mode: 'Prefer' } }, 'zones.name is needed'],
    ['a hook for Nodes', { source: 'Node', drain: { hook: true } }, 'drain.hook needs source Machine'],
    ['a port that is none', { port: { port: 70_000 } }, 'spec.port.port'],
  ];
  it.each(cases)('%s is named in the conditions', (_, spec, sentence) => {
    const outcome = reconcile(snapshot({ loadBalancer: loadBalancer({ ...spec }) }));
    expect(conditionOf(outcome, 'Ready')).toMatchObject({ status: 'False', reason: 'InvalidSpec' });
    expect(conditionOf(outcome, 'Ready')?.message).toContain(sentence);
    expect(outcome.applies.map(({ what }) => what)).toEqual(['status']);
  });

  it.each([{ vip: '10.0.0.101' }, { vip: undefined }])('a VIP that becomes %j', (spec) => {
    const before = snapshot({ candidates: five });
    const { status } = written(before, reconcile(before)).loadBalancer;
    const outcome = reconcile(snapshot({ loadBalancer: loadBalancer(spec, status) }));
    expect(conditionOf(outcome, 'Ready')?.message).toContain(
      'vip cannot be changed or removed once it is set',
    );
    expect(statusOf(outcome).address).toEqual({ host: '10.0.0.100', port: 6443 });
  });

  it('udp is not for HAProxy', () => {
    const spec = {
      port: { port: 53, machinePort: 53, protocol: 'udp' },
      healthCheck: { type: 'none' },
      providerRef: { apiGroup: 'bgp-lb.dev', kind: 'HAProxyLoadBalancer', name: 'prod' },
    };
    const outcome = reconcile(snapshot({ loadBalancer: loadBalancer(spec), candidates: five }));
    expect(conditionOf(outcome, 'ProtocolSupported')).toMatchObject({
      status: 'False',
      reason: 'UdpNotSupported',
    });
    expect(poolOf(outcome)).toBeUndefined();
  });
});

describe('paused', () => {
  const prod = object('Cluster', 'prod', { spec: { paused: true } });
  it.each([
    ['by annotation', loadBalancer({}, undefined, { annotations: { 'cluster.x-k8s.io/paused': '' } }), []],
    ['by its Cluster', loadBalancer({ publishTo: { name: 'prod' } }), [prod]],
  ])('%s it writes that it is paused, and nothing else', (_, paused, clusters) => {
    const before = snapshot({
      loadBalancer: paused,
      clusters,
      candidates: five,
      instances: [instance('lb-1', allGood)],
    });
    const outcome = reconcile(before);
    expect(outcome.applies.map(({ what }) => what)).toEqual(['status']);
    expect(reasonsOf(outcome)).toBe('Paused=True/Paused');
    expect(reconcile(written(before, outcome)).applies).toEqual([]);
  });
});

describe('what is being deleted', () => {
  it('is left alone', () => {
    const gone = loadBalancer({}, undefined, { deletionTimestamp: at(0) });
    expect(reconcile(snapshot({ loadBalancer: gone, candidates: five, now: NOON })).applies).toEqual([]);
  });
});
