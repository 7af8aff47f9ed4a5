import { type ApiAccess, openKubeconfig, tokenAccess } from '@bgp-lb/kubernetes';

/** Where the kubelet puts what a pod calls the API with. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** How the API is reached: by a kubeconfig, or by the service account of the pod. Asked for each request. */
export function apiCredentials(
  kubeconfig: string | undefined,
  env: NodeJS.ProcessEnv,
): () => ApiAccess | Promise<ApiAccess> {
  if (kubeconfig !== undefined) return () => openKubeconfig(kubeconfig);
  const host = env['KUBERNETES_SERVICE_HOST'];
  if (host === undefined)
    throw new Error('there is no kubeconfig, and this is no pod: KUBERNETES_SERVICE_HOST is not set');
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] ?? '443'}`;
  return () => tokenAccess({ servers: [server], caFile: `${FOLDER}/ca.crt`, tokenFile: `${FOLDER}/token` });
}
