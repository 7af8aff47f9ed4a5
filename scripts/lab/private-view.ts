/**
 * A file system view of its own for a daemon of another make: it finds its users, `/etc`, `/run`, `/var/lib` and the like as
 * its recipe makes them, whatever this machine has there or lacks.
 */
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A system user of the view, with a group of the same name. */
interface ViewUser {
  readonly name: string;
  /** Default: `/nonexistent`. */
  readonly home?: string;
  /** Groups it is a member of beside its own. */
  readonly groups?: readonly string[];
}

/** What a daemon finds beside its configuration. */
export interface ViewPlan {
  readonly users?: readonly ViewUser[];
  /** Folders, outer ones first, by path and the user who owns them: those that a package or a unit of systemd would have made. */
  readonly folders: readonly (readonly [path: string, owner: string])[];
}

/** Places that the view has for itself; everything else is the machine's. */
const places = ['/etc', '/run', '/var/lib', '/var/log', '/var/tmp'] as const;
/** Links that Debian's programs are found by: it is no configuration. */
const alternatives = '/etc/alternatives';
/** Of ids that no package of Debian and no login user has. */
const firstId = 64_900;

/** The view: folders in the place of the machine's. They are bound there in a mount namespace that ends with the daemon. */
export class PrivateView {
  readonly folder: string;
  readonly #ids: ReadonlyMap<string, number>;

  /**
   * Makes the view; where there is one, `/run` is emptied, as at a boot, and the rest stays, as on a disk.
   * @param folder where its files are outside; it is made, and to remove it removes the view
   */
  constructor(folder: string, { users = [], folders }: ViewPlan) {
    this.folder = folder;
    const groups = users.flatMap((user) => user.groups ?? []);
    const names = [...new Set([...users.map(({ name }) => name), ...groups])];
    this.#ids = new Map([['root', 0], ...names.map((name, index) => [name, firstId + index] as const)]);
    rmSync(this.outside('/run'), { recursive: true, force: true });
    for (const place of places) mkdirSync(this.outside(place), { recursive: true });
    const id = (name: string): number => this.#id(name);
    const passwd = users.map(
      ({ name, home = '/nonexistent' }) => `${name}:x:${id(name)}:${id(name)}::${home}:/bin/false`,
    );
    const group = names.map((name) => {
      const members = users.filter((user) => user.groups?.includes(name)).map((user) => user.name);
      return `${name}:x:${id(name)}:${members.join()}`;
    });
    this.write(
      '/etc/passwd',
      lines('root:x:0:0:root:/root:/bin/sh', ...passwd, 'nobody:x:65534:65534::/nonexistent:/bin/false'),
    );
    this.write('/etc/group', lines('root:x:0:', ...group, 'nogroup:x:65534:'));
    this.write('/etc/nsswitch.conf', lines('passwd: files', 'group: files', 'hosts: files'));
    this.write('/etc/hosts', lines('127.0.0.1 localhost', '::1 localhost'));
    this.write(
      '/etc/pam.d/other',
      lines(...['auth', 'account', 'session'].map((what) => `${what} sufficient pam_rootok.so`)),
    );
    for (const [path, owner] of folders) {
      mkdirSync(this.outside(path), { recursive: true });
      chownSync(this.outside(path), id(owner), id(owner));
    }
    const mounts = places.map((place) => `${this.outside(place)} ${place} none rbind 0 0`);
    if (existsSync(alternatives)) {
      mkdirSync(this.outside(alternatives), { recursive: true });
      mounts.unshift(`${alternatives} ${this.outside(alternatives)} none bind 0 0`);
    }
    writeFileSync(`${folder}/mounts`, lines(...mounts));
  }

  /** Where a path of the view is outside of it. */
  outside(path: string): string {
    return `${this.folder}${path}`;
  }

  /** True when the view has a file, folder or socket of this path. */
  has(path: string): boolean {
    return existsSync(this.outside(path));
  }

  /** Writes a file. @param owner may read it; default root */
  write(
    path: string,
    text: string,
    { owner = 'root', mode = 0o644 }: { readonly owner?: string; readonly mode?: number } = {},
  ): void {
    const file = this.outside(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode });
    chownSync(file, this.#id(owner), this.#id(owner));
  }

  /** The argument list that runs a program in the view: unshare(1) becomes the program, so the pid stays the same. */
  inside(argv: readonly string[]): string[] {
    const script = 'mount -a -T "$1" && shift && exec "$@"';
    return ['unshare', '--mount', 'sh', '-c', script, 'sh', `${this.folder}/mounts`, ...argv];
  }

  #id(name: string): number {
    const id = this.#ids.get(name);
    if (id === undefined) throw new RangeError(`the view has no user ${name}`);
    return id;
  }
}

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`;
