/**
 * A master that sets itself up by the user-data of `bgp-lb-speaker cloud-init`: its files written as cloud-init writes them, its
 * script run as systemd runs it, in a mount namespace of its own. kubeadm and kubelet are the lab's.
 */
import { writeFileSync } from 'node:fs';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { MasterHost, PkiFolder } from '../../scripts/lab/master-host.ts';
import { runCommand } from '../../scripts/lab/run-command.ts';
import { MachineRoot, readUserData, type UserData } from './machine-root.ts';

const kubeadm = new URL('../../scripts/lab/kubeadm/main.ts', import.meta.url).pathname;
const speaker = new URL('../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname;

const kubeadmCalls = '/var/lib/kubeadm-calls';

/** One machine. */
export class CloudInitMachine {
  readonly #root: MachineRoot;
  readonly #script: string;

  private constructor(root: MachineRoot, script: string) {
    this.#root = root;
    this.#script = script;
  }

  /** Writes its files. @param pki the CA, made beforehand, with an administrator's certificate, which stands for the token */
  static async create(master: MasterHost, role: 'init' | 'join', pki: PkiFolder): Promise<CloudInitMachine> {
    master.writeSpeakerConfig(role);
    const root = new MachineRoot(master, [
      [master.path('etc'), '/etc/bgp-lb'],
      [master.path('kubernetes'), '/etc/kubernetes'],
      [master.path('var/lib/bgp-lb'), '/var/lib/bgp-lb'],
    ]);
    const data = await userData(master, role, pki);
    root.writeFiles(data);
    const config = master.writeKubeadmConfig(role === 'init' ? undefined : pki);
    root.write(
      '/usr/local/bin/kubeadm',
      `#!/bin/sh\necho "kubeadm $*" >>${kubeadmCalls}\ncommand=$1\n[ "$2" != phase ] || command="$1 $2 $3"\nexec ${process.execPath} ${kubeadm} $command --config ${config}\n`,
      0o755,
    );
    root.write(
      '/usr/local/bin/bgp-lb-speaker',
      `#!/bin/sh\nexec ${process.execPath} ${speaker} "$@"\n`,
      0o755,
    );
    const files = data.write_files;
    const unit = files.find(({ path }) => path.endsWith('/bgp-lb-bootstrap.service'))?.content ?? '';
    const script = /^ExecStart=\/bin\/sh (\S+)$/m.exec(unit)?.[1];
    if (script === undefined) throw new Error(`the unit has no script:\n${unit}`);
    return new CloudInitMachine(root, script);
  }

  /** Runs the script of its first boot, once. */
  boot(): HostProcess {
    return this.#root.spawn('bootstrap', `exec sh ${this.#script}`);
  }

  /** How kubeadm was called on it. */
  get kubeadmCalls(): string {
    return this.#root.outside(kubeadmCalls);
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
  return readUserData(text);
}
