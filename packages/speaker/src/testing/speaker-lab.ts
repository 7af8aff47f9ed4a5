import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { controlRequest } from '@bgp-lb/daemon';
import type { SpeakerStatus } from '../status.ts';
import { TestCa } from './certificates.ts';
import { field, type LineProcess, NetworkNamespace } from './network-namespace.ts';

export const VIP = '10.100.0.1';
export const NODE = '10.9.0.2';
export const ROUTER = '10.9.0.1';
/** A second one, in the same namespace. */
export const SECOND_ROUTER = '10.9.0.4';
/** A client in the router's namespace, with an address of its own. */
export const CLIENT = '10.9.0.3';

/** Milliseconds that a state is waited for: longer than every pause of the speaker's between two attempts, on a slow machine. */
const PATIENCE = 60_000;

const program = {
  // What is installed, not main.ts: that starts in a third of the time, and Node.js reads TypeScript by WebAssembly, whose
  // code V8 may abort over (`UnregisterWasmAllocation`) when a thread that used it ends, as that of BFD does.
  speaker: new URL('../../../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname,
  apiServer: new URL('./api-server-process.ts', import.meta.url).pathname,
  router: new URL('./router-process.ts', import.meta.url).pathname,
  client: new URL('./client-process.ts', import.meta.url).pathname,
  addressMonitor: new URL('./address-monitor.ts', import.meta.url).pathname,
} as const;

/** How a command of the program ended. */
export interface CommandEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A master and a router in network namespaces of their own, with an API server stand-in, and the real speaker to be started. */
export class SpeakerLab {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'bgp-lb-speaker-'));
  readonly master: NetworkNamespace = new NetworkNamespace('m');
  readonly #router = new NetworkNamespace('r');
  readonly ca: TestCa;
  #apiServer: LineProcess | undefined;

  constructor() {
    this.master.connect('e0', this.#router);
    this.master.ip('address', 'add', `${NODE}/24`, 'dev', 'e0');
    this.#router.ip('address', 'add', `${ROUTER}/24`, 'dev', 'e0');
    this.#router.ip('address', 'add', `${SECOND_ROUTER}/24`, 'dev', 'e0');
    this.#router.ip('address', 'add', `${CLIENT}/24`, 'dev', 'e0');
    this.#router.ip('route', 'add', VIP, 'via', NODE);
    this.ca = new TestCa(this.folder);
    writeFileSync(this.path('machine-id'), 'machine-1\n');
    writeFileSync(this.path('password'), 'secret\n', { mode: 0o600 });
  }

  /** The router's namespace. */
  get peer(): NetworkNamespace {
    return this.#router;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes the configuration: YAML lines after the head replace the defaults of the lab. */
  configure(changes: Readonly<Record<string, string>> = {}): void {
    const keys: Record<string, string> = {
      apiVersion: 'bgp-lb.dev/v1alpha1',
      kind: 'Speaker',
      role: 'join',
      asn: '64512',
      vips: `[{ address: ${VIP}, port: 443, machinePort: 6443 }]`,
      routers: `[{ address: ${ROUTER}, asn: 64512, passwordFile: ${this.path('password')}, bfd: false }]`,
      apiServer: `{ caFile: ${this.path('ca.crt')} }`,
      bootstrap: `{ markers: [${this.marker}], stateDir: ${this.path('state')}, machineIdFile: ${this.path('machine-id')} }`,
      drain: `{ file: ${this.path('drain')}, timeout: 5s }`,
      api: `{ socket: ${this.path('speaker.sock')} }`,
      ...changes,
    };
    const lines = Object.entries(keys).map(([key, value]) => `${key}: ${value}\n`);
    writeFileSync(this.path('speaker.yaml'), lines.join(''));
  }

  get marker(): string {
    return this.path('bootstrapped');
  }

  /** What `kubeadm ... && touch MARKER` does at its end. */
  finishKubeadm(): void {
    writeFileSync(this.marker, '');
  }

  /** @param options.bfd milliseconds x 3; default: no BFD */
  async startRouter(
    options: { readonly bfd?: number; readonly address?: string; readonly password?: string } = {},
  ): Promise<LineProcess> {
    const { bfd = 0, address = ROUTER, password = 'secret' } = options;
    const router = this.#router.start(program.router, address, '64512', password, String(bfd));
    await router.next(field('listening'));
    return router;
  }

  async startApiServer(
    names: readonly string[] = ['DNS:kubernetes', `IP:${NODE}`, `IP:${VIP}`],
  ): Promise<void> {
    const { key, cert } = this.ca.serving(names);
    this.#apiServer = this.master.start(program.apiServer, '6443', key, cert);
    await this.#apiServer.next(field('mode'));
  }

  /** The YAML of the router's entry with BFD. */
  bfdRouter(bfd: string): string {
    return `[{ address: ${ROUTER}, asn: 64512, passwordFile: ${this.path('password')}, bfd: ${bfd} }]`;
  }

  /** The process of the API server stand-in. */
  get apiServer(): LineProcess | undefined {
    return this.#apiServer;
  }

  /** A client in the router's namespace, connected to the VIP: tells `{connected}`, and `{end}` with its error or `FIN`. */
  connectClient(): Promise<LineProcess> {
    return this.#connect(VIP, '443', CLIENT);
  }

  /** A connection that the router, as HAProxy would, makes to the master itself. */
  connectLoadBalancer(): Promise<LineProcess> {
    return this.#connect(NODE, '6443', ROUTER);
  }

  async #connect(...args: readonly string[]): Promise<LineProcess> {
    const client = this.#router.start(program.client, ...args);
    await client.next(field('connected'));
    return client;
  }

  /** Turns the API server stand-in: see api-server-process.ts. */
  async turn(...modes: readonly string[]): Promise<void> {
    for (const mode of modes) {
      this.#apiServer?.send(mode);
      await this.#apiServer?.next(field('mode'));
    }
  }

  /**
   * Starts the speaker and waits until it answers. Its log lines are the process's messages.
   * @param options.mounting a file and where it is mounted by itself, as a container has it; the second is then the ca.crt
   * @param options.launcher a program and its arguments that run the speaker, which has a mount namespace of its own
   */
  async startSpeaker(
    options: { readonly mounting?: readonly [string, string]; readonly launcher?: readonly string[] } = {},
  ): Promise<LineProcess> {
    const command = ['run', '--config', this.path('speaker.yaml')];
    const speaker =
      options.mounting === undefined
        ? this.launchSpeaker(options.launcher ?? [])
        : this.#mounted(options.mounting, command);
    await speaker.next((message) => (field('msg')(message) === 'bgp-lb-speaker started' ? true : undefined));
    return speaker;
  }

  /** Starts the speaker by a launcher, and waits for nothing. */
  launchSpeaker(launcher: readonly string[]): LineProcess {
    const command = [process.execPath, program.speaker, 'run', '--config', this.path('speaker.yaml')];
    const [first = '', ...rest] = [...launcher, ...command];
    return this.master.startProgram(first, ...rest);
  }

  /** Runs a command of the program on the master to its end, and returns what it printed. Throws with its errors when it fails. */
  command(...args: readonly string[]): string {
    return this.master.run(process.execPath, program.speaker, ...args, '--config', this.path('speaker.yaml'));
  }

  /** The same for a command that asks the running speaker. */
  ask(...args: readonly string[]): string {
    return this.master.run(process.execPath, program.speaker, ...args, '--socket', this.path('speaker.sock'));
  }

  /** The same while the test goes on: resolves when the command has ended. */
  async startCommand(...args: readonly string[]): Promise<CommandEnd> {
    const argv = [process.execPath, program.speaker, ...args];
    const child = spawn('ip', ['netns', 'exec', this.master.name, ...argv]);
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { code: Number(code), stdout, stderr };
  }

  /** `ip netns exec` gives the process a mount namespace of its own. */
  #mounted([from, to]: readonly [string, string], command: readonly string[]): LineProcess {
    writeFileSync(this.path(to), '');
    const mount = `mount --bind ${this.path(from)} ${this.path(to)} && exec "$@"`;
    const main = [process.execPath, program.speaker, ...command, '--apiServer.caFile', this.path(to)];
    return this.master.startProgram('sh', '-c', mount, 'sh', ...main);
  }

  async status(): Promise<SpeakerStatus> {
    // The daemon is of this very tree.
    return (await controlRequest(this.path('speaker.sock'), 'GET', '/api/v1/status')) as SpeakerStatus;
  }

  /** Reloads as the command does, without a process for it. Throws with what the speaker complains of. */
  async reload(): Promise<unknown> {
    return await controlRequest(this.path('speaker.sock'), 'POST', '/api/v1/reload');
  }

  /** The kept events of one type, oldest first. */
  async events(type: string): Promise<readonly unknown[]> {
    const answer = await controlRequest(this.path('speaker.sock'), 'GET', `/api/v1/events?type=${type}`);
    return Array.isArray(answer) ? answer : [];
  }

  async metrics(): Promise<string> {
    return String(await controlRequest(this.path('speaker.sock'), 'GET', '/metrics'));
  }

  /** Waits until the VIP is in this state, and returns why. */
  async reach(state: string): Promise<string> {
    const { vips } = await this.until(({ vips: [vip] }) => vip?.state === state);
    return vips[0]?.reason ?? '';
  }

  /** Waits until the status is so, and returns it. Throws with the last status when it takes too long. */
  async until(isSo: (status: SpeakerStatus) => boolean): Promise<SpeakerStatus> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const status = await this.status();
      if (isSo(status)) return status;
      if (performance.now() > deadline) throw new Error(`still ${JSON.stringify(status, null, 1)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Segments whose TCP-MD5 signature the router's kernel refused. */
  refusedSignatures(): number {
    const netstat = this.#router
      .run('cat', '/proc/net/netstat')
      .split('\n')
      .filter((line) => line.startsWith('TcpExt:'));
    const [names = [], values = []] = netstat.map((line) => line.split(' '));
    return Number(values[names.indexOf('TCPMD5Failure')]);
  }

  /** True while the VIP is on the master's loopback interface. */
  isBound(): boolean {
    return this.master.ip('-o', 'address', 'show', 'dev', 'lo').includes(`${VIP}/32`);
  }

  /** Tells which addresses appear on and vanish from the master from now on. */
  async watchAddresses(): Promise<LineProcess> {
    const monitor = this.master.start(program.addressMonitor);
    await monitor.next(field('monitoring'));
    return monitor;
  }

  async remove(): Promise<void> {
    await Promise.all([this.master.remove(), this.#router.remove()]);
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The next set of paths that the router has from the speaker. */
export function routesOf(router: LineProcess): Promise<readonly string[]> {
  return router.next((message) => {
    const routes = field('routes')(message);
    return Array.isArray(routes) ? routes.map(String) : undefined;
  });
}

/** The paths as the router shows them. */
export const path: Readonly<Record<'normal' | 'lastResort' | 'draining', string>> = {
  normal: `${VIP}/32 via ${NODE} pref 100 [] {}`,
  lastResort: `${VIP}/32 via ${NODE} pref 0 [4294901760] {64512:2:2}`,
  draining: `${VIP}/32 via ${NODE} pref 0 [4294901760] {64512:2:1}`,
};
