import { isIP } from 'node:net';
import {
  canonicalAddress,
  FieldError,
  filePath,
  type Immutable,
  ipAddress,
  port,
  type TextField,
  textField,
} from '@bgp-lb/daemon';
import * as z from 'zod';

/** Members that one list may have. */
const MOST_MEMBERS = 64;

const LABEL = /^[0-9a-z]([0-9a-z-]{0,61}[0-9a-z])?$/i;

/** An address or a name of DNS; canonical text in the program: names in lower case, without a dot at the end. */
function addressOrName(): TextField<string> {
  const kind = {
    type: 'IP address or host name',
    allowed: 'an IPv4 or IPv6 address, or a host name, like 10.0.0.11 or m1.example.net',
    jsonSchema: { type: 'string', maxLength: 253 },
  } as const;
  return textField(kind, (text) => {
    if (isIP(text) !== 0) return canonicalAddress(text);
    const name = text.replace(/\.$/, '').toLowerCase();
    const labels = name.split('.');
    // What looks like an address and is none is a mistake, not a name: no top-level domain is a number.
    const isName =
      name.length <= 253 && labels.every((one) => LABEL.test(one)) && !/^[0-9]+$/.test(labels.at(-1) ?? '');
    if (!isName) throw new FieldError('is neither an IP address nor a host name');
    return name;
  });
}

const name = (): z.ZodString =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[!-~]+$/, 'has white space or characters that are not ASCII');
const zone = (): z.ZodString =>
  z
    .string()
    .min(1)
    .max(63)
    .regex(/^[!-~]+$/, 'has white space or characters that are not ASCII');
/** A name of Kubernetes (DNS subdomain). */
const objectName = (): z.ZodString =>
  z
    .string()
    .max(253)
    .regex(
      /^[0-9a-z]([0-9a-z.-]*[0-9a-z])?$/,
      'is no name of Kubernetes: lower case letters, digits, - and .',
    );

const staticMember = z.strictObject({
  name: name().optional().describe('What status calls it. Default: `address`.'),
  address: addressOrName().describe(
    'Address of the master, or a name for one or more of them, which is resolved again when its TTL is over.',
  ),
  zone: zone().optional().describe('Where it stands, for status.'),
});

/** Where the members of a VIP come from. */
export const membersSchema = z
  .strictObject({
    bgp: z.boolean().default(true).describe('Masters announce the VIP by BGP: their speakers.'),
    static: z.array(staticMember).max(MOST_MEMBERS).default([]).describe('Members that this list names.'),
    configMap: z
      .strictObject({
        namespace: objectName().describe('Namespace of the ConfigMap.'),
        name: objectName().describe('Its name. Its key `pool.yaml` is the list.'),
      })
      .optional()
      .describe('Members that a ConfigMap names. Needs `kubernetes`.'),
  })
  .describe('Where members come from: any of these, and all together.');

/** How the API is reached, where something needs it. */
export const kubernetesSchema = z
  .strictObject({
    kubeconfig: filePath()
      .optional()
      .describe('Credentials, read again for each request. In place of `caFile` and `tokenFile`.'),
    caFile: filePath().optional().describe("The cluster's CA certificate, with `tokenFile` and `servers`."),
    tokenFile: filePath().optional().describe('A token that others renew; read again for each request.'),
    servers: z
      .array(z.url({ protocol: /^https$/, error: 'is no URL with https' }).max(300))
      .max(16)
      .default([])
      .describe(
        'API servers, `https://HOST:PORT`, tried in turn, after the one of `kubeconfig`. The members that are known are tried after them.',
      ),
    instance: z
      .strictObject({
        namespace: objectName().describe('Its namespace, that of the MachineLoadBalancers.'),
        name: objectName().describe('Its name.'),
      })
      .optional()
      .describe(
        'The LoadBalancerInstance that this load balancer reports to: what it sees of the VIPs whose `configMap` is of the same namespace and is called `bgp-lb-pool-NAME`, NAME being the MachineLoadBalancer. Default: it reports nothing.',
      ),
  })
  .describe('How the Kubernetes API is reached. For `members.configMap` and `instance`.');

const poolMember = z.strictObject({
  name: name().describe('What status calls it; each name once.'),
  address: ipAddress({ use: 'host' }).describe(
    'Its address; each once. A VIP takes those of its own family.',
  ),
  port: port()
    .optional()
    .describe('Where its API server listens, in place of `machinePort`. HAProxy alone connects there.'),
  zone: zone().optional().describe('Where it stands, for status.'),
  draining: z.boolean().default(false).describe('Live connections stay, new ones go elsewhere.'),
});

/** The keys beside `apiVersion` and `kind: Pool` of `pool.yaml` in a ConfigMap. */
export const poolSchema = z
  .strictObject({
    generation: z.int().min(0).optional().describe('Any number, shown by status.'),
    allowEmpty: z
      .boolean()
      .default(false)
      .describe('A list without members is meant. Without it an empty list changes nothing.'),
    members: z
      .array(poolMember)
      .max(MOST_MEMBERS)
      .describe('The members. At least one, or else `allowEmpty: true`.'),
  })
  .superRefine(({ members, allowEmpty }, context) => {
    if (members.length === 0 && !allowEmpty) {
      const params = { allowed: 'at least one member, or allowEmpty: true' };
      context.addIssue({ code: 'custom', path: ['members'], message: 'is empty', params });
    }
    for (const [index, { address, name: own }] of members.entries()) {
      const before = members.slice(0, index);
      const params = { allowed: 'each member once' };
      const twice = (key: string): void =>
        context.addIssue({
          code: 'custom',
          path: ['members', index, key],
          message: 'is there twice',
          params,
        });
      if (before.some((one) => one.address === address)) twice('address');
      if (before.some((one) => one.name === own)) twice('name');
    }
  });

/** What a ConfigMap says. */
export type PoolList = Immutable<z.output<typeof poolSchema>>;
