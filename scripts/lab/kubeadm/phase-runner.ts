/** What init and join have in common: phases that take time, files, and calls that are repeated until they work. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueAdminCertificate, issueServingCertificate } from '../cluster-pki.ts';
import { isJsonObject, type JsonObject } from '../object-store.ts';
import { unixRequest } from '../unix-http.ts';
import { type ApiTarget, callApi, callUntil } from './kube-client.ts';
import { type KubeadmConfig, manifestNames, PhaseError } from './kubeadm-config.ts';

const kubeconfigNames = ['admin.conf', 'super-admin.conf', 'controller-manager.conf', 'scheduler.conf'];

/** The run of one kubeadm command. */
export class PhaseRunner {
  readonly config: KubeadmConfig;

  constructor(config: KubeadmConfig) {
    this.config = config;
  }

  get pkiFolder(): string {
    return this.file('pki');
  }

  /** A path under the Kubernetes folder. */
  file(name: string): string {
    return `${this.config.kubernetesFolder}/${name}`;
  }

  /** Runs one phase; what it throws becomes kubeadm's error line. */
  async phase<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    console.log(`[${name}] started`);
    try {
      await sleep(this.config.phaseTime);
      return await work();
    } catch (error) {
      throw new PhaseError(name, error);
    }
  }

  /** A check of the preflight: what is wrong ends the run, unless the name is one of those that are to be ignored. */
  check(name: string, fault: string | undefined): void {
    if (fault === undefined) return;
    if (this.config.ignorePreflightErrors.includes(name)) {
      console.log(`\t[WARNING ${name}]: ${fault}`);
      return;
    }
    throw new Error(`[preflight] Some fatal errors occurred: [ERROR ${name}]: ${fault}`);
  }

  /** The API server through the control plane endpoint; the CA is that of discovery until ca.crt is written. */
  endpoint(ca?: string): ApiTarget {
    return this.#target(this.config.endpointAddress, this.config.endpointPort, ca);
  }

  /** The API server on this machine. */
  local(): ApiTarget {
    return this.#target(this.config.nodeAddress, this.config.localPort);
  }

  #target(host: string, port: number, ca?: string): ApiTarget {
    const folder = this.config.credentialFolder ?? this.pkiFolder;
    return {
      host,
      port,
      timeout: this.config.requestTimeout,
      ca: ca ?? readFileSync(`${this.pkiFolder}/ca.crt`, 'utf8'),
      client: {
        certificate: readFileSync(`${folder}/admin.crt`, 'utf8'),
        key: readFileSync(`${folder}/admin.key`, 'utf8'),
      },
    };
  }

  /** Reads an object, again and again until it is there. */
  async read(
    target: ApiTarget,
    path: string,
    timeout: number = this.config.controlPlaneTimeout,
  ): Promise<JsonObject> {
    const answer = await callUntil(
      () => callApi(target, 'GET', path),
      ({ status }) => status === 200,
      { timeout, retryInterval: this.config.retryInterval },
    );
    if (!isJsonObject(answer.body)) throw new TypeError(`${path} is no object`);
    return answer.body;
  }

  /** Creates an object; one that exists is as good. */
  async create(target: ApiTarget, collection: string, object: JsonObject): Promise<void> {
    await callUntil(
      () => callApi(target, 'POST', collection, object),
      ({ status }) => status === 201 || status === 409,
      { timeout: this.config.controlPlaneTimeout, retryInterval: this.config.retryInterval },
    );
  }

  /** Sets the label and the taint of a control plane node, and the label that keeps load balancers of Services away. */
  async markControlPlane(target: ApiTarget): Promise<void> {
    await callUntil(
      () =>
        callApi(target, 'PATCH', `/api/v1/nodes/${this.config.nodeName}`, {
          metadata: {
            name: this.config.nodeName,
            labels: {
              'node-role.kubernetes.io/control-plane': '',
              'node.kubernetes.io/exclude-from-external-load-balancers': '',
            },
          },
          spec: { taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }] },
        }),
      ({ status }) => status === 200,
      { timeout: this.config.controlPlaneTimeout, retryInterval: this.config.retryInterval },
    );
  }

  /** The Node object, which the kubelet makes once it may. */
  async registerNode(target: ApiTarget): Promise<void> {
    await this.create(target, '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: this.config.nodeName },
    });
  }

  /** The certificates of this machine, signed by the CA whose key is here. */
  async writeCertificates(): Promise<void> {
    await issueServingCertificate(this.pkiFolder, this.config);
    await issueAdminCertificate(this.pkiFolder);
  }

  /** admin.conf and its like: written long before anything works. */
  writeKubeconfigs(): void {
    const { endpointAddress, endpointPort } = this.config;
    const pem = (name: string): string => readFileSync(`${this.pkiFolder}/${name}`).toString('base64');
    for (const name of kubeconfigNames) {
      this.writeFile(name, {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [
          {
            name: 'kubernetes',
            cluster: {
              server: `https://${endpointAddress}:${endpointPort}`,
              'certificate-authority-data': pem('ca.crt'),
            },
          },
        ],
        users: [
          {
            name: 'kubernetes-admin',
            user: { 'client-certificate-data': pem('admin.crt'), 'client-key-data': pem('admin.key') },
          },
        ],
      });
    }
  }

  /** A static pod manifest; the lab's kubelet looks at its name only. */
  writeManifest(pod: keyof typeof manifestNames): void {
    mkdirSync(this.file('manifests'), { recursive: true });
    const name = manifestNames[pod].replace('.yaml', '');
    this.writeFile(`manifests/${manifestNames[pod]}`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'kube-system' },
    });
  }

  /** Writes an object as a file; JSON is YAML. */
  writeFile(name: string, content: JsonObject): void {
    writeFileSync(this.file(name), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  }

  /** kubelet.conf, which a kubelet has once its own certificate is signed. */
  writeKubeletConfig(): void {
    copyFileSync(this.file('admin.conf'), this.file('kubelet.conf'));
  }

  /** systemctl start kubelet, or the folder of manifests changed. */
  async kubelet(action: 'start' | 'sync'): Promise<void> {
    await unixRequest(this.config.kubeletSocket, 'POST', `/${action}`, undefined, 30_000);
  }
}
