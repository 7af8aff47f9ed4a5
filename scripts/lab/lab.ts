/**
 * A lab: switch, client, load balancers, masters and an upstream router, each in a network namespace of its own.
 * The machine's own namespace is neither changed nor used. `destroy` removes everything; when the owner dies
 * without calling it, a guardian does, and failing that the next lab.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import {
  type AddressFamily,
  hostAddress,
  loadBalancerNumber,
  masterNumber,
  maxMasters,
  type SubnetName,
  upstreamNumber,
} from './addresses.ts';
import { ClientHost } from './client-host.ts';
import type { Host, HostInterface, HostPlan } from './host.ts';
import {
  claimRecord,
  type LabRecord,
  readRecord,
  removeLab,
  removeStaleLabs,
  updateRecord,
} from './lab-record.ts';
import { LbHost } from './lb-host.ts';
import { type KubeadmTimes, MasterHost } from './master-host.ts';
import type { JsonObject } from './object-store.ts';
import { processIdentity } from './process-identity.ts';
import { controlPlaneAssets } from './real-control-plane.ts';
import { Switch } from './switch.ts';
import { UpstreamHost, type UpstreamKind } from './upstream-host.ts';

/** What a lab is made with; everything has a default. */
export interface LabOptions {
  /** Part of the namespaces' names, `bgplb-ID-m1`: at most 8 of a-z and 0-9. Default: random. */
  readonly id?: string;
  /** 1 to 16; default 3. */
  readonly masters?: number;
  /** 1 (default) or 2. */
  readonly loadBalancers?: number;
  readonly upstream?: UpstreamKind;
  /** The families of all hosts' addresses, each with a VIP of its own: by default IPv4 alone. */
  readonly families?: readonly AddressFamily[];
  /** The VIP's port; default 6443. */
  readonly vipPort?: number;
  /** The API servers' port; default 6443. */
  readonly machinePort?: number;
  /** The TCP-MD5 password between routers and speakers; null for none. */
  readonly password?: string | null;
  /** Milliseconds between the BFD packets of routers and speakers, three of which may be lost; default 300, null for no BFD. */
  readonly bfd?: number | null;
  /** net.ipv4.conf.default.rp_filter of all hosts; default: the kernel's. */
  readonly rpFilter?: 0 | 1 | 2;
  /** What carries the VIPs on the load balancers; default `kernel`. */
  readonly dataPlane?: 'kernel' | 'haproxy';
  /** keepalived passes the VIPs between the load balancers; default: it does not run. */
  readonly vrrp?: boolean;
  /** Keys of router.yaml and speaker.yaml, put over the lab's. */
  readonly router?: JsonObject;
  readonly speaker?: JsonObject;
  readonly kubeadm?: Partial<KubeadmTimes>;
  /** Milliseconds from SIGTERM to the API server's closed port; 500 is kube-apiserver's own default. */
  readonly shutdownDelay?: number;
  /** Milliseconds after which a kubelet restarts a pod that has ended; by default it does not. */
  readonly restartDelay?: number;
  /** False leaves load balancers and masters switched off, for tests that boot them one by one. */
  readonly isPoweredOn?: boolean;
  /** `stand-in` even where KUBEBUILDER_ASSETS names a real control plane, for what only the stand-in can do. */
  readonly controlPlane?: 'stand-in' | 'real-if-available';
  /** Other programs in place of the bundles. */
  readonly programs?: { readonly router?: string; readonly speaker?: string };
}

const defaultKubeadm: KubeadmTimes = {
  profile: 'endpoint-from-upload-config',
  joinProfile: 'local',
  manifestCheck: 'own-files',
  ignorePreflightErrors: [],
  phaseTime: 50,
  settleTime: 500,
  discoveryTimeout: 300_000,
  controlPlaneTimeout: 240_000,
  requestTimeout: 10_000,
  retryInterval: 200,
};

const bundle = (name: string): string => new URL(`../../dist/${name}.mjs`, import.meta.url).pathname;

/** A running lab. */
export class Lab {
  readonly id: string;
  readonly folder: string;
  readonly switch: Switch;
  readonly masters: readonly MasterHost[];
  readonly lbs: readonly LbHost[];
  readonly upstream: UpstreamHost;
  readonly client: ClientHost;
  #record: LabRecord;
  #guardian: ChildProcess | undefined;

  private constructor(record: LabRecord, options: LabOptions) {
    const {
      masters = 3,
      loadBalancers = 1,
      upstream = 'static',
      families = ['ipv4'],
      vipPort = 6443,
      machinePort = 6443,
    } = options;
    const assets = options.controlPlane === 'stand-in' ? undefined : controlPlaneAssets();
    const bfd = options.bfd === null ? undefined : (options.bfd ?? 300);
    const password = options.password === null ? undefined : (options.password ?? 'lab-password');
    this.id = record.id;
    this.folder = record.folder;
    this.#record = record;
    this.switch = new Switch(namespaceName(record.id, 'switch'));
    const plan = (name: string, interfaces: HostInterface[], more: Partial<HostPlan> = {}): HostPlan => ({
      name,
      namespace: namespaceName(record.id, name),
      folder: `${record.folder}/${name}`,
      interfaces,
      families,
      ...more,
      sysctls: {
        // A veth pair carries the hash of the sender's socket to the load balancer, whose kernel takes that of a packet where it
        // finds one; and a socket takes another after a timeout or a change of route. On a wire the hash is made of the packet.
        'net.core.txrehash': '0',
        ...(options.rpFilter === undefined
          ? {}
          : { 'net.ipv4.conf.default.rp_filter': String(options.rpFilter) }),
        ...more.sysctls,
      },
    });
    const forwarding = {
      'net.ipv4.ip_forward': '1',
      ...(families.includes('ipv6') ? { 'net.ipv6.conf.all.forwarding': '1' } : {}),
    };

    this.lbs = numbers(loadBalancers).map((n) => {
      const number = loadBalancerNumber(n);
      const interfaces: HostInterface[] = [
        { device: 'eth0', subnet: 'masters', number },
        { device: 'eth1', subnet: 'uplink', number },
      ];
      return new LbHost(plan(`lb${n}`, interfaces, { gatewaySubnet: 'uplink' }), this.switch, {
        vipPort,
        machinePort,
        password,
        bfd,
        hasUpstreamSession: upstream === 'frr',
        program: options.programs?.router ?? bundle('bgp-lb-router'),
        dataPlane: options.dataPlane ?? 'kernel',
        vrrpPeers: options.vrrp === true ? otherLoadBalancers(n, loadBalancers, families) : undefined,
        router: options.router ?? {},
      });
    });
    this.masters = numbers(masters).map((n) => {
      const interfaces: HostInterface[] = [{ device: 'eth0', subnet: 'masters', number: masterNumber(n) }];
      // A Kubernetes node forwards: kubeadm's preflight asks for it.
      const more = { gatewaySubnet: 'masters', sysctls: forwarding } as const;
      return new MasterHost(plan(`m${n}`, interfaces, more), this.switch, {
        vipPort,
        machinePort,
        password,
        bfd,
        routerAddresses: families.flatMap((family) => this.lbs.map((lb) => lb.addressOf(0, family))),
        program: options.programs?.speaker ?? bundle('bgp-lb-speaker'),
        speaker: options.speaker ?? {},
        kubeadm: { ...defaultKubeadm, ...options.kubeadm },
        shutdownDelay: options.shutdownDelay ?? 500,
        restartDelay: options.restartDelay,
        storeFolder: `${record.folder}/etcd`,
        assets,
      });
    });
    const routed: SubnetName[] = ['masters', 'uplink', 'clients'];
    const upstreamInterfaces = routed.map((subnet, index) => ({
      device: `eth${index}`,
      subnet,
      number: upstreamNumber,
    }));
    this.upstream = new UpstreamHost(
      plan('upstream', upstreamInterfaces, {
        sysctls: {
          ...forwarding,
          'net.ipv4.fib_multipath_hash_policy': '1',
          ...(families.includes('ipv6') ? { 'net.ipv6.fib_multipath_hash_policy': '1' } : {}),
        },
      }),
      this.switch,
      upstream,
      this.lbs,
    );
    const clientInterfaces: HostInterface[] = [{ device: 'eth0', subnet: 'clients', number: 2 }];
    this.client = new ClientHost(
      plan('client', clientInterfaces, { gatewaySubnet: 'clients' }),
      this.switch,
      {
        port: vipPort,
        exchange: assets === undefined ? 'lines' : 'requests',
        caFile: `${record.folder}/m1/kubernetes/pki/ca.crt`,
      },
    );
  }

  /**
   * Removes what dead labs left, then makes a new lab with all its hosts switched on and no daemon running but FRR.
   * Rejects with LabBusyError when a lab of this id is running.
   */
  static async create(options: LabOptions = {}): Promise<Lab> {
    checkOptions(options);
    await removeStaleLabs();
    const id = options.id ?? randomBytes(3).toString('hex');
    // One that was kept gives way to a new one of its name.
    if (readRecord(id)?.isKept) await removeLab(id);
    const record = newRecord(id, options);
    try {
      claimRecord(record);
    } catch (error) {
      rmSync(record.folder, { recursive: true, force: true });
      throw error;
    }
    const lab = new Lab(record, options);
    try {
      lab.#startGuardian();
      await lab.switch.powerOn();
      // All have ended before anything is removed: one that still makes its namespace would leave it behind.
      const hosts = options.isPoweredOn === false ? [lab.upstream, lab.client] : lab.hosts;
      const results = await Promise.allSettled(hosts.map((host) => host.powerOn()));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    } catch (error) {
      await lab.destroy();
      throw error;
    }
    return lab;
  }

  get hosts(): readonly Host[] {
    return [this.upstream, ...this.lbs, ...this.masters, this.client];
  }

  /** The first load balancer. */
  get lb(): LbHost {
    return this.#nth(this.lbs, 1, 'load balancer');
  }

  /** Master n, from 1. */
  master(n: number): MasterHost {
    return this.#nth(this.masters, n, 'master');
  }

  #nth<T>(hosts: readonly T[], n: number, what: string): T {
    const host = hosts[n - 1];
    if (host === undefined) throw new RangeError(`no ${what} ${n}: the lab has ${hosts.length}`);
    return host;
  }

  #startGuardian(): void {
    const program = new URL('./guardian.ts', import.meta.url).pathname;
    const guardian = spawn(process.execPath, [program, this.id], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guardian.unref();
    const { stdin, pid } = guardian;
    // A pipe of a child is a socket, which can let the event loop end.
    if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
    stdin?.on('error', () => undefined);
    const identity = pid === undefined ? undefined : processIdentity(pid);
    if (identity === undefined) throw new Error('cannot start the guardian of the lab');
    this.#guardian = guardian;
    this.#record = { ...this.#record, guardian: identity };
    updateRecord(this.#record);
  }

  #releaseGuardian(): void {
    this.#guardian?.stdin?.end('released\n');
    this.#guardian = undefined;
  }

  /** Removes processes, namespaces and files. */
  async destroy(): Promise<void> {
    for (const master of this.masters) master.close();
    // What is being started at this moment may find its namespace just before it goes, and the folder is removed after it.
    const removals = this.hosts.map((host) => host.removed());
    await removeLab(this.id);
    await Promise.all(removals);
    this.#releaseGuardian();
  }

  /**
   * Lets go of the lab: it runs on after this process until `Lab.remove(id)`, or a new lab of the same id.
   * The client program ends, since it is led by this process.
   */
  async keep(): Promise<void> {
    await this.client.stop();
    this.#record = { ...this.#record, isKept: true };
    updateRecord(this.#record);
    this.#releaseGuardian();
    for (const host of this.hosts) host.unref();
    for (const master of this.masters) master.close();
  }

  /** Removes a kept lab; nothing happens when there is none of this id. */
  static async remove(id: string): Promise<void> {
    await removeLab(id);
  }
}

const namespaceName = (id: string, host: string): string => `bgplb-${id}-${host}`;

/** Their addresses on the masters' link, in the family that hosts go by. */
function otherLoadBalancers(n: number, count: number, families: readonly AddressFamily[]): string[] {
  const [family = 'ipv4'] = families;
  return numbers(count)
    .filter((other) => other !== n)
    .map((other) => hostAddress(family, 'masters', loadBalancerNumber(other)));
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

function checkOptions({ id, masters = 3, loadBalancers = 1, families, controlPlane }: LabOptions): void {
  if (process.getuid?.() !== 0) throw new Error('a lab needs root: it makes network namespaces');
  if (id !== undefined && !/^[a-z0-9]{1,8}$/.test(id)) {
    throw new RangeError(`lab id ${id}: 1 to 8 of a-z and 0-9 are allowed`);
  }
  if (!(Number.isInteger(masters) && masters >= 1 && masters <= maxMasters)) {
    throw new RangeError(`${masters} masters: 1 to ${maxMasters} are allowed`);
  }
  if (loadBalancers !== 1 && loadBalancers !== 2) {
    throw new RangeError(`${loadBalancers} load balancers: 1 or 2 are allowed`);
  }
  if (families?.includes('ipv6') && controlPlane !== 'stand-in') {
    throw new RangeError('a lab with IPv6 has the stand-in: etcd is started with IPv4 addresses only');
  }
}

function newRecord(id: string, { masters = 3, loadBalancers = 1 }: LabOptions): LabRecord {
  const owner = processIdentity(process.pid);
  if (owner === undefined) throw new Error('the lab needs /proc');
  const folder = mkdtempSync(`${tmpdir()}/bgplb-${id}-`);
  chmodSync(folder, 0o755); // FRR runs as a user of its own
  const hosts = [
    ...['switch', 'upstream', 'client'],
    ...numbers(loadBalancers).map((n) => `lb${n}`),
    ...numbers(masters).map((n) => `m${n}`),
  ];
  return {
    id,
    owner,
    isKept: false,
    folder,
    namespaces: hosts.map((host) => namespaceName(id, host)),
  };
}
