import {
  filePath,
  type HostPort,
  hostPort,
  type LogSection,
  logSection,
  nodeName,
  socketPath,
} from '@bgp-lb/daemon';
import * as z from 'zod';

export const KIND = 'Controller';
export const DEFAULT_SOCKET = '/run/bgp-lb/controller.sock';

/** /etc/bgp-lb/controller.yaml. */
export interface ControllerConfig {
  readonly namespace?: string | undefined;
  readonly watchFilter?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly lease: {
    readonly namespace: string;
    readonly name: string;
    readonly identity?: string | undefined;
  };
  readonly api: { readonly socket: string; readonly listen: HostPort };
  readonly log: LogSection;
}

/** Schema of the controller's configuration: every key has a default, so that a pod needs no file. */
export const controllerSchema: z.ZodType<ControllerConfig, unknown> = z.strictObject({
  namespace: nodeName().optional().describe('The only namespace that is looked at. Default: all of them.'),
  watchFilter: z
    .string()
    .min(1)
    .max(63)
    .optional()
    .describe('Only objects whose label `cluster.x-k8s.io/watch-filter` has this value. Default: all.'),
  kubeconfig: filePath()
    .optional()
    .describe('Credentials, read again for each request. Default: those of the service account of the pod.'),
  lease: z
    .strictObject({
      namespace: nodeName().default('bgp-lb-system').describe('Namespace of the Lease.'),
      name: nodeName().default('bgp-lb-controller').describe('Its name, the same for all replicas.'),
      identity: z
        .string()
        .min(1)
        .max(253)
        .optional()
        .describe('What this replica is called, unlike any other. Default: host name and process id.'),
    })
    .prefault({})
    .describe('One replica at a time writes: the one that holds this Lease.'),
  api: z
    .strictObject({
      socket: socketPath().default(DEFAULT_SOCKET).describe('Unix socket of the HTTP API.'),
      listen: hostPort()
        .default({ host: '0.0.0.0', port: 9476 })
        .describe('TCP address of the read-only HTTP API: health and metrics.'),
    })
    .prefault({})
    .describe('The HTTP API.'),
  log: logSection(),
});
