/** The demo's second part: clients are connected, and things go wrong. */
import type { Lab } from '../lab/lab.ts';
import type { MasterHost } from '../lab/master-host.ts';
import { waitUntil } from '../lab/wait-until.ts';
import { timeToPool } from './bootstrap.ts';
import type { DemoFigures, Departure } from './figures.ts';
import type { Narrator } from './narrator.ts';

/** Long connections that the client keeps. */
const connectionCount = 300;
/** New requests while something goes wrong: one each so many milliseconds. */
const requestEvery = 50;

/** Opens (or opens again) the long connections, so that each part begins with all of them whole. */
async function connect(lab: Lab, narrator: Narrator): Promise<void> {
  await lab.client.closeAll();
  const { opened, failed, failures, byMaster } = await lab.client.open(connectionCount, {
    exchangeEvery: 1_000,
  });
  if (failed > 0) {
    const reasons = JSON.stringify(failures);
    throw new Error(`${failed} of ${connectionCount} connections could not be opened: ${reasons}`);
  }
  const shares = Object.entries(byMaster).sort(([a], [b]) => (a < b ? -1 : 1));
  narrator.say(
    `${opened} clients are connected: ${shares.map(([name, count]) => `${count} at ${name}`).join(', ')}.`,
  );
}

/** Lets a master leave by `leave` and counts what that did to the connections of the others. */
async function departure(
  lab: Lab,
  narrator: Narrator,
  victim: MasterHost,
  leave: () => Promise<unknown>,
): Promise<Departure> {
  const rest = lab.masters.filter((master) => master !== victim);
  const since = performance.now();
  const left = leave();
  const removedMs = await timeToPool(lab, rest, since);
  await left;
  const { byMaster, brokenByMaster } = await lab.client.check();
  const count = (of: Readonly<Record<string, number>>): number =>
    rest.reduce((sum, { name }) => sum + (of[name] ?? 0), 0);
  const brokenAtSurvivors = count(brokenByMaster);
  const survivors = count(byMaster) + brokenAtSurvivors;
  narrator.say(`${victim.name} is out of the pool ${removedMs} ms later.`);
  narrator.say(`Connections at the other masters: ${survivors}; broken: ${brokenAtSurvivors}.`);
  return { removedMs, survivors, brokenAtSurvivors };
}

export async function silentDeath(lab: Lab, narrator: Narrator): Promise<DemoFigures['silentDeath']> {
  const victim = lab.master(3);
  await connect(lab, narrator);
  await lab.client.startLoop({ every: requestEvery, timeout: 500 });
  await lab.client.markLoop();
  narrator.say('m3 loses its power: no FIN, no NOTIFICATION, silence. BFD waits for 3 packets at 50 ms.');
  const figures = await departure(lab, narrator, victim, () => victim.powerOff());
  const recovered = await waitUntil(async () => (await lab.client.loopReport()).recovered, {
    what: 'a new request that succeeds after the last that failed',
  });
  await lab.client.stopLoop();
  const nextSuccessMs = Math.round(recovered);
  narrator.say(`New requests have all succeeded since ${nextSuccessMs} ms after the power went.`);
  return { ...figures, nextSuccessMs };
}

/** Brings the dead master back, as a reboot does: kubelet starts the API server and the speaker. */
export async function comeBack(lab: Lab, narrator: Narrator): Promise<DemoFigures['return']> {
  const master = lab.master(3);
  await connect(lab, narrator);
  narrator.say('m3 gets its power back.');
  await master.powerOn();
  await Promise.all([master.startApiServer(), master.startSpeaker()]);
  const time = await timeToPool(lab, lab.masters, performance.now());
  const { alive, broken } = await lab.client.check();
  narrator.say(
    `m3 is in the pool ${time} ms after its speaker was up. Connections broken by that: ${broken}.`,
  );
  return { connections: alive + broken, broken };
}

export async function sigterm(lab: Lab, narrator: Narrator): Promise<Departure> {
  const victim = lab.master(2);
  await connect(lab, narrator);
  narrator.say(
    'm2: the API server gets SIGTERM, as in an upgrade. /readyz turns red, its port closes soon after.',
  );
  const figures = await departure(lab, narrator, victim, () => victim.stopApiServer());
  await victim.startApiServer();
  await timeToPool(lab, lab.masters, performance.now());
  narrator.say('m2: the API server is back, and m2 in the pool.');
  return figures;
}

export async function speakerRestart(lab: Lab, narrator: Narrator): Promise<DemoFigures['speakerRestart']> {
  await connect(lab, narrator);
  narrator.say('All speakers are killed with SIGKILL, and started again.');
  await Promise.all(lab.masters.map(({ speaker }) => speaker.kill()));
  await Promise.all(lab.masters.map((master) => master.startSpeaker()));
  await lab.lb.router.waitFor(
    'all members active again',
    ({ vips }) => vips.every(({ members }) => members.every(({ state }) => state === 'active')),
    20_000,
  );
  const { broken } = await lab.client.check();
  narrator.say(`All members are active again. Connections broken by that: ${broken}.`);
  return { broken };
}

export async function routerRestart(lab: Lab, narrator: Narrator): Promise<DemoFigures['routerRestart']> {
  await connect(lab, narrator);
  await lab.client.startLoop({ every: requestEvery, timeout: 2_000 });
  if (lab.lb.dataPlane === 'kernel') await lab.lb.startPacketCount();
  narrator.say('The router is killed with SIGKILL, and started again.');
  await lab.lb.router.kill();
  await lab.lb.router.start();
  await lab.lb.router.waitFor(
    'all members active again',
    ({ vips }) =>
      vips.every(
        ({ members }) => members.filter(({ state }) => state === 'active').length === lab.masters.length,
      ),
    20_000,
  );
  const { sent, failed } = await lab.client.stopLoop();
  const { broken } = await lab.client.check();
  const requestsLost = failed + broken;
  const requests = `${sent} new requests meanwhile, ${failed} lost, ${broken} connections broken`;
  if (lab.lb.dataPlane === 'haproxy') {
    narrator.say(`HAProxy went on serving: ${requests}.`);
    return { requestsLost };
  }
  const { received, forwarded } = await lab.lb.packetCount();
  const packetsLost = received - forwarded;
  narrator.say(`The kernel went on forwarding: ${requests}, ${packetsLost} of ${received} packets lost.`);
  return { requestsLost, packetsLost };
}
