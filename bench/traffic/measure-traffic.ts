/** What clients get through the load balancer, by each data plane: each in turn, again and again, on the same machines. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { NamespaceProcess } from '../../test/kit/namespace-process.ts';
import { Attempts, type Failure } from '../attempts.ts';
import { MasterBfd } from '../death/master-bfd.ts';
import { BenchLab, vipPort } from '../lb/bench-lab.ts';
import { processorTime } from '../lb/process-usage.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { type Sampled, sampled, summarize } from '../statistics.ts';
import {
  bfdInterval,
  type Contender,
  type ContenderName,
  contender,
  haproxyVersion,
  installedContenders,
} from './contenders.ts';

type Load = typeof import('./programs/load.ts');
type NewClients = typeof import('../death/programs/new-clients.ts');
type Cutter = typeof import('../death/programs/cutter.ts');

/** Long connections while answers are timed. */
const connectionCounts = [32, 1000] as const;

/** One contender; one sample a round. Times in ms. */
export interface TrafficResult {
  readonly contender: ContenderName;
  readonly newConnectionsPerSecond: Sampled | undefined;
  readonly failedConnections: number;
  /** Processor time for 1000 of them, in ms: of all processes, and of those of the load balancer. */
  readonly processorTime: Sampled | undefined;
  readonly ownProcessorTime: Sampled | undefined;
  readonly latency: readonly {
    readonly connections: number;
    readonly p50: Sampled | undefined;
    readonly p99: Sampled | undefined;
    readonly failed: number;
  }[];
  /** From the silent death of a master until all new clients were served; not for `direct`. */
  readonly served: Sampled | undefined;
  /** Connections to the other masters that it broke, of `survivors`. */
  readonly brokenAtSurvivors: Sampled | undefined;
  readonly survivors: Sampled | undefined;
}

/** The report. */
export interface TrafficReport {
  readonly bench: 'traffic';
  readonly machine: Machine;
  readonly haproxy: string | null;
  readonly rounds: number;
  readonly results: readonly TrafficResult[];
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

/** How much is measured. */
export interface TrafficOptions {
  readonly rounds: number;
  readonly niceness: number;
  readonly progress: (line: string) => void;
}

const masters = 3;
const clients = 32;
const connecting = 4_000;
const asking = 4_000;
const longConnections = 300;
const answerTimeout = 5_000;
const patience = 30_000;

/** What one round of one contender found. */
interface Round {
  readonly perSecond: number;
  readonly failedConnections: number;
  readonly processorTime: number;
  readonly ownProcessorTime: number;
  readonly latency: readonly { readonly took: readonly number[]; readonly failed: number }[];
  readonly death:
    | { readonly served: number | undefined; readonly broken: number; readonly survivors: number }
    | undefined;
}

/** What stays for the whole run. */
interface Bench {
  readonly lab: BenchLab;
  readonly load: NamespaceProcess<Load>;
  readonly newClients: NamespaceProcess<NewClients>;
  readonly cutter: NamespaceProcess<Cutter>;
}

/** Runs everything. */
export async function measureTraffic({ rounds, niceness, progress }: TrafficOptions): Promise<TrafficReport> {
  const since = performance.now();
  const machine = await describeMachine(niceness);
  const attempts = new Attempts(progress);
  const names = installedContenders();
  const found = new Map(names.map((name): [ContenderName, Round[]] => [name, []]));
  const lab = await BenchLab.create(masters, 'traffic');
  const running: { stop(): Promise<void> }[] = [];
  const start = async <Program>(namespace: string, url: string): Promise<NamespaceProcess<Program>> => {
    const launcher = ['ip', 'netns', 'exec', namespace];
    const program = await NamespaceProcess.start<Program>(launcher, new URL(url, import.meta.url));
    running.push(program);
    return program;
  };
  try {
    const bench: Bench = {
      lab,
      load: await start<Load>(lab.lab.client.namespace, './programs/load.ts'),
      newClients: await start<NewClients>(lab.lab.client.namespace, '../death/programs/new-clients.ts'),
      cutter: await start<Cutter>(lab.lab.switch.namespace, '../death/programs/cutter.ts'),
    };
    await bench.cutter.run((c) => c.listen());
    for (let n = 0; n < rounds; n += 1) {
      const first = n % names.length;
      for (const name of [...names.slice(first), ...names.slice(0, first)]) {
        progress(`round ${n + 1} of ${rounds}: ${name}`);
        const round = await attempts.attempt(name, `round ${n + 1}`, () => measureRound(bench, name, n));
        if (round !== undefined) found.get(name)?.push(round);
      }
    }
  } finally {
    await Promise.all(running.map((each) => each.stop()));
    await lab.destroy();
  }
  return {
    bench: 'traffic',
    machine,
    haproxy: await haproxyVersion(),
    rounds,
    results: [...found].map(([name, own]) => resultOf(name, own)),
    failures: attempts.failures,
    tookMs: Math.round(performance.now() - since),
  };
}

function resultOf(name: ContenderName, rounds: readonly Round[]): TrafficResult {
  const of = (value: (round: Round) => number | undefined, places = 2): Sampled | undefined =>
    sampled(
      rounds.flatMap((round) => value(round) ?? []),
      places,
    );
  const sum = (value: (round: Round) => number): number =>
    rounds.reduce((total, round) => total + value(round), 0);
  return {
    contender: name,
    newConnectionsPerSecond: of(({ perSecond }) => perSecond, 0),
    failedConnections: sum(({ failedConnections }) => failedConnections),
    processorTime: of((round) => round.processorTime, 0),
    ownProcessorTime: of((round) => round.ownProcessorTime, 0),
    latency: connectionCounts.map((connections, at) => ({
      connections,
      p50: of(({ latency }) => summarize(latency[at]?.took ?? [])?.p50),
      p99: of(({ latency }) => summarize(latency[at]?.took ?? [])?.p99),
      failed: sum(({ latency }) => latency[at]?.failed ?? 0),
    })),
    served: of(({ death }) => death?.served, 0),
    brokenAtSurvivors: of(({ death }) => death?.broken, 0),
    survivors: of(({ death }) => death?.survivors, 0),
  };
}

async function measureRound(bench: Bench, name: ContenderName, round: number): Promise<Round> {
  const { lab } = bench;
  await lab.freshLoadBalancer();
  const one = contender(lab, name);
  const bfd = new MasterBfd(lab.masters.map(({ host }) => host));
  try {
    await one.start();
    if (one.hasSessions) {
      await bfd.start(lab.lab.lb.address, bfdInterval);
      await Promise.all(lab.masters.map(({ program }) => program.run((m) => m.join())));
      await bfd.allUp();
    }
    const targets = { hosts: one.hosts, port: vipPort };
    await servedByAll(bench, one);
    const before = await usage(bench);
    const made = await bench.load.run((l, o) => l.connections(o), { targets, clients, duration: connecting });
    const after = await usage(bench);
    const latency: { took: number[]; failed: number }[] = [];
    for (const count of connectionCounts)
      latency.push(await bench.load.run((l, o) => l.latency(o), { targets, count, duration: asking }));
    const thousands = made.served / 1_000;
    return {
      perSecond: made.served / (made.tookMs / 1_000),
      failedConnections: made.failed,
      processorTime: ((after.all - before.all) * 1_000) / thousands,
      ownProcessorTime: ((after.own - before.own) * 1_000) / thousands,
      latency,
      death: name === 'direct' ? undefined : await measureDeath(bench, round),
    };
  } finally {
    await Promise.all(lab.masters.map(({ program }) => program.run((m) => m.leave())));
    await one.stop();
    await bfd.stop();
  }
}

/** Waits until new connections reach every master. */
async function servedByAll({ lab }: Bench, { hosts, name }: Contender): Promise<void> {
  let last: unknown;
  for (const end = performance.now() + patience; performance.now() < end; await sleep(200)) {
    try {
      const seen = new Set<string>();
      for (const host of hosts) {
        const open = { host, port: vipPort, count: 60 };
        const byMaster = await lab.client.run((c, target) => c.open(target), open);
        for (const master of Object.keys(byMaster)) seen.add(master);
      }
      last = [...seen];
      if (seen.size === masters) return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`${name} does not serve by all masters: ${String(last)}`);
}

/** Seconds of processor time of clients, masters and load balancer, and of the last alone. */
async function usage({ lab, load }: Bench): Promise<{ readonly all: number; readonly own: number }> {
  const inside = await lab.lab.lb.exec(['ip', 'netns', 'pids', lab.lab.lb.namespace]);
  const own = inside
    .split('\n')
    .filter((line) => line !== '' && isRunning(line))
    .map(Number);
  const sum = (pids: readonly number[]): number => pids.reduce((total, pid) => total + processorTime(pid), 0);
  const others = [load.pid, ...lab.masters.map(({ program }) => program.pid)];
  return { own: sum(own), all: sum(own) + sum(others) };
}

/** `ip netns pids` shows itself, which has ended. */
function isRunning(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** A master falls silent while clients are connected and new ones come. */
async function measureDeath({ lab, newClients, cutter }: Bench, round: number): Promise<Round['death']> {
  const victim = lab.masters[round % masters];
  if (victim === undefined) throw new RangeError('no masters');
  const { name } = victim.host;
  const target = { host: vipAddress, port: vipPort };
  const byMaster = await lab.client.run((c, o) => c.open(o), { ...target, count: longConnections });
  await newClients.run((c, o) => c.begin(o), target);
  await sleep(500 * (1 + Math.random()));
  const at = await cutter.run((c, port) => c.cut(port), `${name}-eth0`);
  const isCalm = await newClients.run((c, timeout) => c.calm(timeout), patience);
  const served = await newClients.run((c) => c.end());
  const { reasons } = await lab.client.run((c, o) => c.check(o), { timeout: answerTimeout, except: name });
  await cutter.run((c, port) => c.restore(port), `${name}-eth0`);
  return {
    served: isCalm && served !== undefined ? Math.max(0, Number(served - at) / 1e6) : undefined,
    broken: Object.values(reasons).reduce((total, count) => total + count, 0),
    survivors: longConnections - (byMaster[name] ?? 0),
  };
}
