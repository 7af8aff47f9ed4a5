/** One master and three routers in namespaces of their own on one switch, for figures of a speaker that has nothing to do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority, issueServingCertificate } from '../../scripts/lab/cluster-pki.ts';
import { unixRequest } from '../../scripts/lab/unix-http.ts';
import { cable, NetworkNamespace } from '../../test/kit/network-namespace.ts';

const asn = 64512;
const vip = '10.100.0.1';
const masterAddress = '10.9.0.11';
const routerAddress = (n: number): string => `10.9.0.${n}`;
const routerCount = 3;
const bfd = { transmitInterval: '300ms', receiveInterval: '300ms', detectMultiplier: 3 };

const root = new URL('../..', import.meta.url).pathname;

interface SpeakerStatus {
  readonly vips: readonly { readonly state: string }[];
  readonly routers: readonly { readonly session: string; readonly bfd: string }[];
}

/** How a speaker is started: `['node', 'dist/bgp-lb-speaker.mjs']`, or the single file. */
export type SpeakerCommand = readonly [program: string, ...argv: string[]];

/** The lab. Everything in it ends with `remove`. */
export class RestLab {
  readonly #folder = mkdtempSync(join(tmpdir(), 'bgp-lb-rest-'));
  readonly #namespaces: NetworkNamespace[] = [];
  readonly #children: ChildProcess[] = [];
  #master: NetworkNamespace | undefined;
  /** For an end by a signal: a namespace outlives its name while a process is in it. */
  readonly #abandon = (): void => {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  };

  /** Builds it, with routers and API server running. */
  static async create(): Promise<RestLab> {
    const lab = new RestLab();
    process.once('exit', lab.#abandon);
    try {
      await lab.#build();
      return lab;
    } catch (error) {
      await lab.remove();
      throw error;
    }
  }

  get socket(): string {
    return join(this.#folder, 'speaker/speaker.sock');
  }

  async #build(): Promise<void> {
    const hub = this.#namespace('hub');
    hub.ip('link', 'add', 'br0', 'type', 'bridge');
    hub.ip('link', 'set', 'br0', 'up');
    this.#master = this.#namespace('master');
    this.#plug(hub, this.#master, masterAddress, 0);
    for (let n = 1; n <= routerCount; n += 1) {
      const router = this.#namespace(`router${n}`);
      this.#plug(hub, router, routerAddress(n), n);
      this.#startRouter(router, n);
    }
    const pkiFolder = join(this.#folder, 'pki');
    mkdirSync(pkiFolder);
    await createAuthority(pkiFolder);
    await issueServingCertificate(pkiFolder, {
      nodeName: 'master',
      nodeAddress: masterAddress,
      serviceAddress: '10.96.0.1',
      endpointAddress: vip,
    });
    this.#startApiServer(pkiFolder);
    this.#writeSpeakerConfig(pkiFolder);
  }

  #namespace(label: string): NetworkNamespace {
    const namespace = NetworkNamespace.create(label);
    this.#namespaces.push(namespace);
    return namespace;
  }

  #plug(hub: NetworkNamespace, host: NetworkNamespace, address: string, n: number): void {
    cable(
      { namespace: hub, device: `p${n}` },
      { namespace: host, device: 'eth0', addresses: [`${address}/24`] },
    );
    hub.ip('link', 'set', `p${n}`, 'master', 'br0');
  }

  #startRouter(namespace: NetworkNamespace, n: number): void {
    const folder = join(this.#folder, `router${n}`);
    mkdirSync(folder);
    const file = join(folder, 'router.yaml');
    const config = {
      apiVersion: 'bgp-lb.dev/v1alpha1',
      kind: 'Router',
      asn,
      routerId: routerAddress(n),
      stateDir: folder,
      vips: [{ address: vip, port: 6443, machinePort: 6443 }],
      neighbors: [{ name: 'masters', role: 'master', range: '10.9.0.0/24', asn, maxSessions: 4, bfd }],
      api: { socket: join(folder, 'router.sock'), listen: '127.0.0.1:9474' },
    };
    writeFileSync(file, JSON.stringify(config));
    this.#spawn(namespace, [process.execPath, `${root}dist/bgp-lb-router.mjs`, 'run', '--config', file]);
  }

  #startApiServer(pkiFolder: string): void {
    const file = join(this.#folder, 'api-server.json');
    const storeFolder = join(this.#folder, 'store');
    mkdirSync(storeFolder);
    const config = {
      nodeName: 'master',
      port: 6443,
      ...{ pkiFolder, storeFolder },
      controlSocket: join(this.#folder, 'api-server.sock'),
      mode: 'ready',
      shutdownDelay: 0,
    };
    writeFileSync(file, JSON.stringify(config));
    if (this.#master === undefined) throw new Error('there is no master');
    this.#spawn(this.#master, [process.execPath, `${root}scripts/lab/api-server.ts`, file]);
  }

  #writeSpeakerConfig(pkiFolder: string): void {
    const folder = join(this.#folder, 'speaker');
    mkdirSync(folder);
    const marker = join(folder, 'bootstrapped');
    const config = {
      apiVersion: 'bgp-lb.dev/v1alpha1',
      kind: 'Speaker',
      role: 'join',
      asn,
      vips: [{ address: vip }],
      routers: Array.from({ length: routerCount }, (_, index) => ({
        address: routerAddress(index + 1),
        asn,
        bfd,
      })),
      apiServer: { address: masterAddress, caFile: join(pkiFolder, 'ca.crt') },
      bootstrap: { markers: [marker], stateDir: folder },
      drain: { file: join(folder, 'drain') },
      api: { socket: this.socket, listen: '127.0.0.1:9475' },
    };
    writeFileSync(this.#speakerConfig, JSON.stringify(config));
    writeFileSync(marker, '');
  }

  get #speakerConfig(): string {
    return join(this.#folder, 'speaker.yaml');
  }

  /** Starts a speaker and resolves when its log says that it has started. @returns its process, and how long that took */
  async startSpeaker(command: SpeakerCommand): Promise<{ child: ChildProcess; startedMs: number }> {
    if (this.#master === undefined) throw new Error('there is no master');
    const since = performance.now();
    const child = this.#spawn(this.#master, [...command, 'run', '--config', this.#speakerConfig]);
    let text = '';
    for await (const chunk of child.stdout ?? []) {
      text += String(chunk);
      if (text.includes('bgp-lb-speaker started')) break;
    }
    if (!text.includes('bgp-lb-speaker started')) throw new Error(`the speaker did not start:\n${text}`);
    return { child, startedMs: performance.now() - since };
  }

  /** Waits until the VIP is advertised to all routers, and BFD is Up with each. */
  async waitForRest(): Promise<void> {
    const end = performance.now() + 60_000;
    for (;;) {
      const status = (await unixRequest(this.socket, 'GET', '/api/v1/status').catch(() => undefined)) as
        | SpeakerStatus
        | undefined;
      const isDone =
        status?.vips.every(({ state }) => state === 'advertised') === true &&
        status.routers.every(({ session, bfd: state }) => session === 'Established' && state === 'Up');
      if (isDone) return;
      if (performance.now() > end)
        throw new Error(`the speaker does not come to rest: ${JSON.stringify(status)}`);
      await sleep(100);
    }
  }

  /** Ends a speaker as an upgrade does. */
  async stopSpeaker(child: ChildProcess): Promise<void> {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  }

  async remove(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exit = once(child, 'exit');
        child.kill('SIGKILL');
        await exit;
      }),
    );
    for (const namespace of this.#namespaces.toReversed()) await namespace.remove();
    rmSync(this.#folder, { recursive: true, force: true });
    process.off('exit', this.#abandon);
  }

  #spawn(namespace: NetworkNamespace, argv: readonly string[]): ChildProcess {
    // `ip netns exec` replaces itself by the program: the child is the program.
    const child = spawn('ip', ['netns', 'exec', namespace.name, ...argv], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#children.push(child);
    return child;
  }
}
