/** Whose connections break when one of N masters leaves the pool, and when it returns: every master once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { type BenchLab, type BenchMaster, type Running, vipPort } from './bench-lab.ts';
import type { DaemonName } from './daemons/load-balancer.ts';
import type { Members } from './programs/watcher.ts';

/** Long connections, from one client. */
const connections = 300;
/** After the kernel has changed and before the client asks on every connection. */
const settle = 50;
/** Long beyond any retransmission: slowness of a busy machine is not to look like a broken connection. */
const answerTimeout = 5_000;

/** Connections that should have lived and did not, and what is to be known to judge that. */
interface Breakage {
  readonly broken: number;
  /** By what happened to them. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The longest that an answer took, in ms. */
  readonly slowestMs: number;
  /** The pool in the kernel after each of its changes: more than one means that more than the victim moved. */
  readonly poolChanges: readonly Members[];
}

/** What one master's leave and return did. */
export interface Victim {
  readonly victim: string;
  /** Connections that the victim served when it left: these break, whatever the load balancer does. */
  readonly atVictim: number;
  readonly survivors: number;
  readonly brokenAtSurvivors: number;
  /** Connections to the other masters when it returned. */
  readonly connections: number;
  readonly brokenByReturn: number;
  readonly leave: Breakage;
  readonly return: Breakage;
}

/** All victims of one size of pool. */
export interface SurvivorRun {
  readonly masters: number;
  readonly daemon: DaemonName;
  readonly victims: readonly Victim[];
}

/** Lets every one of `masters` masters leave by a withdrawal and return by an announcement, one after the other. */
export function measureSurvivors(bench: BenchLab, daemon: DaemonName, masters: number): Promise<SurvivorRun> {
  return bench.running(bench.balancer(daemon), masters, async (running) => {
    const victims: Victim[] = [];
    for (const victim of running.masters) victims.push(await leaveAndReturn(bench, running, victim));
    return { masters, daemon, victims };
  });
}

async function leaveAndReturn(bench: BenchLab, running: Running, victim: BenchMaster): Promise<Victim> {
  const { name } = victim.host;
  const others = running.masters.filter((master) => master !== victim);
  const open = (): Promise<Record<string, number>> =>
    bench.client.run((c, target) => c.open(target), { host: vipAddress, port: vipPort, count: connections });
  const move = async (route: 'none' | 'full', members: readonly BenchMaster[]): Promise<void> => {
    await running.watcher.run((w) => w.setMark());
    await victim.program.run((m, to) => m.update(to), route);
    await running.waitForMembers(members);
  };
  const breakage = async (except: string): Promise<Breakage> => {
    await sleep(settle);
    const query = { timeout: answerTimeout, except };
    const { reasons, slowest } = await bench.client.run((c, q) => c.check(q), query);
    const poolChanges = await running.watcher.run((w) => w.changesSinceMark());
    return { broken: sum(reasons), reasons, slowestMs: Math.round(slowest), poolChanges };
  };

  const atVictim = (await open())[name] ?? 0;
  await move('none', others);
  const leave = await breakage(name);
  await open();
  await move('full', running.masters);
  const back = await breakage('');
  return {
    victim: name,
    atVictim,
    survivors: connections - atVictim,
    brokenAtSurvivors: leave.broken,
    connections,
    brokenByReturn: back.broken,
    leave,
    return: back,
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
