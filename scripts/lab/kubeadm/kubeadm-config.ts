/** What the simulated kubeadm is told, and how it fails. */

/**
 * Where `init` talks to the API server through the control plane endpoint. kubeadm up to 1.34.1 does from
 * `wait-control-plane` on, later ones from `upload-config` on, the newest never.
 */
export type InitProfile = 'endpoint-from-wait-control-plane' | 'endpoint-from-upload-config' | 'local-only';

/** The file of `--config`. All times in milliseconds. */
export interface KubeadmConfig {
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly serviceAddress: string;
  readonly endpointAddress: string;
  readonly endpointPort: number;
  readonly localPort: number;
  /** Stands for /etc/kubernetes. */
  readonly kubernetesFolder: string;
  readonly kubeletSocket: string;
  readonly profile: InitProfile;
  /** What every phase takes at least. */
  readonly phaseTime: number;
  /** From the API server's first green `/readyz` to the last phase of join, which takes kubeadm some 11 s. */
  readonly settleTime: number;
  /** How long join looks for the API server through the endpoint. */
  readonly discoveryTimeout: number;
  /** How long init waits for the control plane, and any later call for its answer. */
  readonly controlPlaneTimeout: number;
  /** The limit of one request: kubeadm's is 10 s. */
  readonly requestTimeout: number;
  /** How long it waits before it tries again. */
  readonly retryInterval: number;
  /** For join: stands for the bootstrap token and the certificate key; a folder with admin.crt and admin.key. */
  readonly credentialFolder?: string;
  /** For join: `sha256:HEX` of the CA's key. */
  readonly caCertHash?: string;
}

/** A failed phase: printed as kubeadm prints it, exit status 1. */
export class PhaseError extends Error {
  readonly phase: string;

  constructor(phase: string, cause: unknown) {
    super(`error execution phase ${phase}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'PhaseError';
    this.phase = phase;
  }
}

/** Where manifests are, relative to the Kubernetes folder. */
export const manifestNames = {
  apiServer: 'kube-apiserver.yaml',
  controllerManager: 'kube-controller-manager.yaml',
  scheduler: 'kube-scheduler.yaml',
  etcd: 'etcd.yaml',
} as const;
