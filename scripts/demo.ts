/**
 * `npm start`: the product at work, in a lab of network namespaces on this machine.
 *
 *   --data-plane haproxy  HAProxy serves the VIP in place of the kernel
 *   --json                print the figures as one JSON object last; the timeline goes to standard error
 *   --keep                leave the lab up and say what to try in it
 *   --remove              remove a lab that --keep left
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bootstrap } from './demo/bootstrap.ts';
import { type DemoFigures, keepsItsPromise } from './demo/figures.ts';
import { Narrator } from './demo/narrator.ts';
import { startPageRelay } from './demo/start-page-relay.ts';
import { comeBack, routerRestart, sigterm, silentDeath, speakerRestart } from './demo/troubles.ts';
import { whatToTry } from './demo/what-to-try.ts';
import { hasFrr } from './lab/frr.ts';
import { Lab } from './lab/lab.ts';
import type { LbSettings } from './lab/lb-host.ts';

const labId = 'demo';
const dataPlanes: readonly LbSettings['dataPlane'][] = ['kernel', 'haproxy'];

async function tell(lab: Lab, narrator: Narrator): Promise<DemoFigures> {
  narrator.chapter('Bootstrap: m1, m2, then the load balancer, then m3');
  const timeToPoolMs = await bootstrap(lab, narrator);
  if (lab.upstream.kind === 'frr') {
    await lab.upstream.waitForVipRoute(true);
    narrator.say('The upstream router (FRR) has the route to the VIP from lb1, by BGP.');
  }
  narrator.chapter('A master dies');
  const death = await silentDeath(lab, narrator);
  narrator.chapter('It comes back');
  const back = await comeBack(lab, narrator);
  narrator.chapter('An API server stops');
  const stopped = await sigterm(lab, narrator);
  narrator.chapter('Our own daemons die');
  const speakers = await speakerRestart(lab, narrator);
  const router = await routerRestart(lab, narrator);
  const figures = {
    timeToPoolMs,
    silentDeath: death,
    sigterm: stopped,
    return: back,
    speakerRestart: speakers,
    routerRestart: router,
    tookMs: narrator.elapsed,
  };
  return { ok: keepsItsPromise(figures), ...figures };
}

function summary({
  ok,
  silentDeath: death,
  return: back,
  speakerRestart: speakers,
  tookMs,
}: DemoFigures): string {
  return ok
    ? `Of ${death.survivors} + ${back.connections} connections that had nothing to do with the troubles, none broke; ` +
        `speakers killed: ${speakers.broken} broken. It took ${(tookMs / 1000).toFixed(1)} s.`
    : 'Something broke that should not have: see above.';
}

/** HAProxy is not among what every demo needs. */
function bringHaproxy(): boolean {
  const setup = fileURLToPath(new URL('./setup.sh', import.meta.url));
  return spawnSync('sh', [setup, 'demo-haproxy'], { stdio: ['ignore', 2, 'inherit'] }).status === 0;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      'data-plane': { type: 'string', default: 'kernel' },
      json: { type: 'boolean' },
      keep: { type: 'boolean' },
      remove: { type: 'boolean' },
    },
  });
  const dataPlane = dataPlanes.find((one) => one === values['data-plane']);
  if (dataPlane === undefined) {
    console.error(`--data-plane ${values['data-plane']}: allowed are ${dataPlanes.join(', ')}`);
    return 2;
  }
  if (values.remove === true) {
    await Lab.remove(labId);
    return 0;
  }
  if (dataPlane === 'haproxy' && !bringHaproxy()) return 1;
  const narrator = new Narrator((line) => (values.json === true ? console.error(line) : console.log(line)));
  const upstream = hasFrr() ? 'frr' : 'static';
  const lab = await Lab.create({ id: labId, masters: 3, upstream, bfd: 50, dataPlane });
  narrator.say(
    `A lab of network namespaces is up: ${lab.hosts.map(({ name }) => name).join(', ')}; the upstream router ` +
      (upstream === 'frr' ? 'is FRR.' : 'has a static route, as FRR is not installed.') +
      (dataPlane === 'haproxy' ? ' lb1 has HAProxy, which the router drives.' : ''),
  );
  let isKept = false;
  try {
    const figures = await tell(lab, narrator);
    narrator.chapter(summary(figures));
    isKept = values.keep === true;
    if (isKept) console.error(whatToTry(lab, await startPageRelay(lab.lb.router.socketPath)));
    if (values.json === true) console.log(JSON.stringify(figures));
    return figures.ok ? 0 : 1;
  } finally {
    if (isKept) await lab.keep();
    else await lab.destroy();
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The lab's guardian removes the lab as soon as this process has ended.
  process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
}
process.exit(await main());
