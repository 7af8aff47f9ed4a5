/** FRR (zebra, bgpd, and bfdd where it is wanted) on a host of the lab, with its files and sockets in the host's folder. */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Host } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { runCommand } from './run-command.ts';

const programFolder = '/usr/lib/frr';

/** True when FRR is installed. */
export function hasFrr(): boolean {
  return existsSync(`${programFolder}/bgpd`) && existsSync(`${programFolder}/zebra`);
}

/** Options that put bfdd's control socket there: every FRR 8.4 has one in the same place otherwise, and FRR 10.3 has none. */
export function bfddControlSocket(path: string): readonly string[] {
  const help = execFileSync(`${programFolder}/bfdd`, ['--help'], { encoding: 'utf8' });
  return help.includes('--bfdctl') ? ['--bfdctl', path] : [];
}

/** A BGP neighbour as FRR's `show bgp neighbors json` has it, as far as the lab looks at it. */
export interface FrrNeighbor {
  readonly bgpState: string;
  /** Sessions that came up since bgpd was started. */
  readonly connectionsEstablished?: number;
  readonly lastNotificationReason?: string;
}

/** One FRR. */
export class Frr {
  readonly #host: Host;
  #zebra: HostProcess | undefined;
  #bgpd: HostProcess | undefined;
  #bfdd: HostProcess | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  get isRunning(): boolean {
    return this.#bgpd?.isRunning === true && this.#zebra?.isRunning === true;
  }

  /**
   * Starts zebra and bgpd with these lines as bgpd.conf, and bfdd where `bfdConfig` is given; resolves when all take
   * commands.
   */
  async start(bgpConfig: readonly string[], bfdConfig?: readonly string[]): Promise<void> {
    const folder = this.#folder;
    mkdirSync(folder, { recursive: true });
    await this.#giveToFrr(folder);
    // Sockets of daemons that were killed would look like running ones.
    for (const name of ['zserv.api', 'zebra.vty', 'bfdd.vty']) rmSync(`${folder}/${name}`, { force: true });
    this.#zebra = this.#spawn('zebra', await this.#write('zebra.conf', []));
    await this.#zebra.ready(() => existsSync(`${folder}/zserv.api`) && existsSync(`${folder}/zebra.vty`));
    if (bfdConfig !== undefined) await this.startBfdd(bfdConfig);
    await this.startBgpd(bgpConfig);
  }

  /** Starts bgpd alone, beside a zebra that runs. */
  async startBgpd(config: readonly string[]): Promise<void> {
    rmSync(`${this.#folder}/bgpd.vty`, { force: true });
    this.#bgpd = this.#spawn('bgpd', await this.#write('bgpd.conf', config));
    await this.#bgpd.ready(() => existsSync(`${this.#folder}/bgpd.vty`));
  }

  /** Starts bfdd alone, beside a zebra that runs. */
  async startBfdd(config: readonly string[]): Promise<void> {
    rmSync(`${this.#folder}/bfdd.vty`, { force: true });
    const file = await this.#write('bfdd.conf', config);
    this.#bfdd = this.#spawn('bfdd', file, bfddControlSocket(`${this.#folder}/bfdd.sock`));
    await this.#bfdd.ready(() => existsSync(`${this.#folder}/bfdd.vty`));
  }

  /** SIGTERM to all; bgpd sends a NOTIFICATION. */
  async stop(): Promise<void> {
    await this.#bgpd?.stop();
    await this.#bfdd?.stop();
    await this.#zebra?.stop();
  }

  /** kill -9 of bgpd alone. */
  async killBgpd(): Promise<void> {
    await this.#bgpd?.kill();
  }

  /** kill -9 of bfdd alone. */
  async killBfdd(): Promise<void> {
    await this.#bfdd?.kill();
  }

  /** kill -9 of all. */
  async kill(): Promise<void> {
    await this.#bgpd?.kill();
    await this.#bfdd?.kill();
    await this.#zebra?.kill();
  }

  /** Runs a `show ... json` command. The caller names the shape of what FRR gives. */
  async show<T>(command: string): Promise<T> {
    return JSON.parse(await this.#vtysh(command)) as T;
  }

  /** Changes the running configuration. */
  async configure(...lines: string[]): Promise<void> {
    await this.#vtysh('configure terminal', ...lines);
  }

  /** What FRR says of a neighbour; undefined for one that is not configured. */
  async neighbor(address: string): Promise<FrrNeighbor | undefined> {
    return (await this.show<Record<string, FrrNeighbor>>(`show bgp neighbors ${address} json`))[address];
  }

  /** The last lines of the logs of bgpd and zebra. */
  tail(): string {
    return [this.#bgpd, this.#zebra].map((process) => process?.tail() ?? 'never started').join('\n');
  }

  get #folder(): string {
    return this.#host.path('frr');
  }

  /** Writes a configuration file that FRR's user can read. */
  async #write(name: string, lines: readonly string[]): Promise<string> {
    const file = `${this.#folder}/${name}`;
    writeFileSync(file, `${[`hostname ${this.#host.name}`, ...lines].join('\n')}\n`, { mode: 0o640 });
    await this.#giveToFrr(file);
    return file;
  }

  async #giveToFrr(path: string): Promise<void> {
    const [user = 0, group = 0] = await Promise.all(['-u', '-g'].map(idOfFrr));
    chownSync(path, user, group);
  }

  #spawn(name: string, configFile: string, more: readonly string[] = []): HostProcess {
    const folder = this.#folder;
    return this.#host.spawn(name, [
      `${programFolder}/${name}`,
      ...['-f', configFile, '-i', `${folder}/${name}.pid`, '-z', `${folder}/zserv.api`],
      ...['--vty_socket', folder, '-P', '0', '-u', 'frr', '-g', 'frr', '--log', 'stdout'],
      ...more,
    ]);
  }

  #vtysh(...commands: string[]): Promise<string> {
    const arguments_ = commands.flatMap((command) => ['-c', command]);
    return this.#host.exec(['vtysh', '--vty_socket', this.#folder, ...arguments_]);
  }
}

async function idOfFrr(flag: string): Promise<number> {
  return Number((await runCommand(['id', flag, 'frr'])).trim());
}
