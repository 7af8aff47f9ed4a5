/**
 * A load balancer that sets itself up by the user-data of `bgp-lb-speaker cloud-init lb`: its files written as cloud-init writes them, its
 * commands run as cloud-init runs them, and its unit as systemd does, as far as that goes without systemd.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { runCommand } from '../../scripts/lab/run-command.ts';
import { MachineRoot, readUserData, type UserData } from './machine-root.ts';

const checkout = new URL('../..', import.meta.url).pathname;
const speaker = `${checkout}dist/bgp-lb-speaker.mjs`;
const systemctlCalls = '/var/lib/systemctl-calls';

/** One machine. */
export class CloudInitLoadBalancer {
  readonly #root: MachineRoot;
  readonly #data: UserData;

  private constructor(root: MachineRoot, data: UserData) {
    this.#root = root;
    this.#data = data;
  }

  /** Makes the archive of the program, and writes the machine's files. The lab's router.yaml is what it is given. */
  static async create(lb: LbHost): Promise<CloudInitLoadBalancer> {
    const archive = await archiveProgram(lb);
    const hash = createHash('sha256').update(readFileSync(archive)).digest('hex');
    const password = lb.path('etc/bgp-password');
    const given = lb.path('password-for-cloud-init');
    cpSync(password, given);
    const text = await runCommand([
      ...[process.execPath, speaker, 'cloud-init', 'lb', '--router-config', lb.router.configFile],
      ...['--bgp-password-file', given, '--program', archive, '--program-sha256', hash],
    ]);
    // From here on the machine has what user-data brings, and nothing else.
    for (const file of [password, given, lb.router.configFile]) rmSync(file);
    const data = await readUserData(text);
    const root = new MachineRoot(lb);
    root.writeFiles(data);
    root.write('/usr/local/bin/systemctl', `#!/bin/sh\necho "$*" >>${systemctlCalls}\n`, 0o755);
    return new CloudInitLoadBalancer(root, data);
  }

  /** Runs the commands one after the other, whatever becomes of each, and says at the end whether all were good. */
  boot(): HostProcess {
    const commands = this.#data.runcmd.map((words) => `${words.map(quoted).join(' ')} || bad=1`);
    return this.#root.spawn('cloud-init', ['bad=0', ...commands, 'exit $bad'].join('\n'));
  }

  /** How systemctl was called. */
  systemctlCalls(): readonly string[] {
    const file = this.#root.outside(systemctlCalls);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  /** Runs the unit: what is to come before, and then the program. */
  startUnit(): HostProcess {
    const path = '/etc/systemd/system/bgp-lb-router.service';
    const unit = readFileSync(this.#root.outside(path), 'utf8');
    const valuesOf = (key: string): readonly string[] =>
      [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value ?? '');
    const folders = [
      ...valuesOf('RuntimeDirectory').map((name) => `/run/${name}`),
      ...valuesOf('StateDirectory').map((name) => `/var/lib/${name}`),
    ];
    const [start = 'false'] = valuesOf('ExecStart');
    const steps = [`mkdir -p ${folders.join(' ')}`, ...valuesOf('ExecStartPre'), `exec ${start}`];
    return this.#root.spawn('router', steps.join(' && '));
  }
}

/** The archive as docs/kubeadm.md has it, but for `node`, which runs the Node.js of this test: 40 MB less to pack. */
async function archiveProgram(lb: LbHost): Promise<string> {
  const folder = lb.path('program');
  mkdirSync(`${folder}/node_modules/@koromix`, { recursive: true });
  for (const name of ['bgp-lb-router.mjs', 'bgp-lb-router-bfd.mjs'])
    cpSync(`${checkout}dist/${name}`, `${folder}/${name}`);
  for (const name of ['koffi', '@koromix'])
    cpSync(`${checkout}node_modules/${name}`, `${folder}/node_modules/${name}`, { recursive: true });
  writeFileSync(`${folder}/node`, `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  const archive = lb.path('program.tar.gz');
  await runCommand(['tar', '-C', folder, '-czf', archive, '.']);
  return archive;
}

/** A word of a command, as cloud-init writes it into its script. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
