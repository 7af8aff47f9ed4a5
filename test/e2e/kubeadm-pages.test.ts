/** What docs/kubeadm.md and docs/bootstrap.md have an operator do, done on the machines of the lab. */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createAuthority } from '../../scripts/lab/cluster-pki.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost, PkiFolder } from '../../scripts/lab/master-host.ts';
import { runCommand } from '../../scripts/lab/run-command.ts';
import { addresses, waitForAllActive } from '../kit/cluster.ts';
import { MachineRoot, readUserData } from '../kit/machine-root.ts';
import { blockWith, codeIn, rowOf } from '../kit/page-blocks.ts';

/** Milliseconds: a busy machine takes its time. */
const patience = 100_000;
const kubeadm = new URL('../../scripts/lab/kubeadm/main.ts', import.meta.url).pathname;
const speaker = new URL('../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname;
const token = 'abcdef.0123456789abcdef';
const certificateKey = '0123456789abcdef'.repeat(4);

/** A master on which an operator types what the pages say. */
class PagesMachine {
  readonly master: MasterHost;
  readonly root: MachineRoot;

  constructor(master: MasterHost) {
    this.master = master;
    this.root = new MachineRoot(master, [
      [master.path('etc'), '/etc/bgp-lb'],
      [master.path('kubernetes'), '/etc/kubernetes'],
      [master.path('var/lib/bgp-lb'), '/var/lib/bgp-lb'],
    ]);
    this.#program('bgp-lb-speaker', `exec ${process.execPath} ${speaker} "$@"`);
  }

  /** Says what kubeadm is to do: the lab's has a configuration of its own. */
  useKubeadm(first?: PkiFolder): void {
    const config = this.master.writeKubeadmConfig(first);
    this.#program(
      'kubeadm',
      `case "$*" in
  'token generate') echo ${token} ;;
  'certs certificate-key') echo ${certificateKey} ;;
  'init --config '* | 'join --config '*) exec ${process.execPath} ${kubeadm} "$1" --config ${config} ;;
  *) echo "no such command: $*" >&2; exit 1 ;;
esac`,
    );
  }

  /** Runs it in a folder of the machine's own. */
  async run(script: string): Promise<string> {
    mkdirSync(this.master.path('machine/var/lib/work'), { recursive: true });
    const run = this.root.spawn('page', `cd /var/lib/work && ${script}`);
    expect(await run.exited, `${script}\n${run.tail(40)}`).toMatchObject({ code: 0 });
    return run.tail(40);
  }

  #program(name: string, body: string): void {
    this.root.write(`/usr/local/bin/${name}`, `#!/bin/sh\n${body}\n`, 0o755);
  }
}

/** The command that proves the bootstrap, and the same of a joiner. */
const init = blockWith('kubeadm.md', 'kubeadm init --config').trim();
const join = init.replace('kubeadm init', 'kubeadm join').replace(' --upload-certs', '');

describe('the pages on kubeadm', { timeout: 300_000 }, () => {
  let lab: Lab;
  let first: PagesMachine;
  let second: PagesMachine;

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 2,
      controlPlane: 'stand-in',
      router: { pool: { initialHold: '200ms' } },
      kubeadm: { phaseTime: 20, settleTime: 400 },
    });
    [first, second] = [new PagesMachine(lab.master(1)), new PagesMachine(lab.master(2))];
    await lab.lb.router.start(patience);
  }, 300_000);
  afterAll(async () => {
    await lab.destroy();
  });

  it('bring the first master up by prepare, the manifest and the line that ends with the marker', async () => {
    first.master.writeSpeakerConfig('init');
    first.useKubeadm();
    await first.run(`bgp-lb-speaker prepare && bgp-lb-speaker manifest --place && ${init}`);
    await lab.lb.waitForPool([first.master.address], patience);
  });

  it('have a joiner do before kubeadm what Cluster API is given as preKubeadmCommands', async () => {
    const { kubeadmConfigSpec } = parse(blockWith('kubeadm.md', 'preKubeadmCommands')) as {
      kubeadmConfigSpec: { preKubeadmCommands: readonly string[] };
    };
    second.master.writeSpeakerConfig('join');
    second.useKubeadm(first.master);
    for (const command of kubeadmConfigSpec.preKubeadmCommands)
      await second.run(command.replace('IMAGE', 'registry.example/speaker:1'));
    expect(
      readFileSync(second.root.outside('/etc/kubernetes/manifests/bgp-lb-speaker.yaml'), 'utf8'),
    ).toContain('image: registry.example/speaker:1');
    await second.run(join);
    await waitForAllActive(lab, patience);
  });

  it.each([
    ['`kubeadm reset`, then a new join', () => second, () => first],
    ['the first master is reset and comes back as a joiner', () => first, () => second],
  ])('bring a master back by what they have done between reset and join: %s', async (story, of, through) => {
    const machine = of();
    const { master } = machine;
    const manifest = machine.root.outside('/etc/kubernetes/manifests/bgp-lb-speaker.yaml');
    await master.kubeadmReset();
    await lab.lb.waitForPool([through().master.address], patience);
    expect(existsSync(manifest)).toBe(false);
    const [prepare = ''] = codeIn(rowOf('bootstrap.md', story)[2] ?? '');
    expect(prepare).toMatch(/prepare/);
    machine.useKubeadm(through().master);
    const said = await machine.run(prepare.startsWith('prepare') ? `bgp-lb-speaker ${prepare}` : prepare);
    // Without a word of where it came from, kubeadm reset having emptied the folder.
    expect(said).toContain('put /etc/kubernetes/manifests/bgp-lb-speaker.yaml back');
    expect(existsSync(manifest)).toBe(true);
    await machine.run(join);
    await lab.lb.waitForPool(addresses(lab.masters), patience);
  });

  it('print user-data for every machine, and pack what that of the load balancer unpacks', async () => {
    const work = lab.master(1).path('machine/var/lib/work');
    const write = (name: string, text: string): void =>
      writeFileSync(`${work}/${name}`, text, { mode: 0o600 });
    cpSync(lab.master(1).speaker.configFile, `${work}/speaker.yaml`);
    write('password', 'secret\n');
    write('bgp-lb-speaker', 'a program\n');
    write('router.yaml', 'apiVersion: bgp-lb.dev/v1alpha1\nkind: Router\n');
    await createAuthority(work);
    const block = blockWith('kubeadm.md', 'cloud-init init')
      .replace('URL', 'https://mirror.example/router.tar.gz')
      .replace('HASH', '0'.repeat(64));
    await first.run(`set -e\n${block}`);
    for (const [name, file] of [
      ['init', '/etc/bgp-lb/kubeadm.yaml'],
      ['join', '/etc/bgp-lb/kubeadm.yaml'],
      ['worker', '/etc/bgp-lb/kubeadm.yaml'],
      ['lb', '/etc/bgp-lb/router.yaml'],
    ]) {
      const data = await readUserData(readFileSync(`${work}/${name}.yaml`, 'utf8'));
      expect(data.write_files.map(({ path }) => path)).toContain(file);
    }

    mkdirSync(`${work}/node_modules/.bin`, { recursive: true });
    mkdirSync(`${work}/out/opt/bgp-lb`, { recursive: true });
    symlinkSync('/bin/true', `${work}/node_modules/.bin/node`);
    write('out/opt/bgp-lb/bgp-lb-router.mjs', '// the bundle\n');
    await first.run(`set -e\n${blockWith('kubeadm.md', 'tar -C out/opt/bgp-lb')}`);
    const names = await runCommand(['tar', '-tzf', `${work}/bgp-lb-router.tar.gz`]);
    expect(names.split('\n')).toEqual(expect.arrayContaining(['./node', './bgp-lb-router.mjs']));
  });
});
