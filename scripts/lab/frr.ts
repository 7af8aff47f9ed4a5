/** FRR (zebra and bgpd) on a host of the lab, with its files and sockets in the host's folder. */
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { Host } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { runCommand } from './run-command.ts';

const programFolder = '/usr/lib/frr';

/** True when FRR is installed. */
export function hasFrr(): boolean {
  return existsSync(`${programFolder}/bgpd`) && existsSync(`${programFolder}/zebra`);
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

  constructor(host: Host) {
    this.#host = host;
  }

  get isRunning(): boolean {
    return this.#bgpd?.isRunning === true && this.#zebra?.isRunning === true;
  }

  /** Starts both daemons with these lines as bgpd.conf; resolves when both take commands. */
  async start(bgpConfig: readonly string[]): Promise<void> {
    const folder = this.#folder;
    mkdirSync(folder, { recursive: true });
    const [user = 0, group = 0] = await Promise.all(['-u', '-g'].map(idOfFrr));
    chownSync(folder, user, group);
    const write = (name: string, lines: readonly string[]): string => {
      const file = `${folder}/${name}`;
      writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o640 });
      chownSync(file, user, group);
      return file;
    };
    const hostname = `hostname ${this.#host.name}`;
    const zebraFile = write('zebra.conf', [hostname]);
    const bgpFile = write('bgpd.conf', [hostname, ...bgpConfig]);
    // Sockets of daemons that were killed would look like running ones.
    for (const name of ['zserv.api', 'zebra.vty', 'bgpd.vty']) rmSync(`${folder}/${name}`, { force: true });
    this.#zebra = this.#spawn('zebra', zebraFile);
    await this.#zebra.ready(() => existsSync(`${folder}/zserv.api`) && existsSync(`${folder}/zebra.vty`));
    this.#bgpd = this.#spawn('bgpd', bgpFile);
    await this.#bgpd.ready(() => existsSync(`${folder}/bgpd.vty`));
  }

  /** SIGTERM to bgpd and zebra; bgpd sends a NOTIFICATION. */
  async stop(): Promise<void> {
    await this.#bgpd?.stop();
    await this.#zebra?.stop();
  }

  /** kill -9 of bgpd and zebra. */
  async kill(): Promise<void> {
    await this.#bgpd?.kill();
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

  /** The last lines of both logs. */
  tail(): string {
    return [this.#bgpd, this.#zebra].map((process) => process?.tail() ?? 'never started').join('\n');
  }

  get #folder(): string {
    return this.#host.path('frr');
  }

  #spawn(name: string, configFile: string): HostProcess {
    const folder = this.#folder;
    return this.#host.spawn(name, [
      `${programFolder}/${name}`,
      ...['-f', configFile, '-i', `${folder}/${name}.pid`, '-z', `${folder}/zserv.api`],
      ...['--vty_socket', folder, '-P', '0', '-u', 'frr', '-g', 'frr', '--log', 'stdout'],
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
