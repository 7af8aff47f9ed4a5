import * as z from 'zod';
import { byName, type Condition, conditions, name, port } from './fields.ts';
import { MOST_MEMBERS } from './machine-load-balancer.ts';

interface MemberReport {
  readonly name: string;
  readonly healthy: boolean;
  readonly reason?: string | undefined;
  readonly observedBy?: string | undefined;
}

/** What any provider says. */
export interface ProviderStatus {
  readonly address?: { readonly host: string; readonly port?: number | undefined } | undefined;
  readonly initialization?: { readonly provisioned?: boolean | undefined } | undefined;
  readonly members?: readonly MemberReport[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

interface ExternalSpec {
  readonly address: { readonly host: string; readonly port?: number | undefined };
}

const memberHealth: z.ZodType<MemberReport> = z.object({
  name: name(),
  healthy: z.boolean(),
  reason: z.string().max(1024).optional(),
  observedBy: z.string().max(1024).optional(),
});

/** What any provider says in its status: the contract. */
export const providerStatus: z.ZodType<ProviderStatus> = z.object({
  address: z
    .object({ host: z.string().min(1).max(253), port: port().optional() })
    .optional()
    .describe('Where clients connect, if the provider chooses it.'),
  initialization: z
    .object({ provisioned: z.boolean().optional().describe('The address is reserved and answered for.') })
    .optional(),
  members: byName(memberHealth, MOST_MEMBERS)
    .optional()
    .describe('Health of the members, by the names that the pool gives them.'),
  observedGeneration: z.int().min(0).optional(),
  conditions: conditions(),
});

/** LB hosts of bgp-lb, with the kernel as data plane, and with HAProxy. Their configuration is in files of their own. */
export const hostedSpec: z.ZodObject = z.object({});

/** A load balancer that others made: F5, Octavia, a name of DNS. */
export const externalSpec: z.ZodType<ExternalSpec> = z.object({
  address: z
    .object({
      host: z.string().min(1).max(253).describe('IP address or DNS name.'),
      port: port().optional().describe('Default: `port.port` of the MachineLoadBalancer.'),
    })
    .describe('Where clients connect.'),
});
