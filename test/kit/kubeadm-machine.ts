/** A master of the lab with a real kubeadm and a real control plane: programs of KUBEBUILDER_ASSETS. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { serviceOf, vipOf } from '../../scripts/lab/addresses.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { controlPlaneAssets } from '../../scripts/lab/real-control-plane.ts';
import { MachineRoot } from './machine-root.ts';
import { StaticPodKubelet } from './static-pod-kubelet.ts';

const programs = ['kubeadm', 'kubectl', 'etcd', 'kube-apiserver', 'kube-controller-manager'] as const;
const token = 'abcdef.0123456789abcdef';
const certificateKey = '0123456789abcdef'.repeat(4);
const configFile = '/etc/kubeadm.yaml';
const callLog = '/var/lib/kubeadm.log';

/** The folder of KUBEBUILDER_ASSETS when it has kubeadm and all that a control plane needs. */
export function kubeadmAssets(): string | undefined {
  const folder = controlPlaneAssets();
  return folder !== undefined && programs.every((name) => existsSync(`${folder}/${name}`))
    ? folder
    : undefined;
}

/** One machine. */
export class KubeadmMachine {
  readonly master: MasterHost;
  readonly #root: MachineRoot;
  readonly #kubelet: StaticPodKubelet;

  constructor(master: MasterHost, assets: string) {
    this.master = master;
    this.#root = new MachineRoot(master, [
      [master.path('etc'), '/etc/bgp-lb'],
      [master.path('kubernetes'), '/etc/kubernetes'],
      [master.path('var/lib/bgp-lb'), '/var/lib/bgp-lb'],
    ]);
    for (const name of programs) {
      this.#root.write(`/usr/local/bin/${name}`, `#!/bin/sh\nexec '${assets}/${name}' "$@"\n`, 0o755);
    }
    // Whether the runtime answers, and has an image: there are no containers here.
    this.#root.write('/usr/local/bin/crictl', '#!/bin/sh\n', 0o755);
    // The kubelet runs already, and waits for its files, as the packages of Kubernetes have it.
    this.#root.write('/usr/local/bin/systemctl', '#!/bin/sh\n', 0o755);
    this.#root.write('/var/lib/kubelet/.keep', '', 0o644);
    this.#kubelet = new StaticPodKubelet(master, this.#root);
    this.#kubelet.start();
  }

  /** Runs `kubeadm init && touch MARKER`. */
  init(): HostProcess {
    const local = { advertiseAddress: this.master.address, bindPort: 6443 };
    return this.#kubeadm('init', '--upload-certs', [
      {
        ...kind('InitConfiguration'),
        bootstrapTokens: [{ token }],
        certificateKey,
        localAPIEndpoint: local,
        nodeRegistration: this.#registration,
      },
      {
        ...kind('ClusterConfiguration'),
        kubernetesVersion: 'v1.20.2',
        controlPlaneEndpoint: this.#endpoint,
        networking: { serviceSubnet: serviceOf('ipv4').replace(/\.\d+$/, '.0/12') },
        apiServer: { extraArgs: { 'shutdown-delay-duration': '5s' } },
      },
    ]);
  }

  /** Runs `kubeadm join --control-plane && touch MARKER`. @param caCertHash of the first master's CA */
  join(caCertHash: string): HostProcess {
    const local = { advertiseAddress: this.master.address, bindPort: 6443 };
    const bootstrapToken = { token, apiServerEndpoint: this.#endpoint, caCertHashes: [caCertHash] };
    return this.#kubeadm('join', '', [
      {
        ...kind('JoinConfiguration'),
        discovery: { bootstrapToken },
        controlPlane: { certificateKey, localAPIEndpoint: local },
        nodeRegistration: this.#registration,
      },
    ]);
  }

  /** What kubeadm said, all its runs together. */
  get log(): string {
    const file = this.#root.outside(callLog);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** Starts no program any more. */
  async close(): Promise<void> {
    await this.#kubelet.stop();
  }

  get #endpoint(): string {
    return `${vipOf('ipv4')}:6443`;
  }

  get #registration(): object {
    return { name: this.master.name, criSocket: '/run/containerd/containerd.sock', taints: [] };
  }

  #kubeadm(command: 'init' | 'join', flags: string, documents: readonly object[]): HostProcess {
    writeFileSync(
      this.#root.outside(configFile),
      documents.map((document) => JSON.stringify(document)).join('\n---\n'),
    );
    return this.#root.spawn(
      'kubeadm',
      `kubeadm ${command} --config ${configFile} --ignore-preflight-errors=all ${flags} --v=6 >>${callLog} 2>&1 && touch ${this.master.markerFile}`,
    );
  }
}

const kind = (name: string): object => ({ apiVersion: 'kubeadm.k8s.io/v1beta2', kind: name });
