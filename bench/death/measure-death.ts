/** How long a dead master stays in the kernel's route to the VIP, by the ways in which a load balancer can notice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { NamespaceProcess } from '../../test/kit/namespace-process.ts';
import { Attempts, type Failure } from '../attempts.ts';
import { installedOf } from '../bgp/daemon.ts';
import { BenchLab, type BenchMaster, type Running, vipPort } from '../lb/bench-lab.ts';
import { type DaemonName, type Detection, daemonNames } from '../lb/daemons/load-balancer.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { type Sampled, sampled } from '../statistics.ts';
import { type KilledSpeakers, measureKilledSpeakers } from './killed-speakers.ts';
import { MasterBfd } from './master-bfd.ts';

type Cutter = typeof import('./programs/cutter.ts');
type RoutePoll = typeof import('./programs/route-poll.ts');
type NewClients = typeof import('./programs/new-clients.ts');

/** The ways to notice silence. */
type SilentKind = 'BFD 50 ms x 3' | 'BFD 300 ms x 3' | 'hold time 3 s, no BFD';

const detections: Readonly<Record<SilentKind, Detection>> = {
  'BFD 50 ms x 3': { bfdInterval: 50 },
  'BFD 300 ms x 3': { bfdInterval: 300 },
  'hold time 3 s, no BFD': { holdTime: 3 },
};

/** The name of a way to notice; `link down` is the load balancer's own interface without carrier. */
export type DeathKind = SilentKind | 'link down';

/** Deaths of one kind seen by one daemon, in ms from the cut. */
interface DeathResult {
  readonly kind: DeathKind;
  readonly daemon: DaemonName;
  /** Until the next hop is gone from the kernel. */
  readonly gone: Sampled | undefined;
  /** Until every new client is served, among whom those are that meet the dead master. */
  readonly served: Sampled | undefined;
  /** Deaths that were not noticed within the patience; they are in no summary. */
  readonly missed: number;
}

/** The report. */
export interface DeathReport {
  readonly bench: 'death';
  readonly machine: Machine;
  /** Deaths of each kind. */
  readonly rounds: number;
  readonly results: readonly DeathResult[];
  /** Undefined when that failed. */
  readonly killedSpeakers: KilledSpeakers | undefined;
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

/** How much is measured. */
export interface DeathOptions {
  /** Deaths of each kind and daemon. */
  readonly deaths: number;
  /** Only deaths that BFD at this interval notices, in ms; all kinds without it. */
  readonly bfd?: number | undefined;
  readonly niceness: number;
  readonly progress: (line: string) => void;
}

const poolSize = 3;
const patience = 15_000;
/** New clients come for so long after the next hop is gone, in ms. */
const after = 300;
/** Before a cut, at least, so that all is calm; random, to meet every timer at any phase. */
const calm = 500;

interface Bench {
  readonly lab: BenchLab;
  readonly cutter: NamespaceProcess<Cutter>;
  readonly clients: NamespaceProcess<NewClients>;
  readonly bfd: MasterBfd;
}

/** Runs everything. */
export async function measureDeath(options: DeathOptions): Promise<DeathReport> {
  const since = performance.now();
  const machine = await describeMachine(options.niceness);
  const attempts = new Attempts(options.progress);
  const results = await measureCuts(options, attempts);
  options.progress('speakers killed: bgp-lb');
  const killedSpeakers = await attempts.attempt('bgp-lb', 'speakers killed', measureKilledSpeakers);
  const { failures } = attempts;
  const tookMs = Math.round(performance.now() - since);
  return { bench: 'death', machine, rounds: options.deaths, results, killedSpeakers, failures, tookMs };
}

async function measureCuts(
  { deaths, bfd: interval, progress }: DeathOptions,
  attempts: Attempts,
): Promise<DeathResult[]> {
  const daemons = installedOf(daemonNames);
  const lab = await BenchLab.create(poolSize, 'death');
  const running: { stop(): Promise<void> }[] = [];
  try {
    const start = async <Program>(namespace: string, name: string): Promise<NamespaceProcess<Program>> => {
      const url = new URL(`./programs/${name}.ts`, import.meta.url);
      const program = await NamespaceProcess.start<Program>(['ip', 'netns', 'exec', namespace], url);
      running.push(program);
      return program;
    };
    const cutter = await start<Cutter>(lab.lab.switch.namespace, 'cutter');
    await cutter.run((c) => c.listen());
    const clients = await start<NewClients>(lab.lab.client.namespace, 'new-clients');
    const bfd = new MasterBfd(lab.masters.map(({ host }) => host));
    running.push(bfd);
    const bench: Bench = { lab, cutter, clients, bfd };
    const results: DeathResult[] = [];
    const kinds = (Object.keys(detections) as SilentKind[]).filter(
      (kind) => interval === undefined || detections[kind].bfdInterval === interval,
    );
    for (const kind of kinds) {
      for (const daemon of daemons) {
        progress(`${kind}: ${daemon}`);
        const measure = (): Promise<DeathResult[]> => measureDaemon(bench, daemon, kind, deaths);
        results.push(...((await attempts.attempt(daemon, kind, measure)) ?? []));
      }
    }
    return results;
  } finally {
    await Promise.all(running.map((each) => each.stop()));
    await lab.destroy();
  }
}

async function measureDaemon(
  bench: Bench,
  daemon: DaemonName,
  kind: SilentKind,
  deaths: number,
): Promise<DeathResult[]> {
  const detection: Detection = detections[kind];
  const { bfdInterval } = detection;
  const { lb } = bench.lab.lab;
  const settings = daemon === 'bgp-lb' ? { healthCheck: { interval: '1s' } } : {};
  try {
    if (bfdInterval !== undefined) await bench.bfd.start(lb.address, bfdInterval);
    return await bench.lab.running(
      bench.lab.balancer(daemon, settings, detection),
      poolSize,
      async (running) => {
        const times: Times = { gone: [], served: [], missed: 0 };
        for (let n = 0; n < deaths; n += 1) {
          const victim = running.masters[n % poolSize];
          if (victim !== undefined) await cutMaster(bench, running, victim, detection, times);
        }
        const results = [resultOf(kind, daemon, times)];
        // Once is enough: no timer of a daemon has a part in it.
        if (bfdInterval === 50) results.push(await cutLink(bench, daemon, running, deaths));
        return results;
      },
    );
  } finally {
    await bench.bfd.stop();
  }
}

interface Times {
  readonly gone: number[];
  readonly served: number[];
  missed: number;
}

function resultOf(kind: DeathKind, daemon: DaemonName, { gone, served, missed }: Times): DeathResult {
  return { kind, daemon, gone: sampled(gone, 1), served: sampled(served, 1), missed };
}

const milliseconds = (from: bigint, to: bigint): number => Number(to - from) / 1e6;

/** Waits until every master is in the pool and watched, and some time more. */
async function allWell({ bfd }: Bench, running: Running, detection: Detection): Promise<void> {
  await running.waitForMembers(running.masters);
  if (detection.bfdInterval !== undefined) await bfd.allUp();
  await sleep(calm * (1 + Math.random()));
}

async function cutMaster(
  bench: Bench,
  running: Running,
  victim: BenchMaster,
  detection: Detection,
  times: Times,
): Promise<void> {
  await allWell(bench, running, detection);
  const { name, address } = victim.host;
  const switchPort = `${name}-eth0`;
  await bench.clients.run((c, target) => c.begin(target), { host: vipAddress, port: vipPort });
  const at = await bench.cutter.run((c, which) => c.cut(which), switchPort);
  const gone = await running.watcher.run((w, q) => w.firstSince(q), {
    since: at,
    gateway: address,
    wanted: 'absent' as const,
    timeout: patience,
  });
  await sleep(after);
  const served = await bench.clients.run((c) => c.end());
  if (gone === undefined) times.missed += 1;
  else times.gone.push(milliseconds(at, gone));
  if (served !== undefined) times.served.push(Math.max(0, milliseconds(at, served)));
  await bench.cutter.run((c, which) => c.restore(which), switchPort);
  await victim.program.run((m) => m.leave());
  await victim.program.run((m) => m.join());
}

/** The load balancer's own interface towards the masters loses its carrier: all of them are gone at once. */
async function cutLink(
  bench: Bench,
  daemon: DaemonName,
  running: Running,
  deaths: number,
): Promise<DeathResult> {
  const times: Times = { gone: [], served: [], missed: 0 };
  const port = `${bench.lab.lab.lb.name}-eth0`;
  const poll = await NamespaceProcess.start<RoutePoll>(
    ['ip', 'netns', 'exec', bench.lab.lab.lb.namespace],
    new URL('./programs/route-poll.ts', import.meta.url),
  );
  for (let n = 0; n < deaths; n += 1) {
    // Not by the watcher: it is not told of what the kernel drops with a carrier.
    const query = { vip: `${vipAddress}/32`, timeout: patience, count: running.masters.length };
    if (!(await poll.run((p, q) => p.has(q), query))) throw new Error(`${daemon}: not all masters came back`);
    await bench.bfd.allUp();
    await sleep(calm * (1 + Math.random()));
    await poll.run((p, vip) => p.begin(vip), query.vip);
    const at = await bench.cutter.run((c, which) => c.cut(which), port);
    const gone = await poll.run((p, timeout) => p.gone(timeout), patience);
    if (gone === undefined) times.missed += 1;
    // The switch's notification may be read after the load balancer's kernel has acted.
    else times.gone.push(Math.max(0, milliseconds(at, gone)));
    await bench.cutter.run((c, which) => c.restore(which), port);
    for (const { program } of running.masters) await program.run((m) => m.leave());
    for (const { program } of running.masters) await program.run((m) => m.join());
  }
  await poll.stop();
  return resultOf('link down', daemon, times);
}
