import type * as z from 'zod';
import { GROUP, type OwnKind, RESOURCES, VERSION } from '../api/group.ts';
import { loadBalancerInstanceSpec, loadBalancerInstanceStatus } from '../api/load-balancer-instance.ts';
import { machineLoadBalancerSpec, machineLoadBalancerStatus } from '../api/machine-load-balancer.ts';
import { externalSpec, hostedSpec, providerStatus } from '../api/providers.ts';
import { structuralSchema } from './structural-schema.ts';

interface Column {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'date';
  readonly jsonPath: string;
  /** More than 0: `kubectl get -o wide` alone shows it. */
  readonly priority?: number;
}

interface OwnResource {
  readonly kind: OwnKind;
  readonly shortName: string;
  readonly describe: string;
  readonly spec: z.ZodType;
  readonly status: z.ZodType;
  readonly columns: readonly Column[];
}

const AGE: Column = { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const condition = (type: string, field: string): string =>
  `.status.conditions[?(@.type=="${type}")].${field}`;
const providerColumns: readonly Column[] = [
  { name: 'ADDRESS', type: 'string', jsonPath: '.status.address.host' },
  { name: 'READY', type: 'string', jsonPath: condition('Ready', 'status') },
  { name: 'REASON', type: 'string', jsonPath: condition('Ready', 'reason') },
  AGE,
];

/** Each kind with its schemas and what `kubectl get` shows of it. */
const ownResources: readonly OwnResource[] = [
  {
    kind: 'MachineLoadBalancer',
    shortName: 'mlb',
    describe: 'These machines, behind this address, by that kind of load balancer.',
    spec: machineLoadBalancerSpec,
    status: machineLoadBalancerStatus,
    columns: [
      { name: 'ENDPOINT', type: 'string', jsonPath: '.status.endpoint' },
      { name: 'READY', type: 'boolean', jsonPath: '.status.ready' },
      { name: 'STATUS', type: 'string', jsonPath: '.status.status' },
      { name: 'PROVIDER', type: 'string', jsonPath: '.spec.providerRef.kind' },
      AGE,
      { name: 'ZONES', type: 'string', jsonPath: '.status.zones[*].name', priority: 1 },
      { name: 'PAUSED', type: 'string', jsonPath: condition('Paused', 'status'), priority: 1 },
    ],
  },
  {
    kind: 'BGPLoadBalancer',
    shortName: 'bgplb',
    describe:
      'LB hosts of bgp-lb that forward with the kernel and announce the address by BGP or on their link.',
    spec: hostedSpec,
    status: providerStatus,
    columns: providerColumns,
  },
  {
    kind: 'HAProxyLoadBalancer',
    shortName: 'haproxylb',
    describe: 'LB hosts of bgp-lb whose data plane is HAProxy.',
    spec: hostedSpec,
    status: providerStatus,
    columns: providerColumns,
  },
  {
    kind: 'ExternalLoadBalancer',
    shortName: 'externallb',
    describe: 'A load balancer that something else made and keeps.',
    spec: externalSpec,
    status: providerStatus,
    columns: providerColumns,
  },
  {
    kind: 'LoadBalancerInstance',
    shortName: 'lbi',
    describe: 'One LB host, and what it sees.',
    spec: loadBalancerInstanceSpec,
    status: loadBalancerInstanceStatus,
    columns: [
      { name: 'VERSION', type: 'string', jsonPath: '.status.version' },
      { name: 'HEARTBEAT', type: 'date', jsonPath: '.status.heartbeat' },
      AGE,
    ],
  },
];

/** The CustomResourceDefinitions. Their labels let `clusterctl move` take the objects along. */
export function customResourceDefinitions(): readonly object[] {
  return ownResources.map(({ kind, shortName, describe, spec, status, columns }) => {
    const plural = RESOURCES[kind];
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${plural}.${GROUP}`,
        labels: { 'clusterctl.cluster.x-k8s.io': '', 'clusterctl.cluster.x-k8s.io/move': '' },
      },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: {
          kind,
          listKind: `${kind}List`,
          plural,
          singular: kind.toLowerCase(),
          shortNames: [shortName],
          categories: ['cluster-api'],
        },
        versions: [
          {
            name: VERSION,
            served: true,
            storage: true,
            subresources: { status: {} },
            additionalPrinterColumns: columns,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                description: describe,
                required: ['spec'],
                properties: {
                  apiVersion: { type: 'string' },
                  kind: { type: 'string' },
                  metadata: { type: 'object' },
                  spec: structuralSchema(spec),
                  status: structuralSchema(status),
                },
              },
            },
          },
        ],
      },
    };
  });
}
