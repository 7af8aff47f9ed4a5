import type { KubernetesObject } from '@bgp-lb/kubernetes';
import type * as z from 'zod';
import { GROUP } from '../api/group.ts';
import {
  type InstanceReport,
  loadBalancerInstanceSpec,
  loadBalancerInstanceStatus,
} from '../api/load-balancer-instance.ts';
import type { MachineLoadBalancerSpec } from '../api/machine-load-balancer.ts';
import { externalSpec, providerStatus } from '../api/providers.ts';
import { textAt, valueAt } from './read-json.ts';
import type { SeenInstance } from './snapshot.ts';

/** Milliseconds after which an LB host that has not written counts no more: four heartbeats. */
export const STALE_AFTER = 40_000;

/** What one LB host says of one MachineLoadBalancer. */
export interface LiveReport extends InstanceReport {
  readonly instance: string;
}

/** What is known of a load balancer, whatever makes it. */
export interface ProviderView {
  readonly ready: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** What it gives as the address. */
  readonly address: { readonly host: string; readonly port?: number | undefined } | undefined;
  /** The address is answered for. */
  readonly isProvisioned: boolean;
  /** Members are looked at: without that, `ready` is the provider's alone. */
  readonly observes: boolean;
  /** The LB hosts that are alive; `undefined` for kinds that have none of ours. */
  readonly reports: readonly LiveReport[] | undefined;
  /** What the object says of members, for kinds that have no LB hosts of ours. */
  readonly members: ReadonlyMap<string, { readonly healthy: boolean; readonly reason: string }>;
}

export function isHosted({ apiGroup, kind }: MachineLoadBalancerSpec['providerRef']): boolean {
  return apiGroup === GROUP && (kind === 'BGPLoadBalancer' || kind === 'HAProxyLoadBalancer');
}

const nothing = { address: undefined, isProvisioned: false, reports: undefined, members: new Map() } as const;

/** What the provider of a MachineLoadBalancer is, by the contract that every kind keeps. */
export function providerView(
  name: string,
  ref: MachineLoadBalancerSpec['providerRef'],
  provider: KubernetesObject | undefined,
  instances: readonly SeenInstance[],
): ProviderView {
  if (provider === undefined) {
    const message = `there is no ${ref.kind} ${ref.name} in ${ref.apiGroup}`;
    return { ...nothing, ready: 'False', reason: 'ProviderNotFound', message, observes: isHosted(ref) };
  }
  if (isHosted(ref)) return hostedView(name, ref, instances);
  if (ref.apiGroup === GROUP && ref.kind === 'ExternalLoadBalancer') return externalView(provider);
  return contractView(ref, provider);
}

/** A provider that may be there and cannot be read: nothing is known of it but the address of before. */
export function unreadableProvider(
  { apiGroup, kind }: MachineLoadBalancerSpec['providerRef'],
  why: string,
  previous: unknown,
): ProviderView {
  const host = textAt(previous, 'address', 'host');
  const port = valueAt(previous, 'address', 'port');
  return {
    ...nothing,
    ready: 'Unknown',
    reason: 'ProviderNotReadable',
    message: `${kind} of ${apiGroup} cannot be read: ${why}`,
    address: host === undefined ? undefined : { host, port: typeof port === 'number' ? port : undefined },
    observes: false,
  };
}

/** The LB hosts of a provider that are alive, with all that each reports. */
function liveHosts(
  { kind, name }: MachineLoadBalancerSpec['providerRef'],
  instances: readonly SeenInstance[],
): readonly { readonly instance: string; readonly reports: readonly InstanceReport[] }[] {
  return instances.flatMap(({ object, silentMs }) => {
    const { spec, status } = checkedInstance(object);
    const isMeant = spec?.providers.some((one) => one.kind === kind && one.name === name) === true;
    if (!isMeant || silentMs >= STALE_AFTER || status?.heartbeat === undefined) return [];
    return [{ instance: object.metadata.name, reports: status.loadBalancers ?? [] }];
  });
}

interface CheckedInstance {
  readonly spec: z.infer<typeof loadBalancerInstanceSpec> | undefined;
  readonly status: z.infer<typeof loadBalancerInstanceStatus> | undefined;
}

/** Of each object once: it is asked for with every MachineLoadBalancer of its namespace. */
const checked = new WeakMap<KubernetesObject, CheckedInstance>();

function checkedInstance(object: KubernetesObject): CheckedInstance {
  const known = checked.get(object) ?? {
    spec: loadBalancerInstanceSpec.safeParse(object['spec']).data,
    status: loadBalancerInstanceStatus.safeParse(object['status']).data,
  };
  checked.set(object, known);
  return known;
}

/** What all MachineLoadBalancers of a provider of ours say of it together. */
export function providerOfHosts(
  ref: MachineLoadBalancerSpec['providerRef'],
  instances: readonly SeenInstance[],
): Pick<ProviderView, 'ready' | 'reason' | 'message' | 'address' | 'isProvisioned'> {
  const hosts = liveHosts(ref, instances);
  const isProvisioned = hosts.some(({ reports }) => reports.some(({ answers }) => answers));
  const base = { address: undefined, isProvisioned } as const;
  if (hosts.length === 0)
    return { ...base, ready: 'Unknown', reason: 'NoInstance', message: 'no LB host is alive' };
  const names = hosts.map(({ instance }) => instance).join(', ');
  if (!isProvisioned)
    return {
      ...base,
      ready: 'False',
      reason: 'AddressNotServed',
      message: `alive, and answering for nothing: ${names}`,
    };
  return { ...base, ready: 'True', reason: 'Serving', message: `alive: ${names}` };
}

/** Reports on one MachineLoadBalancer. */
function liveReports(
  name: string,
  ref: MachineLoadBalancerSpec['providerRef'],
  instances: readonly SeenInstance[],
): readonly LiveReport[] {
  return liveHosts(ref, instances).flatMap(({ instance, reports }) =>
    reports.filter((one) => one.name === name).map((report) => ({ ...report, instance })),
  );
}

function hostedView(
  name: string,
  ref: MachineLoadBalancerSpec['providerRef'],
  instances: readonly SeenInstance[],
): ProviderView {
  const reports = liveReports(name, ref, instances);
  const base = { ...nothing, reports, observes: true } as const;
  if (reports.length === 0) {
    const message = `no LB host of ${ref.kind} ${ref.name} has reported on it for ${STALE_AFTER / 1_000} s`;
    return { ...base, ready: 'Unknown', reason: 'NoInstance', message };
  }
  const answering = reports.filter(({ answers }) => answers).map(({ instance }) => instance);
  if (answering.length === 0) {
    const message = `no LB host answers for the address: ${reports.map(({ instance }) => instance).join(', ')}`;
    return { ...base, ready: 'False', reason: 'AddressNotServed', message };
  }
  const drift = reports.flatMap(({ instance, drift: what }) => (what ? [`${instance}: ${what}`] : []));
  const more = drift.length === 0 ? '' : `; not as wanted: ${drift.join('; ')}`;
  const message = `${answering.join(', ')} answer${answering.length === 1 ? 's' : ''} for the address${more}`;
  return {
    ...base,
    ready: 'True',
    reason: drift.length === 0 ? 'Serving' : 'ServingWithDrift',
    message,
    isProvisioned: true,
  };
}

function externalView(provider: KubernetesObject): ProviderView {
  const spec = externalSpec.safeParse(provider['spec']);
  if (spec.data === undefined)
    return {
      ...nothing,
      ready: 'False',
      reason: 'InvalidProvider',
      message: 'spec.address is missing',
      observes: false,
    };
  const { members, observes } = membersOf(provider);
  const { address } = spec.data;
  const message = `${address.host} is given, and made and kept elsewhere`;
  return {
    ...nothing,
    ready: 'True',
    reason: 'AddressGiven',
    message,
    address,
    isProvisioned: true,
    members,
    observes,
  };
}

/** Any kind that keeps the contract: what its status says. */
function contractView(ref: MachineLoadBalancerSpec['providerRef'], provider: KubernetesObject): ProviderView {
  const status = providerStatus.safeParse(provider['status'] ?? {});
  if (status.data === undefined) {
    const [issue] = status.error?.issues ?? [];
    const message = `the status of ${ref.kind} ${ref.name} breaks the contract at ${issue?.path.join('.')}: ${issue?.message}`;
    return { ...nothing, ready: 'False', reason: 'InvalidProvider', message, observes: false };
  }
  const { address, initialization, conditions = [] } = status.data;
  const ready = conditions.find(({ type }) => type === 'Ready');
  const { members, observes } = membersOf(provider);
  return {
    ...nothing,
    ready: ready?.status ?? 'Unknown',
    reason: ready?.reason ?? 'NoCondition',
    message: ready === undefined ? `${ref.kind} ${ref.name} has no condition Ready yet` : ready.message,
    address,
    isProvisioned: initialization?.provisioned === true,
    members,
    observes,
  };
}

function membersOf(provider: KubernetesObject): Pick<ProviderView, 'members' | 'observes'> {
  const { members } = providerStatus.safeParse(provider['status'] ?? {}).data ?? {};
  const known = (members ?? []).map(({ name, healthy, reason, observedBy }) => {
    const text = reason || (healthy ? 'healthy' : 'not healthy');
    return [name, { healthy, reason: observedBy === undefined ? text : `${text} (${observedBy})` }] as const;
  });
  return { members: new Map(known), observes: members !== undefined };
}
