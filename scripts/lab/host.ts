/** One machine of the lab: a network namespace, ports of the switch, a folder of its own, processes. */
import { mkdirSync, rmSync } from 'node:fs';
import {
  type AddressFamily,
  hostAddress,
  interfaceAddress,
  type SubnetName,
  upstreamNumber,
} from './addresses.ts';
import { HostProcess } from './host-process.ts';
import { processesIn } from './namespace-processes.ts';
import {
  createNamespace,
  deleteNamespace,
  inNamespace,
  ipBatch,
  killProcessesIn,
  namespaceExists,
} from './network-namespace.ts';
import { type CommandOptions, runCommand } from './run-command.ts';
import type { Switch } from './switch.ts';

/** An interface of a host and the subnet that it is in. */
export interface HostInterface {
  readonly device: string;
  readonly subnet: SubnetName;
  /** The host number in its addresses. */
  readonly number: number;
}

/** What a host is made of. */
export interface HostPlan {
  /** `m1`: also the names of its switch ports and of its folder. */
  readonly name: string;
  readonly namespace: string;
  readonly folder: string;
  /** Its interfaces have an address of each; the first one is what it goes by. */
  readonly families: readonly AddressFamily[];
  readonly interfaces: readonly HostInterface[];
  /** Everything outside its subnets goes to the upstream router by this one, by default nowhere. */
  readonly gatewaySubnet?: SubnetName;
  /** `net.ipv4.ip_forward` and such, set before the interfaces come. */
  readonly sysctls?: Readonly<Record<string, string>>;
}

/**
 * Addresses are there at once and alone: without duplicate address detection (RFC 4862 section 5.4), since the lab gives none twice,
 * and without router advertisements, since none are sent.
 */
const ipv6Sysctls = { 'net.ipv6.conf.default.dad_transmits': '0', 'net.ipv6.conf.default.accept_ra': '0' };

/** Folders that a host has, as in `/etc`, `/run`, `/var/lib` and `/etc/kubernetes` of a real one. */
const hostFolders = ['etc', 'run', 'var/lib/bgp-lb', 'log', 'kubernetes/pki', 'kubernetes/manifests'];

/** A machine of the lab. */
export class Host {
  readonly name: string;
  readonly namespace: string;
  readonly folder: string;
  readonly #plan: HostPlan;
  readonly #switch: Switch;
  readonly #processes: HostProcess[] = [];
  #isRemoved = false;

  constructor(plan: HostPlan, labSwitch: Switch) {
    this.name = plan.name;
    this.namespace = plan.namespace;
    this.folder = plan.folder;
    this.#plan = plan;
    this.#switch = labSwitch;
  }

  /** The families of its addresses. */
  get families(): readonly AddressFamily[] {
    return this.#plan.families;
  }

  /** The family of the address that it goes by. */
  get family(): AddressFamily {
    const [family] = this.#plan.families;
    if (family === undefined) throw new RangeError(`${this.name} has no address family`);
    return family;
  }

  /** The address of its first interface, without length. */
  get address(): string {
    return this.addressOf(0);
  }

  /** The address of its interface number `index`, without length. */
  addressOf(index: number, family: AddressFamily = this.family): string {
    const plan = this.#plan.interfaces[index];
    if (plan === undefined) throw new RangeError(`${this.name} has no interface ${index}`);
    return hostAddress(family, plan.subnet, plan.number);
  }

  /** Processes that this object started, newest last. */
  get processes(): readonly HostProcess[] {
    return this.#processes;
  }

  /** A path in the host's folder: `path('run/router.sock')`. */
  path(relative: string): string {
    return `${this.folder}/${relative}`;
  }

  /** Makes its namespace, interfaces and folders. Files that are there already stay, as on a disk. */
  async powerOn(): Promise<void> {
    for (const folder of hostFolders) mkdirSync(this.path(folder), { recursive: true });
    await createNamespace(this.namespace);
    const { interfaces, families, gatewaySubnet, sysctls } = this.#plan;
    await this.writeSysctls({ ...(families.includes('ipv6') ? ipv6Sysctls : {}), ...sysctls });
    await this.#switch.plug(
      interfaces.map(({ device, subnet, number }) => ({
        port: this.#port(device),
        bridge: subnet,
        namespace: this.namespace,
        device,
        hostNumber: number,
      })),
    );
    await ipBatch(this.namespace, [
      'link set lo up',
      ...interfaces.flatMap(({ device, subnet, number }) => [
        ...families.map((family) => `address add ${interfaceAddress(family, subnet, number)} dev ${device}`),
        `link set ${device} up`,
      ]),
      ...(gatewaySubnet === undefined
        ? []
        : families.map(
            (family) => `route add default via ${hostAddress(family, gatewaySubnet, upstreamNumber)}`,
          )),
    ]);
  }

  /**
   * Cuts the power: first its switch ports, so that no other host hears of it, then every process (SIGKILL), then the
   * kernel's state with the namespace. `/run` is empty afterwards, the other folders stay.
   */
  async powerOff(): Promise<void> {
    await this.disconnect();
    await killProcessesIn([this.namespace]);
    await Promise.all(this.#processes.map((process) => process.exited));
    await this.#switch.unplug(this.#ports());
    await deleteNamespace(this.namespace);
    rmSync(this.path('run'), { recursive: true, force: true });
  }

  /**
   * The host is gone for good: nothing can be started any more, and what was being started when its namespace went ends. A
   * set-up that failed in one part may go on in others while the lab is removed.
   */
  async removed(): Promise<void> {
    this.#isRemoved = true;
    await Promise.all(this.#processes.map((process) => process.kill()));
  }

  /** A new disk: removes all files of a host that is switched off. */
  wipe(): void {
    if (this.isOn) throw new Error(`${this.name} is on: its disk cannot be replaced`);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** True between powerOn and powerOff. */
  get isOn(): boolean {
    return namespaceExists(this.namespace);
  }

  /** Cuts its links at the switch: the host itself sees its carrier go, the others see silence. */
  async disconnect(): Promise<void> {
    await this.#switch.setPorts(this.#ports(), 'down');
  }

  /** Restores its links. */
  async reconnect(): Promise<void> {
    await this.#switch.setPorts(this.#ports(), 'up');
  }

  #port(device: string): string {
    return `${this.name}-${device}`;
  }

  #ports(): string[] {
    return this.#plan.interfaces.map(({ device }) => this.#port(device));
  }

  /** Runs a program on this host to its end; resolves with its output, rejects with a CommandError. */
  exec(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
    return runCommand(inNamespace(this.namespace, argv), { cwd: this.folder, ...options });
  }

  /** `ip -json ARGS` on this host, parsed. The caller names the shape that ip(8) documents for that command. */
  async ipJson<T>(...args: readonly string[]): Promise<T> {
    const text = await runCommand(['ip', '-n', this.namespace, '-json', ...args]);
    return JSON.parse(text.trim() === '' ? '[]' : text) as T;
  }

  /** Starts a program on this host. Its output goes to `log/NAME.log` in the host's folder. */
  spawn(
    name: string,
    argv: readonly string[],
    options: { readonly env?: NodeJS.ProcessEnv; readonly hasPipes?: boolean } = {},
  ): HostProcess {
    if (this.#isRemoved) throw new Error(`${this.name} was removed: ${name} cannot be started`);
    const process = new HostProcess(this.namespace, name, argv, {
      logFile: this.path(`log/${name}.log`),
      cwd: this.folder,
      ...options,
    });
    this.#processes.push(process);
    return process;
  }

  /** The pids of everything that runs on this host, by whatever started. */
  pids(): number[] {
    return processesIn([this.namespace]);
  }

  /** Writes sysctls by their dotted names. */
  async writeSysctls(values: Readonly<Record<string, string>>): Promise<void> {
    const lines = Object.entries(values).map(
      ([name, value]) => `echo ${value} > /proc/sys/${name.replaceAll('.', '/')}`,
    );
    if (lines.length > 0) await this.exec(['sh', '-e'], { input: `${lines.join('\n')}\n` });
  }

  /** TCP segments that this host sent again since it was switched on (RetransSegs, RFC 4022). */
  async tcpRetransmits(): Promise<number> {
    const text = await this.exec(['cat', '/proc/net/snmp']);
    const [names = [], values = []] = text
      .split('\n')
      .filter((line) => line.startsWith('Tcp:'))
      .map((line) => line.split(' '));
    return Number(values[names.indexOf('RetransSegs')]);
  }

  /** Lets this Node process end while the host's processes run on. */
  unref(): void {
    for (const process of this.#processes) process.unref();
  }
}
