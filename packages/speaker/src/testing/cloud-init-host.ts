import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CloudInitRun, ReadUserData } from './cloud-init-run.ts';
import { NetworkNamespace } from './network-namespace.ts';

/** Folders of the machine that are its own while a script runs. */
const FOLDERS = ['etc', 'usr/local', 'var/lib', 'run'] as const;

/** A machine with a network and files of its own, which does with user-data what cloud-init and systemd do. */
export class CloudInitHost {
  readonly network: NetworkNamespace;
  readonly #folder: string;

  constructor(run: CloudInitRun, name: string) {
    this.#folder = join(run.folder, `machine-${name}`);
    for (const folder of FOLDERS) mkdirSync(this.path(folder), { recursive: true });
    cpSync('/etc', this.path('etc'), { recursive: true, verbatimSymlinks: true });
    this.network = new NetworkNamespace(name);
    // What it waits for is written down: a test waits for events only.
    this.program('sleep', 'echo "sleep $*" >>/var/lib/calls');
  }

  /** Where a file of the machine is for the test. */
  path(path: string): string {
    return join(this.#folder, path);
  }

  /** A program of the machine, as the body of a shell script. */
  program(name: string, body: string): void {
    mkdirSync(this.path('usr/local/bin'), { recursive: true });
    writeFileSync(this.path(`usr/local/bin/${name}`), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  }

  /** Writes the files of user-data. */
  write({ write_files }: ReadUserData): void {
    for (const { path, content, permissions } of write_files) {
      mkdirSync(dirname(this.path(path)), { recursive: true });
      writeFileSync(this.path(path), content, { mode: Number.parseInt(permissions, 8) });
    }
  }

  /** Runs the script as systemd does. */
  boot(script = '/usr/local/lib/bgp-lb/bootstrap.sh'): { status: number | null; output: string } {
    return this.run(`exec sh ${script}`);
  }

  /** Runs a command of the shell on the machine. `ip netns exec` gives it a mount namespace of its own. */
  run(command: string): { status: number | null; output: string } {
    const mounts = FOLDERS.map((folder) => `mount --bind ${this.path(folder)} /${folder}`).join(' && ');
    const whole = `${mounts} && ${command}`;
    const result = spawnSync('ip', ['netns', 'exec', this.network.name, 'sh', '-c', whole], {
      encoding: 'utf8',
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    });
    return { status: result.status, output: `${result.stdout}${result.stderr}` };
  }

  /** What the programs of the machine have written to /var/lib/calls. */
  calls(): string[] {
    const log = this.path('var/lib/calls');
    return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  }

  remove(): Promise<void> {
    return this.network.remove();
  }
}
