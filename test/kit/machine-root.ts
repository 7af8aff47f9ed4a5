import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Host } from '../../scripts/lab/host.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import { runCommand } from '../../scripts/lab/run-command.ts';

/** A folder of the lab, and where the machine has it. */
type Mount = readonly [from: string, to: string];

/** What user-data is made of, as cloud-init reads it. */
export interface UserData {
  readonly write_files: readonly {
    readonly path: string;
    readonly content: string;
    readonly permissions: string;
  }[];
  readonly runcmd: readonly (readonly string[])[];
}

/** Reads user-data with the library that cloud-init reads it with. */
export async function readUserData(text: string): Promise<UserData> {
  const read = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)';
  return JSON.parse(await runCommand(['python3', '-c', read], { input: text })) as UserData;
}

/** Folders of its own for a host of the lab, which its programs see in the places of this machine's, in a mount namespace. */
export class MachineRoot {
  readonly #host: Host;
  /** The outer folders first. */
  readonly #mounts: readonly Mount[];

  /** @param more folders of the lab beside `/etc` (a copy of this machine's), `/usr/local`, `/opt`, `/var/lib` and `/run` */
  constructor(host: Host, more: readonly Mount[] = []) {
    this.#host = host;
    const root = host.path('machine');
    const own = ['/etc', '/usr/local', '/opt', '/var/lib', '/run'];
    const inside = (to: string): readonly Mount[] => more.filter(([, one]) => one.startsWith(`${to}/`));
    this.#mounts = own.flatMap((to): readonly Mount[] => [[`${root}${to}`, to], ...inside(to)]);
    for (const [from] of this.#mounts) mkdirSync(from, { recursive: true });
    cpSync('/etc', `${root}/etc`, { recursive: true, verbatimSymlinks: true });
    for (const [, to] of more) mkdirSync(`${root}${to}`, { recursive: true });
  }

  /** Where a path of the machine is outside of it. The lab's configuration names files of the host's by where they are outside. */
  outside(path: string): string {
    if (path.startsWith(`${this.#host.folder}/`)) return path;
    const mount = this.#mounts.findLast(([, to]) => path.startsWith(`${to}/`));
    if (mount === undefined) throw new Error(`${path} is in no folder of the machine's own`);
    return mount[0] + path.slice(mount[1].length);
  }

  write(path: string, content: string, mode: number): void {
    mkdirSync(dirname(this.outside(path)), { recursive: true });
    writeFileSync(this.outside(path), content, { mode });
  }

  /** Writes files as cloud-init does. */
  writeFiles({ write_files: files }: UserData): void {
    for (const { path, content, permissions } of files)
      this.write(path, content, Number.parseInt(permissions, 8));
  }

  /** Runs a text of the shell on the machine. @param name of the process, and of its log */
  spawn(name: string, script: string): HostProcess {
    const mounts = this.#mounts.map(([from, to]) => `mount --bind ${from} ${to}`).join(' && ');
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
    const argv = ['unshare', '--mount', 'sh', '-c', `${mounts} && exec sh -c "$1"`, 'sh', script];
    return this.#host.spawn(name, argv, { env });
  }
}
