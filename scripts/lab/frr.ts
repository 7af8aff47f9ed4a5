/** FRR (zebra, bgpd, and bfdd where it is wanted): how it is run and asked, and one on a host of the lab. */
import { existsSync, rmSync } from 'node:fs';
import type { Host } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { PrivateView } from './private-view.ts';

const programFolder = '/usr/lib/frr';

/** The daemons of FRR that are used here. */
export type FrrDaemon = 'zebra' | 'bgpd' | 'bfdd';

/** True when FRR is installed. */
export function hasFrr(): boolean {
  return existsSync(`${programFolder}/bgpd`) && existsSync(`${programFolder}/zebra`);
}

/** A view as FRR's package and unit make the machine, with an empty vtysh.conf. */
export function frrView(folder: string): PrivateView {
  const view = new PrivateView(folder, {
    // The daemons demand that their user is a member of the group of their control sockets.
    users: [{ name: 'frr', groups: ['frrvty'] }],
    folders: ['/etc/frr', '/run/frr', '/var/tmp/frr'].map((path) => [path, 'frr'] as const),
  });
  view.write('/etc/frr/vtysh.conf', '', { owner: 'frr' });
  return view;
}

/** Writes the configuration of one daemon into its view. */
export function writeFrrConfig(view: PrivateView, daemon: FrrDaemon, config: readonly string[]): void {
  view.write(`/etc/frr/${daemon}.conf`, `${config.join('\n')}\n`, { owner: 'frr', mode: 0o640 });
}

/** The argument list of a daemon, which stays in the foreground, without TCP for its commands and with its log on standard output. */
export function frrDaemon(view: PrivateView, daemon: FrrDaemon, more: readonly string[] = []): string[] {
  return view.inside([
    `${programFolder}/${daemon}`,
    ...['-f', `/etc/frr/${daemon}.conf`, '-P', '0', '-u', 'frr', '-g', 'frr', '--log', 'stdout'],
    ...more,
  ]);
}

/** Where a daemon takes commands, as its path is outside of the view. */
export function frrControlSocket(view: PrivateView, daemon: FrrDaemon): string {
  return view.outside(`/run/frr/${daemon}.vty`);
}

/** Where zebra takes its clients, as its path is outside of the view. */
export function zebraClientSocket(view: PrivateView): string {
  return view.outside('/run/frr/zserv.api');
}

/** The argument list that gives commands to the daemons of a view. */
export function vtysh(view: PrivateView, ...commands: readonly string[]): string[] {
  return view.inside(['vtysh', ...commands.flatMap((command) => ['-c', command])]);
}

/** A BGP neighbor as FRR's `show bgp neighbors json` has it, as far as the lab looks at it. */
export interface FrrNeighbor {
  readonly bgpState: string;
  /** Sessions that came up since bgpd was started. */
  readonly connectionsEstablished?: number;
  readonly lastNotificationReason?: string;
}

/** One FRR. */
export class Frr {
  readonly #host: Host;
  #view: PrivateView | undefined;
  readonly #daemons = new Map<FrrDaemon, HostProcess>();

  constructor(host: Host) {
    this.#host = host;
  }

  get isRunning(): boolean {
    return (['zebra', 'bgpd'] as const).every((name) => this.#daemons.get(name)?.isRunning === true);
  }

  /**
   * Starts zebra and bgpd with these lines as bgpd.conf, and bfdd where `bfdConfig` is given; resolves when all take
   * commands. When one of them does not, none is left.
   */
  async start(bgpConfig: readonly string[], bfdConfig?: readonly string[]): Promise<void> {
    this.#view = frrView(this.#host.path('frr'));
    try {
      const zebra = this.#spawn('zebra', []);
      const sockets = [frrControlSocket(this.#view, 'zebra'), zebraClientSocket(this.#view)];
      await zebra.ready(() => sockets.every((socket) => existsSync(socket)));
      if (bfdConfig !== undefined) await this.startBfdd(bfdConfig);
      await this.startBgpd(bgpConfig);
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** Starts bgpd alone, beside a zebra that runs. */
  startBgpd(config: readonly string[]): Promise<void> {
    return this.#startBeside('bgpd', config);
  }

  /** Starts bfdd alone, beside a zebra that runs. */
  startBfdd(config: readonly string[]): Promise<void> {
    return this.#startBeside('bfdd', config);
  }

  /** SIGTERM to all; bgpd sends a NOTIFICATION. */
  async stop(): Promise<void> {
    for (const name of ['bgpd', 'bfdd', 'zebra'] as const) await this.#daemons.get(name)?.stop();
  }

  /** kill -9 of bgpd alone. */
  async killBgpd(): Promise<void> {
    await this.#daemons.get('bgpd')?.kill();
  }

  /** kill -9 of bfdd alone. */
  async killBfdd(): Promise<void> {
    await this.#daemons.get('bfdd')?.kill();
  }

  /** kill -9 of all. */
  async kill(): Promise<void> {
    for (const name of ['bgpd', 'bfdd', 'zebra'] as const) await this.#daemons.get(name)?.kill();
  }

  /** Runs commands, as `show ...` and `clear ...`. */
  run(...commands: readonly string[]): Promise<string> {
    return this.#host.exec(vtysh(this.#started, ...commands));
  }

  /** Runs a `show ... json` command. The caller names the shape of what FRR gives. */
  async show<T>(command: string): Promise<T> {
    return JSON.parse(await this.run(command)) as T;
  }

  /** Changes the running configuration. */
  async configure(...lines: string[]): Promise<void> {
    await this.run('configure terminal', ...lines);
  }

  /** What FRR says of a neighbor; undefined for one that is not configured. */
  async neighbor(address: string): Promise<FrrNeighbor | undefined> {
    return (await this.show<Record<string, FrrNeighbor>>(`show bgp neighbors ${address} json`))[address];
  }

  /** The last lines of the logs of bgpd and zebra. */
  tail(): string {
    return (['bgpd', 'zebra'] as const)
      .map((name) => this.#daemons.get(name)?.tail() ?? 'never started')
      .join('\n');
  }

  get #started(): PrivateView {
    if (this.#view === undefined) throw new Error(`${this.#host.name}: FRR was not started`);
    return this.#view;
  }

  async #startBeside(name: FrrDaemon, config: readonly string[]): Promise<void> {
    const socket = frrControlSocket(this.#started, name);
    // That of a daemon that was killed would look like one that runs.
    rmSync(socket, { force: true });
    await this.#spawn(name, config).ready(() => existsSync(socket));
  }

  #spawn(name: FrrDaemon, config: readonly string[]): HostProcess {
    writeFrrConfig(this.#started, name, [`hostname ${this.#host.name}`, ...config]);
    const process = this.#host.spawn(name, frrDaemon(this.#started, name));
    this.#daemons.set(name, process);
    return process;
  }
}
