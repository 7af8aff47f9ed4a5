import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import {
  hostAddress,
  localAsn,
  masterNumber,
  maxMasters,
  subnetRange,
} from '../../../scripts/lab/addresses.ts';
import type { HostProcess } from '../../../scripts/lab/host-process.ts';
import type { LbHost } from '../../../scripts/lab/lb-host.ts';
import { runCommand } from '../../../scripts/lab/run-command.ts';
import { accepts, timeUntil } from './control-socket.ts';
import type { Detection, LoadBalancer } from './load-balancer.ts';

const programs = '/usr/lib/frr';

/** FRR: bgpd and zebra, IBGP multipath over all masters; it sends them nothing. */
export class Frr implements LoadBalancer {
  readonly name = 'FRR';
  readonly #host: LbHost;
  readonly #detection: Detection;
  #zebra: HostProcess | undefined;
  #bfdd: HostProcess | undefined;
  #bgpd: HostProcess | undefined;

  constructor(host: LbHost, detection: Detection = {}) {
    this.#host = host;
    this.#detection = detection;
  }

  async start(): Promise<number> {
    const folder = this.#host.path('run/frr');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const [user = 0, group = 0] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number(await runCommand(['id', flag, 'frr']))),
    );
    chownSync(folder, user, group);
    const write = (name: string, lines: readonly string[]): void => {
      writeFileSync(`${folder}/${name}`, `${lines.join('\n')}\n`, { mode: 0o640 });
      chownSync(`${folder}/${name}`, user, group);
    };
    write('zebra.conf', [`hostname ${this.#host.name}`]);
    write('bgpd.conf', this.#bgpConfig());
    if (this.#detection.bfdInterval !== undefined) write('bfdd.conf', []);
    const since = performance.now();
    this.#zebra = this.#spawn('zebra', folder);
    await timeUntil(this.#zebra, async () => existsSync(`${folder}/zserv.api`), since);
    if (this.#detection.bfdInterval !== undefined) {
      this.#bfdd = this.#spawn('bfdd', folder, ['--bfdctl', `${folder}/bfdd.sock`]);
      await timeUntil(this.#bfdd, () => accepts(`${folder}/bfdd.vty`), since);
    }
    this.#bgpd = this.#spawn('bgpd', folder);
    return timeUntil(this.#bgpd, () => accepts(`${folder}/bgpd.vty`), since);
  }

  processes(): Readonly<Record<string, number>> {
    return { bgpd: this.#bgpd?.pid ?? 0, zebra: this.#zebra?.pid ?? 0 };
  }

  async stop(): Promise<void> {
    await this.#bgpd?.stop();
    await this.#bfdd?.stop();
    await this.#zebra?.stop();
  }

  #spawn(name: string, folder: string, more: readonly string[] = []): HostProcess {
    return this.#host.spawn(name, [
      `${programs}/${name}`,
      ...['-f', `${folder}/${name}.conf`, '-i', `${folder}/${name}.pid`, '-z', `${folder}/zserv.api`],
      ...['--vty_socket', folder, '-P', '0', '-u', 'frr', '-g', 'frr'],
      ...['--log', 'stdout', '--log-level', 'warnings'],
      ...more,
    ]);
  }

  #bgpConfig(): string[] {
    const { bfdInterval, holdTime = 9 } = this.#detection;
    const range = [` bgp listen range ${subnetRange('ipv4', 'masters')} peer-group masters`];
    // FRR 8.4 has no BFD with the members of a range: with BFD each master is named.
    const named = Array.from({ length: maxMasters }, (_, n) =>
      hostAddress('ipv4', 'masters', masterNumber(n + 1)),
    ).flatMap((address) => [
      ` neighbor ${address} peer-group masters`,
      ` neighbor ${address} passive`,
      ` neighbor ${address} bfd 3 ${bfdInterval} ${bfdInterval}`,
    ]);
    return [
      `hostname ${this.#host.name}`,
      `router bgp ${localAsn}`,
      ` bgp router-id ${this.#host.address}`,
      ' no bgp default ipv4-unicast',
      ' neighbor masters peer-group',
      ` neighbor masters remote-as ${localAsn}`,
      ` neighbor masters timers ${holdTime / 3} ${holdTime}`,
      ...(bfdInterval === undefined ? range : named),
      ' address-family ipv4 unicast',
      '  neighbor masters activate',
      '  neighbor masters route-map nothing out',
      '  maximum-paths ibgp 64',
      ' exit-address-family',
      'route-map nothing deny 10',
    ];
  }
}
