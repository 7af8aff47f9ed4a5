/** keepalived: how it is run, and one on a host of the lab as its unit would run it. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Host } from './host.ts';
import type { HostProcess } from './host-process.ts';
import { PrivateView } from './private-view.ts';

const program = '/usr/sbin/keepalived';

/** A view as keepalived's package makes the machine. */
export function keepalivedView(folder: string): PrivateView {
  return new PrivateView(folder, { folders: [] });
}

/** The argument list of keepalived, which stays in the foreground and logs to its standard error. */
export function keepalivedDaemon(view: PrivateView, config: string, runFolder: string): string[] {
  const files = ['-p', `${runFolder}/keepalived.pid`, '-r', `${runFolder}/vrrp.pid`];
  return view.inside([program, '-n', '-l', '-D', '-P', '-f', config, ...files]);
}

/** keepalived as a service: from the moment on that there is a configuration, and again whenever it has ended. */
export class Keepalived {
  readonly #host: Host;
  #service: HostProcess | undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  get config(): string {
    return this.#host.path('var/lib/bgp-lb/keepalived/keepalived.conf');
  }

  get runFolder(): string {
    return this.#host.path('run/keepalived');
  }

  start(): void {
    const { config, runFolder } = this;
    mkdirSync(runFolder, { recursive: true });
    const [command = '', ...rest] = keepalivedDaemon(
      keepalivedView(this.#host.path('keepalived')),
      config,
      runFolder,
    );
    const loop = `config=$1; shift; while :; do if [ -e "$config" ]; then "$@"; fi; sleep 0.2; done`;
    this.#service = this.#host.spawn('keepalived', ['sh', '-c', loop, 'sh', config, command, ...rest]);
  }

  /** SIGKILL to all of it, and no restart: its addresses stay. */
  async kill(): Promise<void> {
    await this.#service?.kill();
  }

  /** As systemd stops it: its addresses go. */
  async stop(): Promise<void> {
    await this.#service?.stop();
  }

  tail(lines = 40): string {
    return this.#service?.tail(lines) ?? 'never started';
  }

  /** Keys of `vrrp` in router.yaml that say where its files are. */
  get places(): { readonly folder: string; readonly runFolder: string } {
    return { folder: dirname(this.config), runFolder: this.runFolder };
  }
}
