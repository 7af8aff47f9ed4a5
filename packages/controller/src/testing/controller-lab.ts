/** A controller beside the API server stand-in, with the CRDs and the rights that `manifests` prints, and LB hosts that report. */
import { type ApiAccess, ApiClient, type Clock } from '@bgp-lb/kubernetes';
import {
  type AccessRule,
  definitionOf,
  StandInApiServer,
  servingCertificate,
} from '@bgp-lb/kubernetes/testing';
import { parse } from 'yaml';
import type { Condition } from '../api/fields.ts';
import { API_VERSION, RESOURCES } from '../api/group.ts';
import type { MachineLoadBalancerStatus } from '../api/machine-load-balancer.ts';
import { controllerRules } from '../commands/manifests.ts';
import { customResourceDefinitions } from '../crd/custom-resources.ts';
import { Controller, type ControllerObserver } from '../run/controller.ts';
import { RETRY_PERIOD } from '../run/lease-record.ts';
import { systemClock } from '../run/system-clock.ts';
import type { SteppedClock } from './stepped-clock.ts';

type Json = Readonly<Record<string, unknown>>;

export const NAMESPACE = 'fleet';
const OWN = `/apis/${API_VERSION}/namespaces/${NAMESPACE}`;
export const PATHS: Readonly<
  Record<
    | 'loadBalancers'
    | 'instances'
    | 'bgp'
    | 'external'
    | 'machines'
    | 'clusters'
    | 'pools'
    | 'events'
    | 'lease',
    string
  >
> = {
  loadBalancers: `${OWN}/${RESOURCES.MachineLoadBalancer}`,
  instances: `${OWN}/${RESOURCES.LoadBalancerInstance}`,
  bgp: `${OWN}/${RESOURCES.BGPLoadBalancer}`,
  external: `${OWN}/${RESOURCES.ExternalLoadBalancer}`,
  machines: `/apis/cluster.x-k8s.io/v1beta2/namespaces/${NAMESPACE}/machines`,
  clusters: `/apis/cluster.x-k8s.io/v1beta2/namespaces/${NAMESPACE}/clusters`,
  pools: `/api/v1/namespaces/${NAMESPACE}/configmaps`,
  events: `/api/v1/namespaces/${NAMESPACE}/events`,
  lease: '/apis/coordination.k8s.io/v1/namespaces/bgp-lb-system/leases',
};

/** Kinds of Cluster API and of others, of which the server keeps every field. */
const FOREIGN = [
  { group: 'cluster.x-k8s.io', version: 'v1beta2', kind: 'Machine', plural: 'machines' },
  { group: 'cluster.x-k8s.io', version: 'v1beta2', kind: 'Cluster', plural: 'clusters' },
  { group: 'infra.example.net', version: 'v1', kind: 'MetalCluster', plural: 'metalclusters' },
  { group: 'f5.example.net', version: 'v1', kind: 'F5LoadBalancer', plural: 'f5loadbalancers' },
] as const;

const rules: readonly AccessRule[] = [
  ...controllerRules,
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    verbs: ['create', 'get', 'update'],
    namespace: 'bgp-lb-system',
  },
  // What an aggregated ClusterRole adds.
  {
    apiGroups: ['infra.example.net', 'f5.example.net'],
    resources: ['*'],
    verbs: ['get', 'list', 'watch', 'patch'],
  },
];

/** Time that passes so many times faster. */
export function fasterClock(factor: number): Clock {
  return {
    now: () => systemClock.now() * factor,
    after: (ms, fire) => systemClock.after(ms / factor, fire),
  };
}

export class ControllerLab {
  readonly api: StandInApiServer;
  readonly #tls: { readonly key: string; readonly cert: string };
  readonly #made: Controller[] = [];
  readonly #heartbeats = new Map<string, number>();
  /** What controllers said that failed. */
  readonly failures: string[] = [];
  readonly lost: string[] = [];
  /** Keys that controllers looked at. */
  readonly reconciled: string[] = [];

  constructor() {
    this.#tls = servingCertificate('IP:127.0.0.1,DNS:kubernetes');
    this.api = new StandInApiServer(this.#tls);
    for (const crd of customResourceDefinitions()) this.api.define(definitionOf(crd));
    for (const kind of FOREIGN) this.api.define({ ...kind, hasStatus: true });
    this.api.allowRules('controller', rules);
  }

  async start(): Promise<void> {
    await this.api.listen();
    this.create(PATHS.bgp, 'BGPLoadBalancer', 'prod', { spec: {} });
  }

  async close(): Promise<void> {
    await Promise.all(this.#made.map((one) => one.stop()));
    await this.api.close();
  }

  client(token: string, clock: Clock = systemClock): ApiClient {
    const access: ApiAccess = {
      servers: [{ url: this.api.url }],
      tls: { ca: this.#tls.cert },
      headers: { authorization: `Bearer ${token}` },
      credential: { kind: 'token' },
    };
    return new ApiClient({ open: () => access, clock });
  }

  /** Rights that an aggregated ClusterRole adds, instead of those that were added before. */
  allowMore(rule: AccessRule): void {
    this.api.allowRules('controller', [...rules, rule]);
  }

  /** From now on no controller may write the status of a MachineLoadBalancer. */
  forbidStatus(): void {
    const left = rules.map((rule) => ({
      ...rule,
      resources: rule.resources.filter((one) => one !== `${RESOURCES.MachineLoadBalancer}/status`),
    }));
    this.api.allowRules('controller', left);
  }

  controller(
    options: { readonly identity?: string; readonly clock?: Clock; readonly wallClock?: () => number } = {},
  ): Controller {
    const { identity = 'one', clock = systemClock, wallClock = () => Date.now() } = options;
    const observer: ControllerObserver = {
      leading: () => undefined,
      lost: (why) => this.lost.push(`${identity}: ${why}`),
      reconciled: (key) => this.reconciled.push(key),
      wrote: () => undefined,
      failed: (what, error) => this.failures.push(`${what}: ${String(error)}`),
    };
    const lease = { namespace: 'bgp-lb-system', name: 'bgp-lb-controller', identity };
    const client = this.client('controller', clock);
    const leaseClient = this.client('controller', clock);
    const controller = new Controller({
      ...{
        client,
        leaseClient,
        clock,
        wallClock,
        namespace: undefined,
        watchFilter: undefined,
        lease,
        observer,
      },
    });
    this.#made.push(controller);
    controller.start();
    return controller;
  }

  create(path: string, kind: string, name: string, more: Json, metadata: Json = {}): void {
    const group = path.match(/^\/apis\/([^/]+\/[^/]+)\//)?.[1] ?? 'v1';
    const { status, ...rest } = more;
    this.api.write('POST', path, {
      apiVersion: group,
      kind,
      metadata: { namespace: NAMESPACE, name, ...metadata },
      ...rest,
    });
    if (status !== undefined) this.api.write('PATCH', `${path}/${name}/status`, { status });
  }

  patch(path: string, name: string, body: Json): void {
    this.api.write('PATCH', `${path}/${name}`, body);
  }

  loadBalancer(name = 'prod', spec: Json = {}): void {
    this.create(PATHS.loadBalancers, 'MachineLoadBalancer', name, {
      spec: {
        vip: '10.0.0.100',
        machineSelector: { matchLabels: { 'cluster.x-k8s.io/control-plane': '' } },
        providerRef: { apiGroup: 'bgp-lb.dev', kind: 'BGPLoadBalancer', name: 'prod' },
        ...spec,
      },
    });
  }

  machine(number: number, zone = 'a', cluster = 'prod'): void {
    const labels = { 'cluster.x-k8s.io/control-plane': '', 'cluster.x-k8s.io/cluster-name': cluster };
    const status = {
      failureDomain: zone,
      addresses: [{ type: 'InternalIP', address: `10.0.0.${10 + number}` }],
    };
    const finalizers = ['machine.cluster.x-k8s.io'];
    this.create(PATHS.machines, 'Machine', `m${number}`, { spec: {}, status }, { labels, finalizers });
  }

  /** An LB host writes what it sees of the members that its pool has, by their numbers where they are not healthy. */
  host(
    name: string,
    bad: Readonly<Record<number, string>> = {},
    more: { readonly of?: readonly string[]; readonly member?: Json } = {},
  ): void {
    if (this.api.object(PATHS.instances, name) === undefined) {
      const spec = { providers: [{ kind: 'BGPLoadBalancer', name: 'prod' }] };
      this.create(PATHS.instances, 'LoadBalancerInstance', name, { spec });
    }
    const beat = (this.#heartbeats.get(name) ?? Date.now()) + 1;
    this.#heartbeats.set(name, beat);
    const loadBalancers = (more.of ?? ['prod']).map((one) => ({
      name: one,
      answers: true,
      members: this.pool(one).map((member) => {
        const why = bad[Number(member.name.slice(1))];
        const { name: own, address, draining } = member;
        return {
          ...{ name: own, address, healthy: why === undefined, draining },
          ...(why === undefined ? {} : { reason: why }),
          ...more.member,
        };
      }),
    }));
    const status = { heartbeat: new Date(beat).toISOString(), version: '0.1.0', loadBalancers };
    this.api.write('PATCH', `${PATHS.instances}/${name}/status`, { status });
  }

  pool(
    name = 'prod',
  ): readonly { readonly name: string; readonly address: string; readonly draining: boolean }[] {
    const object = this.api.object(PATHS.pools, `bgp-lb-pool-${name}`) as
      | { data?: { 'pool.yaml'?: string } }
      | undefined;
    const text = object?.data?.['pool.yaml'];
    return text === undefined ? [] : parse(text).members;
  }

  members(name = 'prod'): string {
    return this.pool(name)
      .map((one) => one.name)
      .join();
  }

  status(name = 'prod'): MachineLoadBalancerStatus {
    return (this.api.object(PATHS.loadBalancers, name)?.['status'] ?? {}) as MachineLoadBalancerStatus;
  }

  condition(type: string, name = 'prod'): Condition | undefined {
    return this.status(name).conditions?.find((one) => one.type === type);
  }

  /** Reasons of the events so far. */
  events(): readonly { readonly reason: string; readonly message: string }[] {
    return this.api.objects(PATHS.events) as unknown as { reason: string; message: string }[];
  }

  annotations(machine: string): Json {
    const { metadata } = (this.api.object(PATHS.machines, machine) ?? {}) as {
      metadata?: { annotations?: Json };
    };
    return metadata?.annotations ?? {};
  }

  /** Writes of controllers to anything but the lease. */
  writes(): number {
    return this.api.written.filter(
      ({ path, token }) => token === 'controller' && !path.startsWith(PATHS.lease),
    ).length;
  }

  /** Lets so many seconds pass for one leader, which needs its lease all the time. */
  async pass(clock: SteppedClock, seconds: number): Promise<void> {
    const step = 6;
    for (let passed = 0; passed < seconds; passed += step) {
      await this.until(() => clock.waits(RETRY_PERIOD));
      clock.pass(Math.min(step, seconds - passed) * 1_000);
    }
  }

  /** Resolves once a look at the server is true. */
  async until(look: () => boolean, ms = 10_000): Promise<void> {
    const end = performance.now() + ms;
    while (!look()) {
      if (performance.now() > end) {
        const state = JSON.stringify(this.status(), undefined, 1);
        throw new Error(
          `${String(look)} is not so after ${ms} ms; status ${state}; failed: ${this.failures.join('\n')}`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
