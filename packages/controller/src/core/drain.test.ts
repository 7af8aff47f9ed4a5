import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { describe, expect, it } from 'vitest';
import type { MemberStatus } from '../api/machine-load-balancer.ts';
import { at, instance, loadBalancer, machine, NOON, object, snapshot } from '../testing/objects.ts';
import { HOOK, hookChange } from './deletion-hook.ts';
import { reconcile } from './reconcile.ts';
import type { Outcome } from './snapshot.ts';

const label = (key: string, value: string): object => ({
  'cluster.x-k8s.io/control-plane': '',
  [key]: value,
});

function memberOf(
  one: KubernetesObject,
  options: { spec?: object; status?: unknown; instances?: KubernetesObject[]; seconds?: number } = {},
): { member: MemberStatus; requeueAfter: number | undefined; events: string[] } {
  const { spec = {}, status, instances = [], seconds = 0 } = options;
  const { applies, requeueAfter, events } = reconcile({
    ...snapshot({ loadBalancer: loadBalancer({ ...spec }, status), candidates: [one], instances }),
    now: NOON + seconds * 1_000,
  });
  const written = (applies.find(({ what }) => what === 'status')?.fields['status'] ?? status) as {
    members: MemberStatus[];
  };
  const [member] = written.members;
  if (member === undefined) throw new Error('no member');
  return { member, requeueAfter, events: events.map(({ reason }) => reason) };
}

describe('a member drains', () => {
  it.each([
    ['when it is deleted', { deletionTimestamp: at(-1) }, true],
    ['by a label', { labels: label('bgp-lb.dev/drain', '') }, true],
    ['by an annotation', { annotations: { 'bgp-lb.dev/drain': 'maintenance' } }, true],
    ['not by the value false', { labels: label('bgp-lb.dev/drain', 'false') }, false],
    [
      'before KubeadmControlPlane replaces it',
      { annotations: { 'kubeadm.controlplane.cluster.x-k8s.io/selected-for-upgrade': '' } },
      true,
    ],
    ['by a key of the spec', { labels: label('example.net/leave', 'now') }, true],
    // kubeadm sets it on every master.
    [
      'not by the label of kubeadm',
      { labels: label('node.kubernetes.io/exclude-from-external-load-balancers', '') },
      false,
    ],
  ])('%s', (_, metadata, expected) => {
    const spec = { drain: { delay: '0s', timeout: '60s', hook: false, keys: ['example.net/leave'] } };
    expect(memberOf(machine(1, {}, { ...metadata }), { spec }).member.draining).toBe(expected);
  });

  const leaving = machine(1, {}, { deletionTimestamp: at(-1) });
  const begun = {
    members: [{ name: 'm1', draining: true, drainingSince: at(0), drained: false, reason: 'x' }],
  };
  const host = (of: object): KubernetesObject[] => [instance('lb-1', { 1: true }, {}, { ...of })];

  it('from when it is first seen to, until all LB hosts have no connection to it', () => {
    const first = memberOf(leaving, { instances: host({ connections: 3 }) });
    expect(first.member).toMatchObject({ draining: true, drainingSince: at(0), drained: false });
    expect(first.events).toContain('DrainStarted');
    // Its old report, of before the LB host knew, does not count.
    expect(memberOf(leaving, { status: begun, instances: host({ connections: 0 }) }).member.drained).toBe(
      false,
    );
    const done = memberOf(leaving, { status: begun, instances: host({ connections: 0, draining: true }) });
    expect(done.member.drained).toBe(true);
    expect(done.events).toContain('DrainCompleted');
  });

  it('until the timeout is over, also where no LB host is left', () => {
    expect(memberOf(leaving, { status: begun, seconds: 59 }).member.drained).toBe(false);
    expect(memberOf(leaving, { status: begun, seconds: 59 }).requeueAfter).toBe(1_000);
    expect(memberOf(leaving, { status: begun, seconds: 60 }).member.drained).toBe(true);
  });

  it('for its delay at least', () => {
    const spec = { drain: { delay: '20s', timeout: '60s', hook: false } };
    const instances = host({ connections: 0, draining: true });
    expect(memberOf(leaving, { spec, status: begun, instances, seconds: 5 })).toMatchObject({
      member: { drained: false },
      requeueAfter: 15_000,
    });
    expect(memberOf(leaving, { spec, status: begun, instances, seconds: 20 }).member.drained).toBe(true);
  });

  it('no longer than its timeout when the clock of the replica that saw it begin was ahead', () => {
    const ahead = {
      members: [{ name: 'm1', draining: true, drainingSince: at(7_200), drained: false, reason: 'x' }],
    };
    const seen = memberOf(leaving, { status: ahead, seconds: 5 });
    expect(seen).toMatchObject({ member: { drainingSince: at(5), drained: false }, requeueAfter: 60_000 });
    const later = memberOf(leaving, { status: { members: [seen.member] }, seconds: 65 });
    expect(later.member.drained).toBe(true);
  });

  it('for its delay alone when LB hosts do not have it: its address is given to another one', () => {
    const spec = { drain: { delay: '20s', timeout: '60s', hook: false } };
    const twin = machine(2, { addresses: [{ type: 'InternalIP', address: '10.0.0.11' }] });
    const after = (seconds: number): Outcome =>
      reconcile({
        ...snapshot({ loadBalancer: loadBalancer(spec, begun), candidates: [leaving, twin] }),
        now: NOON + seconds * 1_000,
      });
    expect(after(5).requeueAfter).toBe(15_000);
    const { applies } = after(20);
    expect(applies.find(({ what }) => what === 'status')?.fields['status']).toMatchObject({
      members: [{ name: 'm1', drained: true, reason: 'drained: it is being deleted' }, { name: 'm2' }],
    });
  });

  it('and is drained no more when it is to serve again', () => {
    const ended = {
      members: [{ name: 'm1', draining: true, drainingSince: at(0), drained: true, reason: 'x' }],
    };
    expect(memberOf(machine(1), { status: ended }).member).not.toHaveProperty('drained');
  });
});

describe('the deletion hook', () => {
  const hooked = loadBalancer({ drain: { delay: '0s', timeout: '60s', hook: true } });
  const withHook = (metadata: object = {}): KubernetesObject =>
    machine(1, {}, { annotations: { [HOOK]: '' }, ...metadata });
  const deleted = { deletionTimestamp: at(0) };
  const withStatus = (drained: boolean): KubernetesObject => ({
    ...hooked,
    status: { members: [{ name: 'm1', draining: true, drained, reason: 'x' }] },
  });
  const other = { ...withStatus(false), metadata: { ...hooked.metadata, name: 'users' } };
  const foreign = {
    ...withStatus(false),
    metadata: { ...hooked.metadata, labels: { 'example.net/controller': 'other' } },
  };
  const isOurs = ({ metadata }: KubernetesObject): boolean => metadata.labels === undefined;
  const pausedCluster = [object('Cluster', 'prod', { spec: { paused: true } })];

  const cases: readonly [
    string,
    KubernetesObject,
    readonly KubernetesObject[],
    readonly KubernetesObject[],
    string | undefined,
  ][] = [
    ['comes to each member as soon as status has it', machine(1), [withStatus(false)], [], 'set'],
    ['does not come before', machine(1), [hooked], [], undefined],
    ['does not come to one that is selected and no member', machine(2), [withStatus(false)], [], undefined],
    ['does not come where another controller reconciles', machine(1), [foreign], [], undefined],
    ['stays where another controller has set it', withHook(), [foreign], [], undefined],
    [
      'goes from one that is selected and no member',
      machine(2, {}, { annotations: { [HOOK]: '' }, ...deleted }),
      [withStatus(false)],
      [],
      'remove',
    ],
    ['stays', withHook(), [hooked], [], undefined],
    ['does not come where it is not asked for', machine(1), [loadBalancer()], [], undefined],
    [
      'does not come to a Machine that is being deleted already',
      machine(1, {}, deleted),
      [hooked],
      [],
      undefined,
    ],
    ['stays while the member drains', withHook(deleted), [withStatus(false)], [], undefined],
    ['stays while it is not known how the member is', withHook(deleted), [hooked], [], undefined],
    ['goes when the member is drained', withHook(deleted), [withStatus(true)], [], 'remove'],
    ['stays until it is drained everywhere', withHook(deleted), [withStatus(true), other], [], undefined],
    ['goes with the load balancer', withHook(), [], [], 'remove'],
    [
      'goes when the load balancer is being deleted',
      withHook(),
      [loadBalancer({ drain: { hook: true } }, undefined, deleted)],
      [],
      'remove',
    ],
    ['goes when it is asked for no more', withHook(), [loadBalancer()], [], 'remove'],
    ['goes when the Machine leaves the selector', withHook({ labels: {} }), [hooked], [], 'remove'],
    ['is not touched while the Cluster is paused', withHook(), [], pausedCluster, undefined],
  ];
  it.each(cases)('%s', (_, one, loadBalancers, clusters, expected) => {
    expect(hookChange(one, loadBalancers, clusters, isOurs).change).toBe(expected);
  });

  it.each([
    ['its timeout and a minute', withHook(deleted), [withStatus(false)], [], 120_000],
    ['as long where no status says how it is', withHook(deleted), [hooked], [], 120_000],
    ['as long where another controller should say it', withHook(deleted), [foreign], [], 120_000],
    ['no time while the Cluster is paused', withHook(deleted), [withStatus(false)], pausedCluster, undefined],
    ['no time before the deletion', withHook(), [withStatus(false)], [], undefined],
  ])('holds a deletion at most %s', (_, one, loadBalancers, clusters, expected) => {
    expect(hookChange(one, loadBalancers, clusters, isOurs).holdsFor).toBe(expected);
  });
});
