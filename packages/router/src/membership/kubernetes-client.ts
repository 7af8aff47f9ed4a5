import { ApiClient, type ApiServer, openKubeconfig, tokenAccess } from '@bgp-lb/kubernetes';
import type { Clock } from '@bgp-lb/protocol/node';
import type { KubernetesConfig } from '../config/router-config.ts';

/** A client of the API that the configuration names. @param moreServers asked after those of the configuration */
export function kubernetesClient(
  { kubeconfig, caFile = '', tokenFile = '', servers }: KubernetesConfig,
  clock: Clock,
  moreServers: () => readonly ApiServer[],
): ApiClient {
  const configured = servers.map((url) => ({ url }));
  return new ApiClient({
    open: () =>
      kubeconfig === undefined ? tokenAccess({ servers, caFile, tokenFile }) : openKubeconfig(kubeconfig),
    moreServers: () => [...(kubeconfig === undefined ? [] : configured), ...moreServers()],
    clock,
  });
}
