import * as z from 'zod';
import { byName, name, time } from './fields.ts';
import { MOST_MEMBERS } from './machine-load-balancer.ts';

interface LoadBalancerInstanceSpec {
  readonly providers: readonly { readonly kind: string; readonly name: string }[];
}

/** What an LB host says of one MachineLoadBalancer. */
export interface InstanceReport {
  readonly name: string;
  readonly answers: boolean;
  readonly drift?: string | undefined;
  readonly members: readonly {
    readonly name: string;
    readonly address: string;
    readonly healthy: boolean;
    readonly reason?: string | undefined;
    readonly draining?: boolean | undefined;
    readonly connections?: number | undefined;
  }[];
}

interface LoadBalancerInstanceStatus {
  readonly heartbeat?: string | undefined;
  readonly version?: string | undefined;
  readonly loadBalancers?: readonly InstanceReport[] | undefined;
}

/** What the administrator says of an LB host. */
export const loadBalancerInstanceSpec: z.ZodType<LoadBalancerInstanceSpec> = z.object({
  providers: z
    .array(z.object({ kind: z.string().min(1).max(63), name: name() }))
    .max(64)
    .describe(
      'The BGPLoadBalancers and HAProxyLoadBalancers that this LB host is part of. What it says of others is not heard.',
    ),
});

const report: z.ZodType<InstanceReport> = z.object({
  name: name().describe('The MachineLoadBalancer.'),
  answers: z
    .boolean()
    .describe('This LB host carries the address, with or without a member: its data plane is in place.'),
  drift: z.string().max(1024).optional().describe('What is not as wanted in its data plane.'),
  members: z
    .array(
      z.object({
        name: name(),
        address: z.string().max(45),
        healthy: z.boolean(),
        reason: z.string().max(1024).optional(),
        draining: z.boolean().optional().describe('It gets no new connections.'),
        connections: z.int().min(0).optional().describe('Open ones, where the data plane knows.'),
      }),
    )
    .max(2 * MOST_MEMBERS),
});

/** What the LB host says; its token may write the status of this one object. */
export const loadBalancerInstanceStatus: z.ZodType<LoadBalancerInstanceStatus> = z.object({
  heartbeat: time().optional().describe('When it was last written, each 10 s; after 40 s it counts no more.'),
  version: z.string().max(64).optional(),
  loadBalancers: byName(report, 64).optional(),
});
