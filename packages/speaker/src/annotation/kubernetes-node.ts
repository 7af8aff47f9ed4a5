/**
 * The one importer of @kubernetes/client-node. It is loaded only where `drain.annotation` is configured: its 3 MB are a file of
 * their own in the bundle, and an asset of the single file.
 */
import {
  ApiException,
  type ConfigurationOptions,
  CoreV1Api,
  KubeConfig,
  Observable,
  type V1ObjectMeta,
  Watch,
} from '@kubernetes/client-node';
import { DRAIN_ANNOTATION } from './drain-wish.ts';
import type { NodeSource } from './node-source.ts';
import { type NodeFacts, type ReflectorEvent, watchEvent } from './reflector.ts';

/** Reads the kubeconfig: anew for each request, since tokens and certificates are renewed. @throws Error when it cannot be used */
export function kubernetesNode(file: string, name: string): NodeSource {
  const config = new KubeConfig();
  config.loadFromFile(file);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`${file} has no current context with a cluster`);
  // Also what makes resourceNames of RBAC apply to list and watch.
  const fieldSelector = `metadata.name=${name}`;

  return {
    async list(signal) {
      const api = config.makeApiClient(CoreV1Api);
      const { items, metadata } = await api.listNode({ fieldSelector }, abortedBy(signal));
      const [node] = items;
      return {
        type: 'listed',
        node: node === undefined ? undefined : factsOf(node.metadata),
        resourceVersion: metadata?.resourceVersion ?? '',
      };
    },

    async watch(resourceVersion, timeoutSeconds, report, signal) {
      const parameters = { fieldSelector, resourceVersion, timeoutSeconds, allowWatchBookmarks: true };
      let request: Promise<AbortController> | undefined;
      let giveUp = (): void => undefined;
      try {
        return await new Promise<ReflectorEvent | undefined>((resolve, reject) => {
          giveUp = () => reject(signal.reason);
          signal.addEventListener('abort', giveUp, { once: true });
          request = new Watch(config).watch(
            '/api/v1/nodes',
            parameters,
            (kind, object) => {
              const event = watchEvent(kind, factsOf(object?.metadata), object?.code);
              if (event?.type === 'failed') resolve(event);
              else if (event !== undefined && !signal.aborted) report(event);
            },
            (error: unknown) => (error ? reject(error) : resolve(undefined)),
          );
          request.catch(reject);
        });
      } finally {
        signal.removeEventListener('abort', giveUp);
        // The library gives its handle away only when it has an answer. Without one, its own limit of 30 s ends the request.
        request?.then(
          (controller) => controller.abort(),
          () => undefined,
        );
      }
    },

    statusOf(error) {
      const code = error instanceof ApiException ? error.code : statusCode(error);
      return typeof code === 'number' ? code : undefined;
    },
  };
}

/** The library's way to hand a signal to a request. */
function abortedBy(signal: AbortSignal): ConfigurationOptions {
  return {
    middleware: [
      {
        pre(context) {
          context.setSignal(signal);
          return new Observable(Promise.resolve(context));
        },
        post: (response) => new Observable(Promise.resolve(response)),
      },
    ],
  };
}

function factsOf(metadata: V1ObjectMeta | undefined): NodeFacts {
  return {
    annotation: metadata?.annotations?.[DRAIN_ANNOTATION],
    resourceVersion: metadata?.resourceVersion ?? '',
  };
}

function statusCode(error: unknown): unknown {
  return error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
}
