/** Boots the machines of a lab in one order, with its troubles, and says what came of it. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority, issueAdminCertificate } from '../../scripts/lab/cluster-pki.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost, PkiFolder } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import type { BootOrder, MachineName, MasterName, Trouble } from './boot-order.ts';
import { BootingLb, BootingMaster } from './booting-machine.ts';
import { waitForAllActive } from './cluster.ts';

/** Milliseconds that everything may take from the first machine's start. The machine that runs this may be busy. */
const patience = 120_000;
/** Milliseconds without power. */
const powerCut = 300;

/** What one order came to. */
export interface BootResult {
  readonly order: BootOrder;
  /** Milliseconds from the first machine's start until all masters were active and a client was served. */
  readonly tookMs: number;
  /** Runs of kubeadm, of m1, m2 and m3. */
  readonly attempts: readonly number[];
  /** Empty when it converged as it should. */
  readonly failure: string;
}

/** A lab whose machines are booted again for each order. */
export class BootLab {
  readonly #lab: Lab;
  readonly #pki: PkiFolder;

  private constructor(lab: Lab, pki: PkiFolder) {
    this.#lab = lab;
    this.#pki = pki;
  }

  static async create(): Promise<BootLab> {
    const lab = await Lab.create({
      masters: 3,
      controlPlane: 'stand-in',
      isPoweredOn: false,
      restartDelay: 50,
      router: { pool: { initialHold: '200ms' } },
      kubeadm: { phaseTime: 20, settleTime: 400, retryInterval: 100, requestTimeout: 2_000 },
    });
    const pki = { pkiFolder: `${lab.folder}/pki` };
    mkdirSync(pki.pkiFolder);
    await createAuthority(pki.pkiFolder);
    await issueAdminCertificate(pki.pkiFolder);
    return new BootLab(lab, pki);
  }

  destroy(): Promise<void> {
    return this.#lab.destroy();
  }

  /** Runs one order on new machines. Never rejects: what went wrong is in the result. */
  async run(order: BootOrder): Promise<BootResult> {
    const lab = this.#lab;
    for (const host of [lab.lb, ...lab.masters]) host.wipe();
    rmSync(`${lab.folder}/etcd`, { recursive: true, force: true });
    const lb = new BootingLb(lab.lb);
    const masters = new Map(
      lab.masters.map((master, index) => [
        master.name,
        new BootingMaster(master, {
          role: index === 0 ? 'init' : 'join',
          pki: this.#pki,
          init: order.init,
          join: order.join,
        }),
      ]),
    );
    const machines = { lb, masters };
    const started = performance.now();
    const outcome = await this.#converge(order, machines).catch((error: unknown) => describeError(error));
    const tookMs = Math.round(performance.now() - started);
    const failure = outcome === '' ? '' : `${outcome}\n${await this.#scene()}`;
    const rests = await Promise.allSettled([lb, ...masters.values()].map((machine) => machine.rest()));
    const failures = [
      failure,
      ...rests.map((rest) => (rest.status === 'rejected' ? describeError(rest.reason) : '')),
    ];
    const attempts = [...masters.values()].map((master) => master.attempts);
    return { order, tookMs, attempts, failure: failures.filter((text) => text !== '').join('\n') };
  }

  async #converge(order: BootOrder, machines: Machines): Promise<string> {
    const deadline = performance.now() + patience;
    const troubles = order.troubles.map((trouble) => cause(trouble, machines, deadline));
    for (const [index, name] of order.machines.entries()) {
      await sleep(order.delays[index]);
      machineOf(machines, name).boot();
    }
    await Promise.all(troubles);
    await Promise.race([
      // A power cut begins a new life, but none comes any more.
      Promise.all([...machines.masters.values()].map((master) => master.booted)),
      sleep(deadline - performance.now(), undefined, { ref: false }),
    ]);
    const unsuccessful = this.#lab.masters.filter((master) => master.kubeadmSuccesses().length === 0);
    if (unsuccessful.length > 0) {
      return unsuccessful
        .map((master) => `${master.name}: kubeadm did not succeed\n${tail(master)}`)
        .join('\n');
    }
    await waitForAllActive(this.#lab, Math.max(1_000, deadline - performance.now()));
    const answer = await this.#lab.client.request();
    const unserved = answer.ok ? [] : [`the VIP does not serve: ${JSON.stringify(answer)}`];
    // A daemon logs a moment after what its status says.
    await waitUntil(() => this.#lab.masters.every((master) => this.#entries(master).length > 0), {
      what: "the router's log tells how each master came into the pool",
      timeoutMs: 5_000,
      detail: () =>
        readFileSync(this.#lab.lb.path('log/router.log'), 'utf8').split('\n').slice(-60).join('\n'),
    });
    return [...unserved, ...this.#earlyBirds()].join('\n');
  }

  /** How it stands on each machine, for the one who has to find out why an order did not converge. */
  async #scene(): Promise<string> {
    const { lb, masters } = this.#lab;
    const router = await lb.router.query(['status'], 10_000).catch(describeError);
    const status = typeof router === 'string' ? router : `${router.stdout}${router.stderr}`;
    return [
      `lb1: ${status}`,
      lastLines(lb.path('log/router.log'), 40),
      ...masters.flatMap((master) => [
        `${master.name}: ${master.isOn ? 'on' : 'off'}, kubeadm:\n${tail(master)}`,
        `speaker:\n${lastLines(master.path('log/speaker.log'), 12)}`,
      ]),
    ].join('\n');
  }

  /** The router's logged events of a master that came into the pool, or was moved within it. */
  #entries(master: MasterHost): LoggedEvent[] {
    return eventsOf(this.#lab.lb.path('log/router.log')).filter(
      ({ type, to, member }) => type === 'member-transition' && to !== 'out' && member === master.address,
    );
  }

  /** Masters that had the VIP or were advertised before their kubeadm had succeeded, by the logged events of both daemons. */
  #earlyBirds(): string[] {
    return this.#lab.masters.flatMap((master, index) => {
      const proven = master.kubeadmSuccesses()[0] ?? Number.POSITIVE_INFINITY;
      const isEarly = ({ time }: LoggedEvent): boolean => time < proven;
      const mayBind = index === 0 ? ['absent', 'local-only'] : ['absent'];
      const states = eventsOf(master.path('log/speaker.log')).filter(
        ({ type, to }) => type === 'vip-state' && !mayBind.includes(String(to)),
      );
      return [...this.#entries(master), ...states]
        .filter(isEarly)
        .map((event) => `${master.name} before its kubeadm succeeded at ${proven}: ${JSON.stringify(event)}`);
    });
  }
}

interface Machines {
  readonly lb: BootingLb;
  readonly masters: ReadonlyMap<string, BootingMaster>;
}

function masterOf({ masters }: Machines, name: MasterName): BootingMaster {
  const master = masters.get(name);
  if (master === undefined) throw new RangeError(`no ${name}`);
  return master;
}

function machineOf(machines: Machines, name: MachineName): BootingLb | BootingMaster {
  return name === 'lb1' ? machines.lb : masterOf(machines, name);
}

async function cause(trouble: Trouble, machines: Machines, deadline: number): Promise<void> {
  const { kind, target, when, delay } = trouble;
  await waitUntil(() => masterOf(machines, when.machine).hasReached(when.phase), {
    what: `${when.machine} in the phase ${when.phase}`,
    timeoutMs: deadline - performance.now(),
    everyMs: 10,
  });
  await sleep(delay);
  if (kind === 'power cut') return machineOf(machines, target).cutPower(powerCut);
  if (target === 'lb1' || kind === 'daemon killed') await machineOf(machines, target).killDaemon();
  else if (kind === 'kubeadm killed') await masterOf(machines, target).killKubeadm();
  else await masterOf(machines, target).killApiServer();
}

interface LoggedEvent {
  readonly time: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The daemon's events, of all its lives: each is a line of its log too. */
function eventsOf(log: string): LoggedEvent[] {
  if (!existsSync(log)) return [];
  return (
    readFileSync(log, 'utf8')
      .split('\n')
      // A line that a kill cut short is no event.
      .filter((line) => line.startsWith('{') && line.includes('"type":') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LoggedEvent)
  );
}

function tail(master: MasterHost): string {
  const log = master.path('log/kubeadm.log');
  return existsSync(log) ? lastLines(log, 6) : 'kubeadm never ran';
}

function lastLines(file: string, count: number): string {
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n') : '';
}

function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
