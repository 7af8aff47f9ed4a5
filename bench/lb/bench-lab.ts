/**
 * The lab of the benchmark: masters that are one process each, the load balancer with one daemon at a time, a watcher
 * of the load balancer's kernel, and the client. The daemons alternate on the same machines.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { NamespaceProcess } from '../../test/kit/namespace-process.ts';
import { Bird } from './daemons/bird.ts';
import { Frr } from './daemons/frr.ts';
import type { DaemonName, Detection, LoadBalancer } from './daemons/load-balancer.ts';
import { OurRouter } from './daemons/our-router.ts';

type MasterProgram = typeof import('./programs/master.ts');
type WatcherProgram = typeof import('./programs/watcher.ts');
type ClientProgram = typeof import('./programs/client.ts');

/** The VIP's port, at the masters too. */
export const vipPort = 6443;
const patience = 20_000;

/** A master: its host and the program on it. */
export interface BenchMaster {
  readonly host: MasterHost;
  readonly program: NamespaceProcess<MasterProgram>;
}

/** A daemon at work, with the first masters of the lab in its pool. */
export interface Running {
  readonly balancer: LoadBalancer;
  readonly watcher: NamespaceProcess<WatcherProgram>;
  readonly masters: readonly BenchMaster[];
  /** Waits until exactly these masters share the VIP's traffic evenly. */
  waitForMembers(masters: readonly BenchMaster[]): Promise<void>;
}

const module = (name: string): URL => new URL(`./programs/${name}.ts`, import.meta.url);
const launcher = (namespace: string): string[] => ['ip', 'netns', 'exec', namespace];

/** The lab and the programs that stay for the whole run. */
export class BenchLab {
  readonly lab: Lab;
  readonly client: NamespaceProcess<ClientProgram>;

  readonly #bundles: string;
  #masters: readonly BenchMaster[];

  private constructor(
    lab: Lab,
    bundles: string,
    masters: readonly BenchMaster[],
    client: NamespaceProcess<ClientProgram>,
  ) {
    this.lab = lab;
    this.#bundles = bundles;
    this.#masters = masters;
    this.client = client;
  }

  /** Makes the lab. The caller calls `destroy`. @param id of the lab: two benchmarks may run at a time */
  static async create(masters: number, id = 'bench'): Promise<BenchLab> {
    const bundles = copyBundles();
    const lab = await Lab.create({
      id,
      masters,
      password: null,
      controlPlane: 'stand-in',
      vipPort,
      programs: { router: `${bundles}/bgp-lb-router.mjs`, speaker: `${bundles}/bgp-lb-speaker.mjs` },
    });
    try {
      const programs: BenchMaster[] = [];
      for (const host of lab.masters) programs.push({ host, program: await startMaster(lab, host) });
      const client = await NamespaceProcess.start<ClientProgram>(
        launcher(lab.client.namespace),
        module('client'),
      );
      return new BenchLab(lab, bundles, programs, client);
    } catch (error) {
      await lab.destroy();
      throw error;
    }
  }

  async destroy(): Promise<void> {
    await this.lab.destroy();
    rmSync(this.#bundles, { recursive: true, force: true });
  }

  get masters(): readonly BenchMaster[] {
    return this.#masters;
  }

  /** Turns the last master into one with an API server and our speaker, not started yet; it is in no pool after that. */
  async placeSpeaker(): Promise<MasterHost> {
    const last = this.#masters.at(-1);
    if (last === undefined) throw new RangeError('no master is left');
    this.#masters = this.#masters.slice(0, -1);
    const { host, program } = last;
    await program.stop();
    await host.exec(['ip', 'address', 'delete', `${vipAddress}/32`, 'dev', 'lo']);
    host.writeSpeakerConfig('init', {
      routers: [{ address: this.lab.lb.address, asn: localAsn, ttlSecurityHops: 0 }],
      log: { level: 'info' },
    });
    await host.startApiServer();
    return host;
  }

  /** The daemon of a name, on the load balancer. */
  balancer(name: DaemonName, settings: JsonObject = {}, detection: Detection = {}): LoadBalancer {
    const { lb } = this.lab;
    switch (name) {
      case 'bgp-lb':
        return new OurRouter(lb, settings, detection);
      case 'FRR':
        return new Frr(lb, detection);
      case 'BIRD':
        return new Bird(lb, detection);
    }
  }

  /** A load balancer as after a boot: nothing of the daemon before is left. Forwarding is on, whichever clients come. */
  async freshLoadBalancer(): Promise<void> {
    const { lb } = this.lab;
    if (lb.isOn) await lb.powerOff();
    await lb.powerOn();
    await lb.writeSysctls({ 'net.ipv4.ip_forward': '1', 'net.ipv4.fib_multipath_hash_policy': '1' });
  }

  /** Starts one of the programs beside this file on the load balancer. The caller stops it. */
  startOnLoadBalancer<Program>(name: string): Promise<NamespaceProcess<Program>> {
    return NamespaceProcess.start<Program>(launcher(this.lab.lb.namespace), module(name));
  }

  /**
   * Runs `measure` with a daemon and the first `count` masters in its pool, on a load balancer that has just been
   * switched on, and takes all that down again.
   */
  async running<T>(
    balancer: LoadBalancer,
    count: number,
    measure: (running: Running) => Promise<T>,
  ): Promise<T> {
    await this.freshLoadBalancer();
    const masters = this.masters.slice(0, count);
    const watcher = await this.startOnLoadBalancer<WatcherProgram>('watcher');
    try {
      await watcher.run((w, vip) => w.watch(vip), `${vipAddress}/32`);
      await balancer.start();
      await Promise.all(masters.map(({ program }) => program.run((m) => m.join())));
      const waitForMembers = async (wanted: readonly BenchMaster[]): Promise<void> => {
        const gateways = wanted.map(({ host }) => host.address);
        const query = { gateways, timeout: patience };
        if (await watcher.run((w, q) => w.settled(q), query)) return;
        const now = JSON.stringify(await watcher.run((w) => w.members()));
        throw new Error(`${balancer.name}: members are ${now}, wanted were ${gateways.join(', ')}`);
      };
      await waitForMembers(masters);
      return await measure({ balancer, watcher, masters, waitForMembers });
    } finally {
      await Promise.all(this.masters.map(({ program }) => program.run((m) => m.leave())));
      await balancer.stop();
      await watcher.stop();
    }
  }
}

/** Our daemons as they are now: a build meanwhile does not change what is measured. Beside the others, to find koffi. */
function copyBundles(): string {
  const dist = new URL('../../dist/', import.meta.url).pathname;
  const folder = mkdtempSync(`${dist}bench-`);
  for (const name of ['bgp-lb-router.mjs', 'bgp-lb-speaker.mjs'])
    copyFileSync(dist + name, `${folder}/${name}`);
  return folder;
}

async function startMaster(lab: Lab, host: MasterHost): Promise<NamespaceProcess<MasterProgram>> {
  const first = lab.master(1);
  await host.installCertificates(host === first ? undefined : first);
  await host.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);
  const program = await NamespaceProcess.start<MasterProgram>(launcher(host.namespace), module('master'));
  await program.run((m, settings) => m.open(settings), {
    name: host.name,
    address: host.address,
    lbAddress: lab.lb.address,
    asn: localAsn,
    vip: `${vipAddress}/32`,
    port: vipPort,
    certificate: readFileSync(`${host.pkiFolder}/apiserver.crt`, 'utf8'),
    key: readFileSync(`${host.pkiFolder}/apiserver.key`, 'utf8'),
  });
  return program;
}
