/** `kubeadm join --control-plane`, phase by phase. Until the last phase it needs another master through the endpoint. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { publicKeyHash } from '../cluster-pki.ts';
import { isJsonObject, type JsonObject } from '../object-store.ts';
import { refuseLeftovers, sharedPkiFiles, waitReady } from './init.ts';
import { type ApiTarget, callApi, callUntil } from './kube-client.ts';
import { type KubeadmConfig, manifestFolderCheck } from './kubeadm-config.ts';
import { PhaseRunner } from './phase-runner.ts';

const clusterInfoPath = '/api/v1/namespaces/kube-public/configmaps/cluster-info?timeout=10s';

/** Runs it; rejects with a PhaseError. */
export async function join(config: KubeadmConfig): Promise<void> {
  const run = new PhaseRunner(config);
  const isLocal = config.joinProfile === 'local';
  const ca = await preflight(run);
  await run.phase('control-plane-prepare/download-certs', () => downloadCertificates(run, ca));
  await run.phase('control-plane-prepare/certs', () => run.writeCertificates());
  await run.phase('control-plane-prepare/kubeconfig', () => run.writeKubeconfigs());
  await run.phase('control-plane-prepare/control-plane', () => {
    for (const pod of ['apiServer', 'controllerManager', 'scheduler'] as const) run.writeManifest(pod);
  });
  await run.phase('kubelet-start', async () => {
    await refuseTakenName(run);
    await run.kubelet('start');
    if (!isLocal) await bootstrapKubelet(run, run.endpoint());
  });
  await run.phase(isLocal ? 'etcd-join' : 'control-plane-join/etcd', () => joinEtcd(run));
  if (isLocal) await run.phase('kubelet-wait-bootstrap', () => bootstrapKubelet(run, run.local()));
  await run.phase('control-plane-join/mark-control-plane', async () => {
    await sleep(config.settleTime);
    await run.markControlPlane(run.endpoint());
  });
  if (isLocal) await run.phase('wait-control-plane', () => waitReady(run, run.local()));
  console.log('This node has joined the cluster and a new control plane instance was created');
}

/** `kubeadm join phase preflight`, which changes nothing, and needs another master through the endpoint as well. */
export async function joinPreflight(config: KubeadmConfig): Promise<void> {
  await preflight(new PhaseRunner(config));
}

/** The CA that discovery found. */
function preflight(run: PhaseRunner): Promise<string> {
  return run.phase('preflight', async () => {
    refuseManifests(run);
    return discover(run.config);
  });
}

function refuseManifests(run: PhaseRunner): void {
  refuseLeftovers(run);
  if (run.config.manifestCheck !== 'empty') return;
  const folder = run.file('manifests');
  const isEmpty = !existsSync(folder) || readdirSync(folder).length === 0;
  run.check(manifestFolderCheck, isEmpty ? undefined : `${folder} is not empty`);
}

/** A Node of this name that is Ready belongs to another machine. The lab's are never Ready: the call is what matters. */
async function refuseTakenName(run: PhaseRunner): Promise<void> {
  await callUntil(
    () => callApi(run.endpoint(), 'GET', `/api/v1/nodes/${run.config.nodeName}`),
    ({ status }) => status === 200 || status === 404,
    { timeout: run.config.controlPlaneTimeout, retryInterval: run.config.retryInterval },
  );
}

/** The kubelet's own certificate, its Node and kubelet.conf: from the API server that the kubelet knows. */
async function bootstrapKubelet(run: PhaseRunner, target: ApiTarget): Promise<void> {
  await run.registerNode(target);
  run.writeKubeletConfig();
}

async function joinEtcd(run: PhaseRunner): Promise<void> {
  // A member is added only to a cluster that kubeadm finds healthy, and it finds the members by the API.
  await run.read(run.endpoint(), '/api/v1/namespaces/kube-system/configmaps/kubeadm-config');
  run.writeManifest('etcd');
  await run.kubelet('sync');
}

/** Finds the CA by cluster-info from the server that answers, then asks again trusting only the CA whose key was pinned. */
async function discover(config: KubeadmConfig): Promise<string> {
  const target = {
    host: config.endpointAddress,
    port: config.endpointPort,
    ca: undefined,
    timeout: config.requestTimeout,
  };
  const times = { timeout: config.discoveryTimeout, retryInterval: config.retryInterval };
  const found = { ca: '' };
  await callUntil(
    async () => {
      const unverified = await callApi(target, 'GET', clusterInfoPath);
      if (unverified.status !== 200) return unverified;
      const ca = authorityOf(unverified.body);
      const hash = publicKeyHash(ca);
      if (hash !== config.caCertHash) {
        throw new Error(
          `cluster CA found in cluster-info ConfigMap is invalid: public key ${hash} not pinned`,
        );
      }
      const verified = await callApi({ ...target, ca }, 'GET', clusterInfoPath);
      found.ca = ca;
      return verified;
    },
    ({ status }) => status === 200,
    times,
  ).catch((error: unknown) => {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`couldn't validate the identity of the API Server: ${text}`, { cause: error });
  });
  return found.ca;
}

function authorityOf(clusterInfo: JsonObject | string): string {
  const data = isJsonObject(clusterInfo) ? clusterInfo['data'] : undefined;
  const text = isJsonObject(data) ? data['kubeconfig'] : undefined;
  const kubeconfig: unknown = typeof text === 'string' ? JSON.parse(text) : undefined;
  const clusters = isJsonObject(kubeconfig) ? kubeconfig['clusters'] : undefined;
  const first: unknown = Array.isArray(clusters) ? clusters[0] : undefined;
  const cluster = isJsonObject(first) ? first['cluster'] : undefined;
  const ca = isJsonObject(cluster) ? cluster['certificate-authority-data'] : undefined;
  if (typeof ca !== 'string') throw new TypeError('cluster-info names no certificate authority');
  return Buffer.from(ca, 'base64').toString('utf8');
}

async function downloadCertificates(run: PhaseRunner, ca: string): Promise<void> {
  const api = run.endpoint(ca);
  await run.read(api, '/api/v1/namespaces/kube-system/configmaps/kubeadm-config');
  const { data } = await run.read(api, '/api/v1/namespaces/kube-system/secrets/kubeadm-certs');
  for (const name of sharedPkiFiles) {
    const content = isJsonObject(data) ? data[name] : undefined;
    if (typeof content !== 'string') throw new TypeError(`the Secret kubeadm-certs has no ${name}`);
    writeFileSync(`${run.pkiFolder}/${name}`, Buffer.from(content, 'base64'), { mode: 0o600 });
  }
}
