/** BIRD: how it is run and asked, and one on a host of the lab. */
import { existsSync } from 'node:fs';
import type { Host } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { PrivateView } from './private-view.ts';

const program = '/usr/sbin/bird';

/** True when BIRD is installed. */
export function hasBird(): boolean {
  return existsSync(program);
}

/** A view as BIRD's package and unit make the machine, with this configuration. */
export function birdView(folder: string, config: readonly string[]): PrivateView {
  const view = new PrivateView(folder, {
    users: [{ name: 'bird' }],
    folders: [
      ['/etc/bird', 'bird'],
      ['/run/bird', 'bird'],
    ],
  });
  view.write('/etc/bird/bird.conf', `${config.join('\n')}\n`);
  return view;
}

/** The argument list of BIRD, which stays in the foreground and root. */
export function birdDaemon(view: PrivateView, more: readonly string[] = []): string[] {
  return view.inside([program, '-f', ...more]);
}

/** Where BIRD takes commands, as its path is outside of the view. */
export function birdControlSocket(view: PrivateView): string {
  return view.outside('/run/bird/bird.ctl');
}

/** The argument list that gives BIRD a command. */
export function birdc(view: PrivateView, ...command: readonly string[]): string[] {
  return view.inside(['birdc', ...command]);
}

/** One BIRD. */
export class Bird {
  readonly #host: Host;
  #view: PrivateView | undefined;
  #process: HostProcess | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The process that was started last. */
  get process(): HostProcess | undefined {
    return this.#process;
  }

  /** Starts it with these lines as bird.conf after what every BIRD of ours has; resolves when it takes commands. */
  async start(config: readonly string[], more: readonly string[] = []): Promise<void> {
    const common = [`router id ${this.#host.addressOf(0, 'ipv4')};`, 'protocol device {}'];
    this.#view = birdView(this.#host.path('bird'), [...common, ...config]);
    this.#process = this.#host.spawn('bird', birdDaemon(this.#view, more));
    await this.#process.ready(async () => (await this.birdc('show', 'status')).includes('up and running'));
  }

  /** SIGTERM. */
  async stop(): Promise<void> {
    await this.#process?.stop();
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** What a command prints; empty while there is no BIRD. Attributes of routes have the names that BIRD 2 gives them. */
  async birdc(...command: string[]): Promise<string> {
    if (this.#view === undefined) throw new Error(`${this.#host.name}: BIRD was not started`);
    const text = await this.#host.exec(birdc(this.#view, ...command)).catch(() => '');
    // `bgp_next_hop` of BIRD 3 is `BGP.next_hop`.
    return text.replaceAll(/^(\s+)bgp_/gm, '$1BGP.');
  }
}
