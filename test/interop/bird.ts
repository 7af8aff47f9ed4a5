/** BIRD on a host of the lab. */
import { writeFileSync } from 'node:fs';
import type { Host } from '../../scripts/lab/host.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';

/** One BIRD. */
export class Bird {
  readonly #host: Host;
  #process: HostProcess | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Starts it with these lines as bird.conf after what every BIRD of ours has; resolves when it takes commands. */
  async start(config: readonly string[], more: readonly string[] = []): Promise<void> {
    const file = this.#host.path('etc/bird.conf');
    writeFileSync(
      file,
      `${[`router id ${this.#host.addressOf(0, 'ipv4')};`, 'protocol device {}', ...config].join('\n')}\n`,
    );
    this.#process = this.#host.spawn('bird', ['bird', '-f', ...more, '-c', file, '-s', this.#control]);
    await this.#process.ready(async () => (await this.birdc('show', 'status')).includes('up and running'));
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** What a command prints; empty while there is no BIRD. Attributes of routes have the names that BIRD 2 gives them. */
  async birdc(...command: string[]): Promise<string> {
    const text = await this.#host.exec(['birdc', '-s', this.#control, ...command]).catch(() => '');
    // `bgp_next_hop` of BIRD 3 is `BGP.next_hop`.
    return text.replaceAll(/^(\s+)bgp_/gm, '$1BGP.');
  }

  get #control(): string {
    return this.#host.path('run/bird.ctl');
  }
}
