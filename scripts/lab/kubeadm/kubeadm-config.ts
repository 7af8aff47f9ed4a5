/** What the simulated kubeadm is told, and how it fails. */

/**
 * Where `init` talks to the API server through the control plane endpoint. kubeadm up to 1.34.1 does from
 * `wait-control-plane` on, later ones from `upload-config` on, the newest never.
 */
export type InitProfile = 'endpoint-from-wait-control-plane' | 'endpoint-from-upload-config' | 'local-only';

/**
 * Where a joining kubelet finds the API server. `endpoint` is kubeadm's way without the feature gate
 * ControlPlaneKubeletLocalMode: the kubelet's certificate comes through the control plane endpoint, before etcd is
 * joined, and kubeadm ends without having asked the machine's own API server for anything. With the gate (`local`) the
 * kubelet waits for that API server, so that etcd is joined first, and join ends by waiting for it.
 */
export type JoinProfile = 'endpoint' | 'local';

/**
 * What the preflight of `join` asks of the folder of manifests: kubeadm before 1.23 that it be `empty`, later ones only
 * that none of kubeadm's own manifests be there (`own-files`).
 */
type ManifestCheck = 'empty' | 'own-files';

/** The name of the check of the empty folder, as `--ignore-preflight-errors` takes it. */
export const manifestFolderCheck = 'DirAvailable--etc-kubernetes-manifests';

/** The file of `--config`. All times in milliseconds. */
export interface KubeadmConfig {
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly serviceAddress: string;
  readonly endpointAddress: string;
  readonly certSANs?: readonly string[];
  readonly endpointPort: number;
  readonly localPort: number;
  /** Stands for /etc/kubernetes. */
  readonly kubernetesFolder: string;
  readonly kubeletSocket: string;
  readonly profile: InitProfile;
  readonly joinProfile: JoinProfile;
  readonly manifestCheck: ManifestCheck;
  /** `--ignore-preflight-errors`: names of checks that only warn. */
  readonly ignorePreflightErrors: readonly string[];
  /** What every phase takes at least. */
  readonly phaseTime: number;
  /** From etcd's start to the last call of join, which takes kubeadm some 11 s: `/readyz` is green for most of it. */
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
