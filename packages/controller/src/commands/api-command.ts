import type { CommandContext } from '@bgp-lb/daemon';
import { ApiClient } from '@bgp-lb/kubernetes';
import { apiCredentials } from '../run/api-credentials.ts';
import { systemClock } from '../run/system-clock.ts';

/** Milliseconds for one answer. */
const LIMIT = 15_000;

/** Options of commands that ask the Kubernetes API themselves. */
export const apiOptions = {
  kubeconfig: {
    type: 'string',
    requiresArg: true,
    describe: 'Credentials. Default: KUBECONFIG, or the service account of the pod',
  },
  namespace: {
    alias: 'n',
    type: 'string',
    requiresArg: true,
    default: 'default',
    describe: 'Namespace of the object',
  },
} as const;

/** Asks the API with what the command line names. */
export class ApiCommand {
  readonly namespace: string;
  readonly #client: ApiClient;

  constructor({ args, env }: CommandContext) {
    this.namespace = String(args['namespace'] ?? 'default');
    const kubeconfig = args['kubeconfig'] ?? env['KUBECONFIG'];
    const file = kubeconfig === undefined ? undefined : String(kubeconfig);
    this.#client = new ApiClient({ open: apiCredentials(file, env), clock: systemClock });
  }

  /** @throws ApiError */
  async send(request: Parameters<ApiClient['send']>[0]): Promise<unknown> {
    return await this.#client.send(request, AbortSignal.timeout(LIMIT));
  }

  /** Server-side apply of an object as it is. @throws ApiError */
  async apply(path: string, body: object): Promise<unknown> {
    const query = { fieldManager: 'bgp-lb-controller-host-token', force: 'true' };
    return await this.send({
      method: 'PATCH',
      path,
      query,
      body,
      contentType: 'application/apply-patch+yaml',
    });
  }

  close(): void {
    this.#client.close();
  }
}
