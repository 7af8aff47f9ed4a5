import { formatHostPort } from '@bgp-lb/daemon';
import type { KubernetesObject } from '@bgp-lb/kubernetes';
import { API_VERSION, GROUP } from '../api/group.ts';
import {
  type MachineLoadBalancerSpec,
  machineLoadBalancerRules,
  machineLoadBalancerSpec,
} from '../api/machine-load-balancer.ts';
import { brokenRules } from '../api/spec-rule.ts';
import { conditionsOf, type Finding } from './conditions.ts';
import { judgement } from './judgement.ts';
import { memberEvents } from './member-events.ts';
import { type MemberStates, memberStates } from './member-states.ts';
import { isForeignPool, poolApply, poolName } from './pool-object.ts';
import {
  isHosted,
  type ProviderView,
  providerOfHosts,
  providerView,
  unreadableProvider,
} from './provider-view.ts';
import { publish } from './publish.ts';
import { textAt, valueAt } from './read-json.ts';
import { CLUSTER_LABEL, selectMembers } from './select-members.ts';
import type { Apply, EventText, Outcome, Snapshot } from './snapshot.ts';

const PAUSED = 'cluster.x-k8s.io/paused';

/**
 * What has to be written so that one MachineLoadBalancer is as its spec, its machines and its LB hosts say: pure. With nothing to be
 * changed it asks for no write.
 */
export function reconcile(snapshot: Snapshot): Outcome {
  const { loadBalancer, now } = snapshot;
  if (loadBalancer.metadata.deletionTimestamp !== undefined)
    return { applies: [], events: [], requeueAfter: undefined };
  const paused = pausedBy(snapshot);
  const spec = checkedSpec(loadBalancer);
  if (paused !== undefined) return pausedOutcome(loadBalancer, paused, now);
  if (typeof spec === 'string') return invalidOutcome(loadBalancer, spec, now);
  return reconcileValid(snapshot, spec);
}

/** Why nothing is written; `undefined`: nothing keeps us. Cluster API's two ways to say it. */
export function pausedBy({
  loadBalancer,
  clusters,
}: Pick<Snapshot, 'loadBalancer' | 'clusters'>): string | undefined {
  const { annotations, labels } = loadBalancer.metadata;
  if (annotations?.[PAUSED] !== undefined) return `it has the annotation ${PAUSED}`;
  const names = [labels?.[CLUSTER_LABEL], textAt(loadBalancer, 'spec', 'publishTo', 'name')];
  const paused = clusters.find(
    (cluster) => names.includes(cluster.metadata.name) && valueAt(cluster, 'spec', 'paused') === true,
  );
  return paused === undefined ? undefined : `Cluster ${paused.metadata.name} is paused`;
}

/** Of each object once: it is asked for with every change of another object. */
const checked = new WeakMap<KubernetesObject, MachineLoadBalancerSpec | string>();

/** The spec, or what is wrong with it: an API server without CEL, and one whose CRD is older, lets things pass. */
export function checkedSpec(loadBalancer: KubernetesObject): MachineLoadBalancerSpec | string {
  const known = checked.get(loadBalancer) ?? checkSpec(loadBalancer);
  checked.set(loadBalancer, known);
  return known;
}

function checkSpec(loadBalancer: KubernetesObject): MachineLoadBalancerSpec | string {
  const spec = machineLoadBalancerSpec.safeParse(loadBalancer['spec']);
  if (spec.data === undefined) {
    const texts = spec.error?.issues.map(({ path, message }) => `spec.${path.join('.')}: ${message}`);
    return texts?.join('; ') ?? 'spec is missing';
  }
  const faults = [...brokenRules(machineLoadBalancerRules, spec.data)];
  // The rule of changes, where no API server has kept it.
  const vip = textAt(loadBalancer, 'status', 'vip');
  if (vip !== undefined && vip !== spec.data.vip)
    faults.push(`vip cannot be changed or removed once it is set: it was ${vip}`);
  return faults.length === 0 ? spec.data : faults.join('; ');
}

function reconcileValid(snapshot: Snapshot, spec: MachineLoadBalancerSpec): Outcome {
  const { loadBalancer, candidates, now, instances, provider } = snapshot;
  const { name, generation } = loadBalancer.metadata;
  const previous = loadBalancer['status'];
  const { providerUnreadable } = snapshot;
  const view =
    providerUnreadable === undefined
      ? providerView(name, spec.providerRef, provider, instances)
      : unreadableProvider(spec.providerRef, providerUnreadable, previous);
  const address = addressOf(spec, view);
  const states = memberStates(spec, selectMembers(spec, address?.host, candidates), view, previous, now);
  const protocol = protocolFinding(spec);
  const isCarried = protocol.status === 'True';
  const hasAddress = address !== undefined;
  const foreignPool = isForeignPool(snapshot.pool) ? poolName(name) : undefined;
  const judged = judgement({ states, view, previous, now, protocol, hasAddress, foreignPool });
  const published = publish(spec.publishTo?.name, address, isCarried && view.isProvisioned, snapshot);
  const findings: Record<string, Finding> = {
    Ready: judged.ready,
    EndpointAssigned: endpointFinding(spec, view, address),
    MembersHealthy: judged.membersHealthy,
    ProviderReady: { status: view.ready, reason: view.reason, message: view.message },
    ProtocolSupported: protocol,
    EndpointPublished: published.finding,
    Paused: { status: 'False', reason: 'NotPaused', message: 'neither it nor its Cluster is paused' },
  };
  const members = states.members.map(({ status }) => status);
  const status = {
    ...(spec.vip === undefined ? {} : { vip: spec.vip }),
    ...(address === undefined ? {} : { endpoint: endpointText(spec, address), address }),
    ready: judged.isReady,
    status: judged.text,
    members,
    zones: zonesOf(states),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: conditionsOf(previous, findings, generation, now),
  };
  const pool = isCarried ? poolApply(loadBalancer, states.pool, snapshot.pool) : undefined;
  return {
    applies: [
      ...(pool === undefined ? [] : [pool]),
      ...providerStatusApply(snapshot, spec, view, now),
      ...published.applies,
      ...statusApply(loadBalancer, status),
    ],
    events: [
      ...memberEvents(previous, members),
      ...published.events,
      ...conflictEvent(previous, published.finding),
    ],
    requeueAfter: soonest([...states.members.map(({ drainEndsIn }) => drainEndsIn), judged.changesIn]),
  };
}

function addressOf(
  { vip, port }: MachineLoadBalancerSpec,
  { address }: ProviderView,
): { readonly host: string; readonly port: number } | undefined {
  const host = vip ?? address?.host;
  return host === undefined
    ? undefined
    : { host, port: vip === undefined ? (address?.port ?? port.port) : port.port };
}

function endpointText(
  { port, healthCheck }: MachineLoadBalancerSpec,
  address: { host: string; port: number },
): string {
  const scheme = port.protocol === 'udp' ? 'udp' : healthCheck.type === 'https' ? 'https' : 'tcp';
  return `${scheme}://${formatHostPort(address)}`;
}

function endpointFinding(
  { vip, providerRef }: MachineLoadBalancerSpec,
  { address: given }: ProviderView,
  address: { readonly host: string } | undefined,
): Finding {
  if (address === undefined) {
    const message = `neither vip nor ${providerRef.kind} ${providerRef.name} gives an address`;
    return { status: 'False', reason: 'NoAddress', message };
  }
  if (vip !== undefined && given !== undefined && given.host !== vip) {
    const message = `vip is ${vip}, and ${providerRef.kind} ${providerRef.name} has ${given.host}`;
    return { status: 'False', reason: 'AddressMismatch', message };
  }
  const message = `${address.host} is ${vip === undefined ? 'given by the provider' : 'the vip of the spec'}`;
  return { status: 'True', reason: 'Assigned', message };
}

function protocolFinding({ port, providerRef }: MachineLoadBalancerSpec): Finding {
  if (
    port.protocol === 'udp' &&
    providerRef.apiGroup === GROUP &&
    providerRef.kind === 'HAProxyLoadBalancer'
  ) {
    const message = 'HAProxy does not balance udp; a BGPLoadBalancer, whose data plane is the kernel, does';
    return { status: 'False', reason: 'UdpNotSupported', message };
  }
  return {
    status: 'True',
    reason: 'Supported',
    message: `${port.protocol} is carried by ${providerRef.kind}`,
  };
}

function zonesOf({ members }: MemberStates): readonly { name: string; healthy: number; total: number }[] {
  const names = [...new Set(members.flatMap(({ zone }) => zone ?? []))].toSorted();
  return names.map((name) => {
    const own = members.filter(({ zone }) => zone === name);
    return { name, healthy: own.filter(({ status }) => status.healthy === true).length, total: own.length };
  });
}

function statusApply(loadBalancer: KubernetesObject, status: object): readonly Apply[] {
  if (isSame(loadBalancer['status'], status)) return [];
  const { name, namespace = '', uid } = loadBalancer.metadata;
  const target = { apiVersion: API_VERSION, kind: 'MachineLoadBalancer', namespace, name, uid };
  return [{ what: 'status', target, isStatus: true, fields: { status } }];
}

/** Of our own kinds we are the provider. Several MachineLoadBalancers may name one, which all say the same of it. */
function providerStatusApply(
  { provider, instances }: Snapshot,
  { providerRef }: MachineLoadBalancerSpec,
  view: ProviderView,
  now: number,
): readonly Apply[] {
  if (providerRef.apiGroup !== GROUP || provider === undefined) return [];
  const said = isHosted(providerRef) ? providerOfHosts(providerRef, instances) : view;
  const { name, namespace = '', uid, generation } = provider.metadata;
  const previous = provider['status'];
  const ready = { status: said.ready, reason: said.reason, message: said.message };
  const status = {
    ...(said.address === undefined ? {} : { address: said.address }),
    initialization: { provisioned: said.isProvisioned },
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: conditionsOf(previous, { Ready: ready }, generation, now),
  };
  const own = Object.fromEntries(Object.keys(status).map((key) => [key, valueAt(previous, key)]));
  if (isSame(own, status)) return [];
  const target = { apiVersion: API_VERSION, kind: providerRef.kind, namespace, name, uid };
  return [{ what: 'provider-status', target, isStatus: true, fields: { status } }];
}

function conflictEvent(previous: unknown, { reason, message }: Finding): readonly EventText[] {
  if (reason !== 'EndpointConflict' || conditionReason(previous, 'EndpointPublished') === reason) return [];
  return [{ type: 'Warning', reason, message }];
}

function conditionReason(status: unknown, type: string): unknown {
  const conditions = valueAt(status, 'conditions');
  return Array.isArray(conditions)
    ? valueAt(
        conditions.find((one) => one['type'] === type),
        'reason',
      )
    : undefined;
}

/** All but the condition Paused stays as it is. */
function pausedOutcome(loadBalancer: KubernetesObject, why: string, now: number): Outcome {
  return onlyConditions(
    loadBalancer,
    { Paused: { status: 'True', reason: 'Paused', message: why } },
    {},
    now,
  );
}

function invalidOutcome(loadBalancer: KubernetesObject, why: string, now: number): Outcome {
  const finding: Finding = { status: 'False', reason: 'InvalidSpec', message: why };
  const types = [
    'Ready',
    'EndpointAssigned',
    'MembersHealthy',
    'ProviderReady',
    'ProtocolSupported',
    'EndpointPublished',
  ];
  const findings = Object.fromEntries(
    types.map((type) => [type, { ...finding, status: type === 'Ready' ? 'False' : 'Unknown' } as const]),
  );
  const Paused: Finding = {
    status: 'False',
    reason: 'NotPaused',
    message: 'neither it nor its Cluster is paused',
  };
  return onlyConditions(
    loadBalancer,
    { ...findings, Paused },
    { ready: false, status: 'the spec is not valid' },
    now,
  );
}

function onlyConditions(
  loadBalancer: KubernetesObject,
  findings: Readonly<Record<string, Finding>>,
  more: object,
  now: number,
): Outcome {
  const { generation } = loadBalancer.metadata;
  const previous = valueAt(loadBalancer, 'status');
  const made = conditionsOf(previous, findings, generation, now);
  const before = valueAt(previous, 'conditions');
  const others = (Array.isArray(before) ? before : []).filter(
    (one) => !made.some(({ type }) => type === one['type']),
  );
  const status = { ...(previous ?? {}), ...more, conditions: [...others, ...made] };
  return { applies: statusApply(loadBalancer, status), events: [], requeueAfter: undefined };
}

/** Deep equality of JSON, whatever the order of keys; conditions and members in whatever order. */
function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).toSorted().join()}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined);
    return `{${entries
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => `${key}:${canonical(one)}`)
      .join()}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

function soonest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.flatMap((time) => time ?? []);
  return known.length === 0 ? undefined : Math.max(1_000, Math.min(...known));
}
