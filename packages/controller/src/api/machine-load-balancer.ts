import * as z from 'zod';
import {
  address,
  byName,
  type Condition,
  conditions,
  durationText,
  name,
  port,
  setOf,
  time,
} from './fields.ts';
import { type SpecRule, withRules } from './spec-rule.ts';

/** Members of one MachineLoadBalancer, as of one pool of a router. */
export const MOST_MEMBERS = 64;
/** Longest name of a zone: a failureDomain of Cluster API. */
export const LONGEST_ZONE = 256;
/** Longest reason of a member. */
export const LONGEST_REASON = 1_024;

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

interface StaticMember {
  readonly name: string;
  readonly address: string;
  readonly port?: number | undefined;
  readonly zone?: string | undefined;
}

/** What is asked for, with its defaults. */
export interface MachineLoadBalancerSpec {
  readonly vip?: string | undefined;
  readonly port: { readonly port: number; readonly machinePort: number; readonly protocol: 'tcp' | 'udp' };
  readonly source: 'Machine' | 'Node' | 'Static';
  readonly machineSelector?: LabelSelector | undefined;
  readonly members?: readonly StaticMember[] | undefined;
  readonly clusterNames?: readonly string[] | undefined;
  readonly zones: { readonly mode: 'Any' | 'Prefer' | 'Only'; readonly name?: string | undefined };
  readonly addressType: 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS' | 'Hostname';
  readonly healthCheck: { readonly type: 'https' | 'none' };
  readonly drain: {
    readonly delay: string;
    readonly timeout: string;
    readonly hook: boolean;
    readonly keys?: readonly string[] | undefined;
  };
  readonly publishTo?: { readonly name: string } | undefined;
  readonly providerRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
}

/** One member as status shows it. */
export interface MemberStatus {
  readonly name: string;
  readonly address?: string | undefined;
  readonly zone?: string | undefined;
  readonly healthy?: boolean | undefined;
  readonly draining: boolean;
  readonly drainingSince?: string | undefined;
  readonly drained?: boolean | undefined;
  readonly reason: string;
}

export interface MachineLoadBalancerStatus {
  readonly vip?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly address?: { readonly host: string; readonly port: number } | undefined;
  readonly ready?: boolean | undefined;
  readonly status?: string | undefined;
  readonly members?: readonly MemberStatus[] | undefined;
  readonly zones?:
    | readonly { readonly name: string; readonly healthy: number; readonly total: number }[]
    | undefined;
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

const selector: z.ZodType<LabelSelector> = z
  .object({
    matchLabels: z.record(z.string(), z.string().max(63)).optional().describe('Labels that it must have.'),
    matchExpressions: z
      .array(
        z.object({
          key: z.string().min(1).max(317),
          operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: z.array(z.string().max(63)).max(64).optional(),
        }),
      )
      .max(16)
      .optional()
      .describe('Requirements that it must meet, all of them.'),
  })
  .describe('Which Machines or Nodes are members. A selector without any requirement takes all.');

const staticMember: z.ZodType<StaticMember> = z.object({
  name: name().describe('What status calls it.'),
  address: address().describe('Its IP address.'),
  port: port().optional().describe('Where it listens, instead of `port.machinePort`.'),
  zone: z.string().min(1).max(LONGEST_ZONE).optional().describe('Where it stands.'),
});

const specFields: z.ZodType<MachineLoadBalancerSpec, unknown> = z.object({
  vip: address()
    .optional()
    .describe(
      'The virtual IP, optional when the provider gives one. It cannot be changed or removed once it is set.',
    ),
  port: z
    .object({
      port: port().default(6443).describe('Where clients connect.'),
      machinePort: port().default(6443).describe('Where members listen.'),
      protocol: z.enum(['tcp', 'udp']).default('tcp'),
    })
    .default({ port: 6443, machinePort: 6443, protocol: 'tcp' })
    .describe('The ports of clients and of members.'),
  source: z.enum(['Machine', 'Node', 'Static']).default('Machine').describe('Where members come from.'),
  machineSelector: selector.optional(),
  members: byName(staticMember, MOST_MEMBERS)
    .optional()
    .describe('The members by hand, with `source: Static`.'),
  clusterNames: setOf(16)
    .optional()
    .describe(
      'Several clusters behind one address: Machines of these only. Default: all that the selector finds in this namespace.',
    ),
  zones: z
    .object({
      mode: z.enum(['Any', 'Prefer', 'Only']).default('Any'),
      name: z.string().min(1).max(LONGEST_ZONE).optional(),
    })
    .default({ mode: 'Any' })
    .describe(
      'Members of which zones are used: `Any`; `Prefer` the zone `name` while a member in it can be used; `Only` that zone.',
    ),
  addressType: z
    .enum(['InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS', 'Hostname'])
    .default('InternalIP')
    .describe(
      'Which of the addresses of a Machine or Node is used. One that is no IP address is passed over.',
    ),
  healthCheck: z
    .object({
      type: z.enum(['https', 'none']).default('https'),
    })
    .default({ type: 'https' })
    .describe('What members are asked. LB hosts ask it as their own configuration says; `none` is for udp.'),
  drain: z
    .object({
      delay: durationText().default('0s').describe('How long a member drains at least.'),
      timeout: durationText()
        .default('60s')
        .describe('When a drain is over, whatever connections there are.'),
      hook: z
        .boolean()
        .default(false)
        .describe(
          'Hold the deletion of a Machine, by a pre-drain hook of Cluster API, until its member is drained.',
        ),
      keys: setOf(16).optional().describe('More labels or annotations that drain a member.'),
    })
    .default({ delay: '0s', timeout: '60s', hook: false })
    .describe('How members leave.'),
  publishTo: z
    .object({ name: name() })
    .optional()
    .describe(
      'The Cluster, in this namespace, whose endpoint this is. It is written once and never overwritten.',
    ),
  providerRef: z
    .object({ apiGroup: z.string().min(1).max(253), kind: z.string().min(1).max(63), name: name() })
    .describe(
      'What carries the address: BGPLoadBalancer, HAProxyLoadBalancer, ExternalLoadBalancer or any kind with the same status.',
    ),
});

/** Rules across the fields of a MachineLoadBalancer. */
export const machineLoadBalancerRules: readonly SpecRule<MachineLoadBalancerSpec>[] = [
  {
    // On spec: a rule on the field itself is not asked when the field is removed.
    rule: '!has(oldSelf.vip) || (has(self.vip) && self.vip == oldSelf.vip)',
    message: 'vip cannot be changed or removed once it is set',
  },
  {
    rule: 'has(self.machineSelector) != has(self.members)',
    message: 'exactly one of machineSelector and members is needed',
    holds: (self) => (self.machineSelector === undefined) !== (self.members === undefined),
  },
  {
    rule: "has(self.members) == (self.source == 'Static')",
    message: 'members go with source Static, and machineSelector with Machine and Node',
    holds: (self) => (self.members !== undefined) === (self.source === 'Static'),
  },
  {
    rule: "self.port.protocol == 'tcp' || self.healthCheck.type != 'https'",
    message: 'udp cannot be checked by https: set healthCheck.type to none',
    holds: (self) => self.port.protocol === 'tcp' || self.healthCheck.type !== 'https',
  },
  {
    rule: "self.zones.mode == 'Any' || has(self.zones.name)",
    message: 'zones.name is needed with Prefer and Only',
    holds: (self) => self.zones.mode === 'Any' || self.zones.name !== undefined,
  },
  {
    rule: "!self.drain.hook || self.source == 'Machine'",
    message: 'drain.hook needs source Machine: only Machines have hooks',
    holds: (self) => !self.drain.hook || self.source === 'Machine',
  },
];

export const machineLoadBalancerSpec: z.ZodType<MachineLoadBalancerSpec, unknown> = withRules(
  specFields,
  machineLoadBalancerRules,
);

const member: z.ZodType<MemberStatus> = z.object({
  name: name(),
  address: z.string().max(45).optional(),
  zone: z.string().max(LONGEST_ZONE).optional(),
  healthy: z.boolean().optional().describe('Not there while no LB host says.'),
  draining: z.boolean(),
  drainingSince: time().optional(),
  drained: z.boolean().optional().describe('It has no connections any more, or the drain timeout is over.'),
  reason: z.string().min(1).max(LONGEST_REASON).describe('Why it is as it is.'),
});

export const machineLoadBalancerStatus: z.ZodType<MachineLoadBalancerStatus> = z.object({
  vip: z.string().max(45).optional().describe('`spec.vip` as it was when it was first seen.'),
  endpoint: z.string().optional().describe('`https://ADDRESS:PORT`, or `udp://`.'),
  address: z
    .object({ host: z.string().max(253), port: port() })
    .optional()
    .describe('The same in parts.'),
  ready: z.boolean().optional().describe('At least one member is healthy, and the provider is ready.'),
  status: z.string().optional().describe('In a sentence: `4 of 5 members healthy`.'),
  members: byName(member, MOST_MEMBERS).optional(),
  zones: byName(
    z.object({ name: z.string().max(LONGEST_ZONE), healthy: z.int().min(0), total: z.int().min(0) }),
    MOST_MEMBERS,
  ).optional(),
  observedGeneration: z.int().min(0).optional(),
  conditions: conditions(),
});
