/** Whose connections break when one of N masters leaves the pool, and when it returns: every master once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { type BenchLab, type BenchMaster, type Running, vipPort } from './bench-lab.ts';
import type { DaemonName } from './daemons/load-balancer.ts';

/** Long connections, from one client. */
const connections = 300;
/** After the kernel has changed and before the client asks on every connection. */
const settle = 50;
const answerTimeout = 1_000;

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
  const countBroken = async (): Promise<Readonly<Record<string, number>>> => {
    await sleep(settle);
    return (await bench.client.run((c, timeout) => c.check(timeout), answerTimeout)).broken;
  };

  const atVictim = (await open())[name] ?? 0;
  await victim.program.run((m) => m.update('none'));
  await running.waitForMembers(others);
  const brokenByLeave = await countBroken();

  await open();
  await victim.program.run((m) => m.update('full'));
  await running.waitForMembers(running.masters);
  const brokenByReturn = await countBroken();
  return {
    victim: name,
    atVictim,
    survivors: connections - atVictim,
    brokenAtSurvivors: sum(brokenByLeave) - (brokenByLeave[name] ?? 0),
    connections,
    brokenByReturn: sum(brokenByReturn),
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
