/**
 * What kubeadm needs of a kubelet, for a control plane of real programs without containers: it runs the commands of static pods
 * on the machine itself, says that it is healthy, gets its certificate with the bootstrap token, and makes its Node.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { runCommand } from '../../scripts/lab/run-command.ts';
import type { MachineRoot } from './machine-root.ts';

const manifests = '/etc/kubernetes/manifests';
const kubeconfig = '/etc/kubernetes/kubelet.conf';
const bootstrapKubeconfig = '/etc/kubernetes/bootstrap-kubelet.conf';
const speakerManifest = 'bgp-lb-speaker.yaml';
/** kube-scheduler decides nothing here: there is no pod but the static ones. */
const ignored = ['kube-scheduler.yaml'];
/** Milliseconds between two looks, and from the end of a pod to its next start. */
const period = 500;

/** The kubelet of one machine. */
export class StaticPodKubelet {
  readonly #master: MasterHost;
  readonly #root: MachineRoot;
  readonly #pods = new Map<string, HostProcess | undefined>();
  #health: HostProcess | undefined;
  #isOver = false;
  #running: Promise<void> | undefined;

  constructor(master: MasterHost, root: MachineRoot) {
    this.#master = master;
    this.#root = root;
  }

  /** From now on it does what the files under /etc/kubernetes and /var/lib/kubelet ask for. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Starts nothing any more. What runs stays, for the lab to end. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { name } = this.#master;
    let hasNode = false;
    while (!this.#isOver) {
      for (const file of this.#manifestFiles()) await this.#keepRunning(file);
      if (this.#has('/var/lib/kubelet/config.yaml')) {
        this.#health ??= this.#serveHealth();
        // Each of these fails while there is no API server, as those of a kubelet do, and is tried again.
        if (this.#has(kubeconfig)) {
          if (!hasNode) hasNode = await this.#succeeds(`${name}-node`, nodeScript(name));
        } else if (this.#has(bootstrapKubeconfig)) {
          await this.#succeeds(`${name}-csr`, certificateScript(name));
        }
      }
      await sleep(period);
    }
  }

  #has(path: string): boolean {
    return existsSync(this.#root.outside(path));
  }

  #manifestFiles(): string[] {
    const folder = this.#root.outside(manifests);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).filter((file) => file.endsWith('.yaml') && !ignored.includes(file));
  }

  async #keepRunning(file: string): Promise<void> {
    if (file === speakerManifest) {
      if (!this.#master.speaker.isRunning) this.#master.speaker.spawn();
      return;
    }
    if (this.#pods.get(file)?.isRunning) return;
    const command = await podCommand(this.#root.outside(`${manifests}/${file}`));
    this.#pods.set(file, this.#root.spawn(file.replace('.yaml', ''), `exec ${command}`));
  }

  #serveHealth(): HostProcess {
    const program = `require('node:http').createServer((_, answer) => answer.end('ok')).listen(10248, '127.0.0.1')`;
    return this.#root.spawn('kubelet-health', `exec '${process.execPath}' -e "${program}"`);
  }

  async #succeeds(what: string, script: string): Promise<boolean> {
    const path = `/var/lib/kubelet/${what}.sh`;
    writeFileSync(this.#root.outside(path), script);
    return (await this.#root.spawn(what, `exec sh -e ${path}`).exited).code === 0;
  }
}

/** The words of the first container's command, for the shell. */
async function podCommand(file: string): Promise<string> {
  const read = `import shlex, sys, yaml
print(shlex.join(yaml.safe_load(open(sys.argv[1]))['spec']['containers'][0]['command']))`;
  return (await runCommand(['python3', '-c', read, file])).trim();
}

const nodeScript = (name: string): string => `kubectl --kubeconfig ${kubeconfig} create -f - <<'END'
{"apiVersion":"v1","kind":"Node","metadata":{"name":"${name}","labels":{"kubernetes.io/hostname":"${name}"}}}
END
`;

/** The certificate by a CertificateSigningRequest, which kube-controller-manager approves and signs. */
const certificateScript = (name: string): string => `cd /var/lib/kubelet
kubectl() { command kubectl --kubeconfig ${bootstrapKubeconfig} "$@"; }
[ -e key.pem ] || openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem \\
  -subj '/O=system:nodes/CN=system:node:${name}' -out request.pem
kubectl get csr csr-${name} >/dev/null 2>&1 || kubectl create -f - <<END
{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"csr-${name}"},
 "spec":{"request":"$(base64 -w0 request.pem)","signerName":"kubernetes.io/kube-apiserver-client-kubelet",
 "usages":["digital signature","key encipherment","client auth"]}}
END
certificate=$(kubectl get csr csr-${name} -o 'jsonpath={.status.certificate}')
[ -n "$certificate" ]
server=$(kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.server}')
ca=$(kubectl config view --raw -o 'jsonpath={.clusters[0].cluster.certificate-authority-data}')
cat >${kubeconfig}.new <<END
{"apiVersion":"v1","kind":"Config","current-context":"a","contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}],
 "clusters":[{"name":"a","cluster":{"server":"$server","certificate-authority-data":"$ca"}}],
 "users":[{"name":"a","user":{"client-certificate-data":"$certificate","client-key-data":"$(base64 -w0 key.pem)"}}]}
END
mv ${kubeconfig}.new ${kubeconfig}
`;
