/** The demo's first part: machines boot in any order, and the cluster's address comes up. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostProcess } from '../lab/host-process.ts';
import type { Lab } from '../lab/lab.ts';
import type { MasterHost } from '../lab/master-host.ts';
import { waitUntil } from '../lab/wait-until.ts';
import type { Narrator } from './narrator.ts';

/** The longest that one step of a boot may take, in milliseconds. */
const patience = 30_000;

/** Boots masters 1 and 2, then the LB, then master 3. Resolves with the time from kubeadm's success to the pool, per master. */
export async function bootstrap(lab: Lab, narrator: Narrator): Promise<Record<string, number>> {
  const [first, second, third] = [lab.master(1), lab.master(2), lab.master(3)];
  first.placeSpeaker('init');
  const init = first.kubeadmInit();
  narrator.say(
    'm1 boots: kubeadm init. Its speaker puts the VIP on lo, as kubeadm calls the API through it.',
  );
  await waitUntil(() => existsSync(`${first.pkiFolder}/admin.crt`), {
    what: "m1's PKI",
    timeoutMs: patience,
  });
  second.placeSpeaker('join');
  const secondJoin = second.kubeadmJoin(first);
  narrator.say('m2 boots: kubeadm join asks for the API at the VIP, and nobody answers: there is no LB yet.');
  await succeeded(first, init);
  const initDone = performance.now();
  narrator.say('m1: kubeadm init has succeeded. m1 is ready and has no router to tell.');
  await lab.lb.router.start();
  narrator.say('lb1 boots: the router starts with an empty pool.');
  // The LB came last, so m1's time runs from when it is there.
  const m1 = await timeToPool(lab, [first], Math.max(initDone, performance.now()));
  narrator.say(`m1 is in the pool ${m1} ms after the router was up.`);

  const m2 = await joined(lab, second, secondJoin, [first, second], narrator);
  third.placeSpeaker('join');
  const thirdJoin = third.kubeadmJoin(first);
  narrator.say('m3 boots: kubeadm join, through the VIP.');
  const m3 = await joined(lab, third, thirdJoin, [first, second, third], narrator);
  return { m1, m2, m3 };
}

async function joined(
  lab: Lab,
  master: MasterHost,
  kubeadm: HostProcess,
  pool: readonly MasterHost[],
  narrator: Narrator,
): Promise<number> {
  await Promise.all([succeeded(master, kubeadm), neverHasVipBeforeProof(master, kubeadm)]);
  const since = performance.now();
  narrator.say(`${master.name}: kubeadm join has succeeded; it did not have the VIP before.`);
  const time = await timeToPool(lab, pool, since);
  narrator.say(`${master.name} is in the pool ${time} ms later.`);
  return time;
}

async function succeeded(master: MasterHost, kubeadm: HostProcess): Promise<void> {
  const { code } = await kubeadm.exited;
  if (code !== 0) throw new Error(`${master.name}: kubeadm ended with ${code}\n${kubeadm.tail()}`);
}

/** Looks at the master until kubeadm has ended: a VIP without a proof of bootstrap must never be seen. */
async function neverHasVipBeforeProof(master: MasterHost, kubeadm: HostProcess): Promise<void> {
  while (kubeadm.isRunning) {
    // The proof is looked for second: it stays once it is there, as the marker or as the latch made of it.
    const hasVip = await master.hasVip();
    const hasProof = existsSync(master.markerFile) || existsSync(master.path('var/lib/bgp-lb/state.json'));
    if (hasVip && !hasProof) throw new Error(`${master.name} has the VIP before its join has succeeded`);
    await sleep(100);
  }
}

/** Waits until exactly these masters are in the pool; resolves with the milliseconds since `since`. */
export async function timeToPool(lab: Lab, masters: readonly MasterHost[], since: number): Promise<number> {
  await lab.lb.waitForPool(
    masters.map(({ address }) => address),
    patience,
  );
  return Math.round(performance.now() - since);
}
