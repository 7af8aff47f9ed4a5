/**
 * A master that sets itself up by the user-data of `bgp-lb-speaker cloud-init`: its files written as cloud-init writes them, its
 * script run as systemd runs it, in a mount namespace of its own. kubeadm and kubelet are the lab's.
 */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { MasterHost, PkiFolder } from '../../scripts/lab/master-host.ts';
import { runCommand } from '../../scripts/lab/run-command.ts';

const kubeadm = new URL('../../scripts/lab/kubeadm/main.ts', import.meta.url).pathname;
const speaker = new URL('../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname;

interface UserData {
  readonly write_files: readonly {
    readonly path: string;
    readonly content: string;
    readonly permissions: string;
  }[];
}

/** A folder of the lab, and where the machine has it. */
type Mount = readonly [from: string, to: string];

/** One machine. */
export class CloudInitMachine {
  readonly #master: MasterHost;
  readonly #script: string;
  /** The outer folders first. */
  readonly #mounts: readonly Mount[];

  private constructor(master: MasterHost, mounts: readonly Mount[], script: string) {
    this.#master = master;
    this.#mounts = mounts;
    this.#script = script;
  }

  /** Writes its files. @param pki the CA, made beforehand, with an administrator's certificate, which stands for the token */
  static async create(master: MasterHost, role: 'init' | 'join', pki: PkiFolder): Promise<CloudInitMachine> {
    master.writeSpeakerConfig(role);
    const root = master.path('machine');
    const mounts: readonly Mount[] = [
      [`${root}/etc`, '/etc'],
      [master.path('etc'), '/etc/bgp-lb'],
      [master.path('kubernetes'), '/etc/kubernetes'],
      [`${root}/usr/local`, '/usr/local'],
      [`${root}/var/lib`, '/var/lib'],
      [master.path('var/lib/bgp-lb'), '/var/lib/bgp-lb'],
      [`${root}/run`, '/run'],
    ];
    for (const [from] of mounts) mkdirSync(from, { recursive: true });
    cpSync('/etc', `${root}/etc`, { recursive: true, verbatimSymlinks: true });
    for (const folder of ['etc/bgp-lb', 'etc/kubernetes', 'var/lib/bgp-lb', 'usr/local/bin']) {
      mkdirSync(`${root}/${folder}`, { recursive: true });
    }
    const onMachine = (path: string): string => {
      // The lab's configuration names files of the master's by where they are outside.
      if (path.startsWith(`${master.folder}/`)) return path;
      const mount = mounts.findLast(([, to]) => path.startsWith(`${to}/`));
      if (mount === undefined) throw new Error(`${path} is in no folder of the machine's own`);
      return mount[0] + path.slice(mount[1].length);
    };
    const write = (path: string, content: string, mode: number): void => {
      mkdirSync(dirname(onMachine(path)), { recursive: true });
      writeFileSync(onMachine(path), content, { mode });
    };
    const { write_files: files } = await userData(master, role, pki);
    for (const { path, content, permissions } of files) write(path, content, Number.parseInt(permissions, 8));
    const config = master.writeKubeadmConfig(role === 'init' ? undefined : pki);
    write(
      '/usr/local/bin/kubeadm',
      `#!/bin/sh\necho "kubeadm $*" >>/var/lib/kubeadm-calls\nexec ${process.execPath} ${kubeadm} "$1" --config ${config}\n`,
      0o755,
    );
    write('/usr/local/bin/bgp-lb-speaker', `#!/bin/sh\nexec ${process.execPath} ${speaker} "$@"\n`, 0o755);
    const unit = files.find(({ path }) => path.endsWith('/bgp-lb-bootstrap.service'))?.content ?? '';
    const script = /^ExecStart=\/bin\/sh (\S+)$/m.exec(unit)?.[1];
    if (script === undefined) throw new Error(`the unit has no script:\n${unit}`);
    return new CloudInitMachine(master, mounts, script);
  }

  /** Runs the script of its first boot, once. */
  boot(): HostProcess {
    const mounts = this.#mounts.map(([from, to]) => `mount --bind ${from} ${to}`).join(' && ');
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
    const argv = ['unshare', '--mount', 'sh', '-c', `${mounts} && exec sh ${this.#script}`];
    return this.#master.spawn('bootstrap', argv, { env });
  }

  /** How kubeadm was called on it. */
  get kubeadmCalls(): string {
    return this.#master.path('machine/var/lib/kubeadm-calls');
  }
}

/** What the command prints, read by the library that cloud-init reads it with. */
async function userData(master: MasterHost, role: 'init' | 'join', pki: PkiFolder): Promise<UserData> {
  const secret = (name: string, content: string): string => {
    writeFileSync(master.path(`etc/${name}`), `${content}\n`, { mode: 0o600 });
    return master.path(`etc/${name}`);
  };
  const text = await runCommand([
    ...[process.execPath, speaker, 'cloud-init', role, '--config', master.speaker.configFile],
    ...['--bgp-password-file', master.path('etc/bgp-password')],
    ...['--token-file', secret('token', 'abcdef.0123456789abcdef')],
    ...['--certificate-key-file', secret('certificate-key', '0123456789abcdef'.repeat(4))],
    ...['--ca-cert', `${pki.pkiFolder}/ca.crt`],
    ...(role === 'init' ? ['--ca-key', `${pki.pkiFolder}/ca.key`] : []),
  ]);
  const read = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)';
  return JSON.parse(await runCommand(['python3', '-c', read], { input: text })) as UserData;
}
