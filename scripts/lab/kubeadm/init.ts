/** `kubeadm init --upload-certs`, phase by phase. */
import { existsSync, readFileSync } from 'node:fs';
import { createAuthority } from '../cluster-pki.ts';
import type { JsonObject } from '../object-store.ts';
import { type ApiTarget, callApi, callUntil } from './kube-client.ts';
import type { InitProfile, KubeadmConfig } from './kubeadm-config.ts';
import { manifestNames } from './kubeadm-config.ts';
import { PhaseRunner } from './phase-runner.ts';

/** The phases from which on init uses the endpoint. */
const endpointFrom: Readonly<Record<InitProfile, readonly string[]>> = {
  'endpoint-from-wait-control-plane': ['wait-control-plane', 'later'],
  'endpoint-from-upload-config': ['later'],
  'local-only': [],
};

/** Runs it; rejects with a PhaseError. */
export async function init(config: KubeadmConfig): Promise<void> {
  const run = new PhaseRunner(config);
  const through = (phase: 'wait-control-plane' | 'later'): ApiTarget =>
    endpointFrom[config.profile].includes(phase) ? run.endpoint() : run.local();

  await preflight(run);
  await run.phase('certs', async () => {
    await createAuthority(run.pkiFolder);
    await run.writeCertificates();
  });
  await run.phase('kubeconfig', () => run.writeKubeconfigs());
  await run.phase('etcd', () => run.writeManifest('etcd'));
  await run.phase('control-plane', () => {
    for (const pod of ['apiServer', 'controllerManager', 'scheduler'] as const) run.writeManifest(pod);
  });
  await run.phase('kubelet-start', () => run.kubelet('start'));
  await run.phase('wait-control-plane', () => waitReady(run, through('wait-control-plane')));

  const api = through('later');
  await run.phase('upload-config', async () => {
    await run.registerNode(api);
    run.writeKubeletConfig();
    await run.create(api, '/api/v1/namespaces/kube-system/configmaps', kubeadmConfigMap(config));
  });
  await run.phase('upload-certs', () =>
    run.create(api, '/api/v1/namespaces/kube-system/secrets', certificateSecret(run.pkiFolder)),
  );
  await run.phase('mark-control-plane', () => run.markControlPlane(api));
  await run.phase('bootstrap-token', () => publishClusterInfo(run, api));
  await run.phase('addon', () => undefined);
  console.log('Your Kubernetes control-plane has initialized successfully!');
}

/** `kubeadm init phase preflight`, which changes nothing. */
export async function initPreflight(config: KubeadmConfig): Promise<void> {
  await preflight(new PhaseRunner(config));
}

function preflight(run: PhaseRunner): Promise<void> {
  return run.phase('preflight', () => refuseLeftovers(run));
}

/** kubeadm's preflight refuses a machine that was not reset. */
export function refuseLeftovers(run: PhaseRunner): void {
  for (const manifest of Object.values(manifestNames)) {
    const file = run.file(`manifests/${manifest}`);
    run.check(`FileAvailable--${manifest}`, existsSync(file) ? `${file} already exists` : undefined);
  }
}

/** Asks `/readyz` until it is 200. */
export async function waitReady(run: PhaseRunner, target: ApiTarget): Promise<void> {
  await callUntil(
    () => callApi(target, 'GET', '/readyz'),
    ({ status }) => status === 200,
    { timeout: run.config.controlPlaneTimeout, retryInterval: run.config.retryInterval },
  );
}

function kubeadmConfigMap(config: KubeadmConfig): JsonObject {
  const clusterConfiguration = {
    apiVersion: 'kubeadm.k8s.io/v1beta4',
    kind: 'ClusterConfiguration',
    clusterName: 'kubernetes',
    controlPlaneEndpoint: `${config.endpointAddress}:${config.endpointPort}`,
  };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubeadm-config', namespace: 'kube-system' },
    data: { ClusterConfiguration: JSON.stringify(clusterConfiguration) },
  };
}

/** The files that masters share. kubeadm encrypts them by the certificate key; the lab's only reader is a joiner. */
export const sharedPkiFiles = ['ca.crt', 'ca.key', 'sa.key', 'sa.pub'] as const;

function certificateSecret(pkiFolder: string): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'kubeadm-certs', namespace: 'kube-system' },
    data: Object.fromEntries(
      sharedPkiFiles.map((name) => [name, readFileSync(`${pkiFolder}/${name}`).toString('base64')]),
    ),
  };
}

/** cluster-info, and the role by which everyone may read it. */
async function publishClusterInfo(run: PhaseRunner, api: ApiTarget): Promise<void> {
  const { endpointAddress, endpointPort } = run.config;
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: '',
        cluster: {
          server: `https://${endpointAddress}:${endpointPort}`,
          'certificate-authority-data': readFileSync(`${run.pkiFolder}/ca.crt`).toString('base64'),
        },
      },
    ],
  };
  const metadata = (name: string): JsonObject => ({ name, namespace: 'kube-public' });
  const roleName = 'kubeadm:bootstrap-signer-clusterinfo';
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public';
  await run.create(api, '/api/v1/namespaces/kube-public/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('cluster-info'),
    data: { kubeconfig: JSON.stringify(kubeconfig) },
  });
  await run.create(api, `${rbac}/roles`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: metadata(roleName),
    rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }],
  });
  await run.create(api, `${rbac}/rolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: metadata(roleName),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: roleName },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:anonymous' }],
  });
}
