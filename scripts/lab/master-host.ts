/** A control plane machine: API server, kubelet, kubeadm and the speaker daemon, with the files of a real one. */
import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { localAsn, serviceOf, vipOf } from './addresses.ts';
import type { ApiServerConfig, ApiServerState } from './api-server-config.ts';
import { bfdSettings } from './bfd-settings.ts';
import {
  createAuthority,
  issueAdminCertificate,
  issueServingCertificate,
  publicKeyHash,
  readPem,
  type ServingNames,
} from './cluster-pki.ts';
import { Daemon } from './daemon.ts';
import { Host, type HostPlan } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { type KubeadmConfig, manifestNames } from './kubeadm/kubeadm-config.ts';
import { Kubelet } from './kubelet.ts';
import { mergeSettings } from './merge-settings.ts';
import type { JsonObject } from './object-store.ts';
import type { ApiServerMode } from './readiness.ts';
import { kubeApiServerArguments, startEtcd } from './real-control-plane.ts';
import type { Switch } from './switch.ts';
import { unixRequest } from './unix-http.ts';

const programFile = (name: string): string => new URL(name, import.meta.url).pathname;
const speakerManifest = 'bgp-lb-speaker.yaml';

/** `/api/v1/status` of the speaker, as far as the lab looks at it. */
export interface SpeakerStatus {
  readonly role: string;
  readonly vips: readonly { readonly vip: string; readonly state: string; readonly reason: string }[];
  readonly gates: readonly { readonly name: string; readonly pass: boolean; readonly detail: string }[];
  readonly routers: readonly { readonly address: string; readonly session: string; readonly bfd?: string }[];
}

/** Times and behaviour of the simulated kubeadm that a lab sets for all its masters. */
export type KubeadmTimes = Pick<
  KubeadmConfig,
  | 'profile'
  | 'joinProfile'
  | 'manifestCheck'
  | 'ignorePreflightErrors'
  | 'phaseTime'
  | 'settleTime'
  | 'discoveryTimeout'
  | 'controlPlaneTimeout'
  | 'requestTimeout'
  | 'retryInterval'
>;

/** What a master is configured with beyond its addresses. */
export interface MasterSettings {
  readonly vipPort: number;
  readonly machinePort: number;
  readonly password: string | undefined;
  /** Milliseconds between BFD packets; undefined for no BFD. */
  readonly bfd: number | undefined;
  readonly routerAddresses: readonly string[];
  readonly program: string;
  /** Put over the configuration: keys of speaker.yaml. */
  readonly speaker: JsonObject;
  readonly kubeadm: KubeadmTimes;
  /** Milliseconds from SIGTERM to the API server's closed port. */
  readonly shutdownDelay: number;
  /** The folder that stands for etcd, shared by all masters. */
  readonly storeFolder: string;
  /** Milliseconds after which the kubelet restarts a pod that has ended; undefined for never. */
  readonly restartDelay: number | undefined;
  /** The folder of the real kube-apiserver and etcd; undefined runs the stand-in. */
  readonly assets: string | undefined;
}

/** A first master, or what takes its place where the PKI was made before any machine booted. */
export interface PkiFolder {
  readonly pkiFolder: string;
}

/** A master. */
export class MasterHost extends Host {
  readonly speaker: Daemon<SpeakerStatus>;
  readonly #settings: MasterSettings;
  readonly #kubelet: Kubelet;
  #apiServer: HostProcess | undefined;
  #etcd: HostProcess | undefined;
  /** The master that etcd is joined through; undefined for the first. */
  #joinedThrough: MasterHost | undefined;

  constructor(plan: HostPlan, labSwitch: Switch, settings: MasterSettings) {
    super(plan, labSwitch);
    this.#settings = settings;
    this.speaker = new Daemon<SpeakerStatus>(this, { name: 'speaker', program: settings.program });
    const files = {
      manifestFolder: this.path('kubernetes/manifests'),
      logFile: this.path('log/kubelet.log'),
      restartDelay: settings.restartDelay,
    };
    this.#kubelet = new Kubelet(files, [
      {
        manifests: [speakerManifest],
        start: async () => this.speaker.spawn(),
        process: () => this.speaker.process,
      },
      {
        manifests: [manifestNames.apiServer, manifestNames.etcd],
        start: () => this.startApiServer(),
        process: () => this.#apiServer,
      },
    ]);
  }

  get pkiFolder(): string {
    return this.path('kubernetes/pki');
  }

  get caFile(): string {
    return `${this.pkiFolder}/ca.crt`;
  }

  /** The marker that cloud-init touches after kubeadm. */
  get markerFile(): string {
    return this.path('var/lib/bgp-lb/bootstrapped');
  }

  /** The API server's process; undefined before its first start. */
  get apiServer(): HostProcess | undefined {
    return this.#apiServer;
  }

  override async powerOn(): Promise<void> {
    await super.powerOn();
    const machineId = this.path('etc/machine-id');
    if (!existsSync(machineId)) writeFileSync(machineId, `${randomBytes(16).toString('hex')}\n`);
    await this.#kubelet.listen(this.path('run/kubelet.sock'));
  }

  override async powerOff(): Promise<void> {
    this.#kubelet.close();
    await super.powerOff();
  }

  /** Ends what the lab's own process holds for this host. */
  close(): void {
    this.#kubelet.close();
  }

  /** Writes speaker.yaml; `over` is put over the lab's own settings. */
  writeSpeakerConfig(role: 'init' | 'join' | 'cluster-api', over: JsonObject = {}): void {
    const { password, speaker } = this.#settings;
    if (password !== undefined) {
      writeFileSync(this.path('etc/bgp-password'), `${password}\n`, { mode: 0o600 });
    }
    this.speaker.writeConfig(mergeSettings(mergeSettings(this.#speakerDefaults(role), speaker), over));
  }

  #speakerDefaults(role: string): JsonObject {
    const { vipPort, machinePort, password, bfd, routerAddresses } = this.#settings;
    return {
      apiVersion: 'bgp-lb.dev/v1alpha1',
      kind: 'Speaker',
      role,
      asn: localAsn,
      vips: this.families.map((family) => ({ address: vipOf(family), port: vipPort, machinePort })),
      routers: routerAddresses.map((address) => ({
        address,
        asn: localAsn,
        holdTime: '3s',
        ttlSecurityHops: 1,
        passwordFile: password === undefined ? undefined : this.path('etc/bgp-password'),
        bfd: bfd === undefined ? false : bfdSettings(bfd),
      })),
      apiServer: { address: this.address, serverName: 'kubernetes', caFile: this.caFile, interval: '200ms' },
      bootstrap: {
        markers: [this.markerFile],
        stateDir: this.path('var/lib/bgp-lb'),
        machineIdFile: this.path('etc/machine-id'),
      },
      drain: { file: this.path('run/drain') },
      api: { socket: this.speaker.socketPath, listen: '127.0.0.1:9475' },
      log: { level: 'debug' },
    };
  }

  /** Starts the speaker and waits until its control socket answers. */
  async startSpeaker(): Promise<void> {
    await this.speaker.start();
  }

  /** Puts CA and certificates in place without kubeadm: a CA of its own, or that of another master. */
  async installCertificates(from?: MasterHost): Promise<void> {
    if (from === undefined) await createAuthority(this.pkiFolder);
    else this.#copyAuthority(from);
    await issueServingCertificate(this.pkiFolder, this.#servingNames());
    await issueAdminCertificate(this.pkiFolder);
  }

  #copyAuthority(from: MasterHost): void {
    this.#joinedThrough = from;
    for (const name of ['ca.crt', 'ca.key', 'sa.key', 'sa.pub']) {
      copyFileSync(`${from.pkiFolder}/${name}`, `${this.pkiFolder}/${name}`);
    }
  }

  #servingNames(): ServingNames {
    const [endpointAddress = '', ...certSANs] = this.families.map(vipOf);
    return {
      nodeName: this.name,
      nodeAddress: this.address,
      serviceAddress: serviceOf(this.family),
      endpointAddress,
      certSANs,
    };
  }

  /** Starts the API server and waits until it takes commands; the real one: until `/readyz` is green. `shutdownDelay` in ms. */
  async startApiServer(
    mode: ApiServerMode = 'ready',
    shutdownDelay: number = this.#settings.shutdownDelay,
  ): Promise<void> {
    if (this.#apiServer?.isRunning) throw new Error(`${this.name}: the API server runs already`);
    const { assets, machinePort, storeFolder } = this.#settings;
    if (assets !== undefined) {
      await this.#startRealApiServer(assets, shutdownDelay);
      return;
    }
    const config: ApiServerConfig = {
      nodeName: this.name,
      port: machinePort,
      pkiFolder: this.pkiFolder,
      storeFolder,
      controlSocket: this.#controlSocket,
      mode,
      shutdownDelay,
    };
    const file = this.path('etc/api-server.json');
    writeFileSync(file, JSON.stringify(config));
    rmSync(this.#controlSocket, { force: true });
    this.#apiServer = this.spawn('api-server', [process.execPath, programFile('./api-server.ts'), file]);
    await this.#apiServer.ready(() => existsSync(this.#controlSocket));
  }

  async #startRealApiServer(assets: string, shutdownDelay: number): Promise<void> {
    const { machinePort: port } = this.#settings;
    if (!this.#etcd?.isRunning) {
      this.#etcd = await startEtcd(this, assets, this.#joinedThrough?.address);
    }
    const settings = { address: this.address, port, pkiFolder: this.pkiFolder, shutdownDelay };
    const argv = [`${assets}/kube-apiserver`, ...kubeApiServerArguments(settings)];
    const apiServer = this.spawn('api-server', argv);
    this.#apiServer = apiServer;
    await apiServer.ready(async () => {
      const probe = `const { get } = await import('node:https');
        get({ host: '${this.address}', port: ${port}, path: '/readyz', rejectUnauthorized: false },
          (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1));`;
      return this.exec([process.execPath, '--input-type=module', '-e', probe]).then(
        () => true,
        () => false,
      );
    }, 120_000);
  }

  get #controlSocket(): string {
    return this.path('run/api-server.sock');
  }

  /** Makes the stand-in's `/readyz` green, red, hang and so on. `failing` names the checks that are red. */
  async setApiServer(mode: ApiServerMode, failing?: readonly string[]): Promise<void> {
    if (this.#settings.assets !== undefined) {
      throw new Error('the real kube-apiserver has no modes: signal or stop it instead');
    }
    await unixRequest(this.#controlSocket, 'POST', '/mode', { mode, failing });
  }

  /** What the stand-in counts. */
  async apiServerState(): Promise<ApiServerState> {
    return (await unixRequest(this.#controlSocket, 'GET', '/state')) as ApiServerState;
  }

  /** SIGTERM to the API server; resolves when it has ended, after its shutdown delay. */
  async stopApiServer(): Promise<void> {
    await this.#apiServer?.stop(this.#settings.shutdownDelay + 10_000);
  }

  /** What cloud-init does before kubeadm: the speaker's configuration and its static pod manifest. */
  placeSpeaker(role: 'init' | 'join'): void {
    this.writeSpeakerConfig(role);
    writeFileSync(this.path(`kubernetes/manifests/${speakerManifest}`), '{"kind":"Pod"}\n');
  }

  /** When kubeadm succeeded on this machine, in milliseconds since the epoch, noted right before the marker was touched. */
  kubeadmSuccesses(): number[] {
    const file = this.path('log/kubeadm-successes');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map(Number) : [];
  }

  /** Runs `kubeadm init && touch MARKER`, as cloud-init does; returns at once. */
  kubeadmInit(over: Partial<KubeadmConfig> = {}): HostProcess {
    return this.#kubeadm('init', over);
  }

  /**
   * Runs `kubeadm join --control-plane && touch MARKER`; returns at once. `first` gives what an operator copies from
   * its init: the pinned CA hash, and a credential in place of token and certificate key.
   */
  kubeadmJoin(first: PkiFolder, over: Partial<KubeadmConfig> = {}): HostProcess {
    return this.#kubeadm('join', { ...this.#joinCredentials(first), ...over });
  }

  #joinCredentials(first: PkiFolder): Partial<KubeadmConfig> {
    this.#joinedThrough = first instanceof MasterHost ? first : undefined;
    const credentialFolder = this.path('etc/join-credentials');
    mkdirSync(credentialFolder, { recursive: true });
    for (const name of ['admin.crt', 'admin.key']) {
      copyFileSync(`${first.pkiFolder}/${name}`, `${credentialFolder}/${name}`);
    }
    return { credentialFolder, caCertHash: publicKeyHash(readPem(first.pkiFolder, 'ca.crt')) };
  }

  /**
   * Writes what kubeadm is told, for those who run it themselves. @returns the file for its `--config`
   * @param first whom a joiner joins; undefined for init
   */
  writeKubeadmConfig(first?: PkiFolder): string {
    return this.#writeKubeadmConfig(first === undefined ? {} : this.#joinCredentials(first));
  }

  #writeKubeadmConfig(over: Partial<KubeadmConfig>): string {
    const config: KubeadmConfig = {
      ...this.#servingNames(),
      endpointPort: this.#settings.vipPort,
      localPort: this.#settings.machinePort,
      kubernetesFolder: this.path('kubernetes'),
      kubeletSocket: this.path('run/kubelet.sock'),
      ...this.#settings.kubeadm,
      ...over,
    };
    const file = this.path('etc/kubeadm.json');
    writeFileSync(file, JSON.stringify(config, null, 2));
    return file;
  }

  #kubeadm(command: 'init' | 'join', over: Partial<KubeadmConfig>): HostProcess {
    const file = this.#writeKubeadmConfig(over);
    return this.spawn('kubeadm', [
      ...['sh', '-c', '"$1" "$2" "$3" --config "$4" && date +%s%3N >> "$6" && touch "$5"', 'cloud-init'],
      ...[process.execPath, programFile('./kubeadm/main.ts'), command, file, this.markerFile],
      this.path('log/kubeadm-successes'),
    ]);
  }

  /** Starts the kubelet, and with it the pods that have manifests: what a joined machine does by itself when it boots. */
  startKubelet(): void {
    this.#kubelet.start();
  }

  /** Whether the VIP is on this machine's `lo`. */
  async hasVip(): Promise<boolean> {
    const links = await this.ipJson<{ addr_info?: { local?: string }[] }[]>('address', 'show', 'dev', 'lo');
    const vip = vipOf(this.family);
    return links.some(({ addr_info }) => addr_info?.some(({ local }) => local === vip));
  }

  /**
   * `kubeadm reset`: all containers ended, Kubernetes files removed. Markers and the speaker's state stay. With the
   * last member of etcd all objects go too.
   */
  async kubeadmReset(options: { readonly isLastMember?: boolean } = {}): Promise<void> {
    this.#kubelet.close();
    if (options.isLastMember === true) rmSync(this.#settings.storeFolder, { recursive: true, force: true });
    await this.speaker.kill();
    await this.#apiServer?.kill();
    await this.#etcd?.kill();
    rmSync(this.path('kubernetes'), { recursive: true, force: true });
    for (const folder of ['kubernetes/pki', 'kubernetes/manifests']) {
      mkdirSync(this.path(folder), { recursive: true });
    }
    await this.#kubelet.listen(this.path('run/kubelet.sock'));
  }
}
