import { copyFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Lab, type LabOptions } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { startMaster } from './cluster.ts';

/** A server of HAProxy as `show stat` has it. */
export interface StatServer {
  readonly name: string;
  readonly status: string;
  readonly sessions: number;
  /** Sessions since HAProxy, or the server in it, began. */
  readonly total: number;
}

/** A lab whose load balancer is HAProxy with the cluster's CA. No daemon runs yet. The caller destroys it. */
export async function createHaproxyLab(options: LabOptions = {}): Promise<Lab> {
  const lab = await Lab.create({
    dataPlane: 'haproxy',
    vipPort: 443,
    controlPlane: 'stand-in',
    ...options,
    router: { pool: { flapHold: '0s', initialHold: '500ms' }, ...options.router },
  });
  try {
    await lab.master(1).installCertificates();
    copyFileSync(`${lab.master(1).pkiFolder}/ca.crt`, lab.lb.caFile);
    return lab;
  } catch (error) {
    await lab.destroy();
    throw error;
  }
}

/** The same with all daemons running, and HAProxy serving every master. */
export async function startHaproxyCluster(options: LabOptions = {}): Promise<Lab> {
  const lab = await createHaproxyLab(options);
  try {
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await Promise.all(lab.masters.slice(1).map((master) => startMaster(lab, master)));
    await servedBy(lab, lab.masters, 20_000);
    return lab;
  } catch (error) {
    await lab.destroy();
    throw error;
  }
}

/** Waits until HAProxy gives new connections to exactly these masters. */
export async function servedBy(lab: Lab, masters: readonly MasterHost[], timeoutMs = 10_000): Promise<void> {
  const wanted = masters.map(({ address }) => address).sort();
  let last: unknown;
  await waitUntil(
    async () => {
      try {
        last = await servers(lab);
      } catch (error) {
        last = error;
        return false;
      }
      const serving = (last as StatServer[]).filter(({ status }) => /^(UP|no check)/.test(status));
      return (
        serving
          .map(({ name }) => name)
          .sort()
          .join() === wanted.join()
      );
    },
    {
      what: `HAProxy serves ${wanted.join(', ') || 'nobody'}`,
      timeoutMs,
      detail: () => `${JSON.stringify(last)}\n${lab.lb.router.process?.tail() ?? ''}`,
    },
  );
}

/** What failed of a loop, with the reasons. */
export async function failuresOf(
  report: Promise<{ readonly failed: number; readonly reasons: unknown }>,
): Promise<unknown> {
  const { failed, reasons } = await report;
  return { failed, reasons };
}

/** The members that HAProxy has. */
export async function servers(lab: Lab): Promise<StatServer[]> {
  return readStat(await runTime(lab, STAT));
}

/** The members that a worker of a configuration before has. */
export async function oldServers(lab: Lab, pid: number): Promise<StatServer[]> {
  return readStat(await ask(lab.lb.haproxy.master, `@!${pid} ${STAT}`));
}

const STAT = 'show stat -1 4 -1';

function readStat(answer: string): StatServer[] {
  const [header = '', ...lines] = answer.trim().split('\n');
  const columns = header.replace('# ', '').split(',');
  const at = (line: string, name: string): string => line.split(',')[columns.indexOf(name)] ?? '';
  return lines
    .map((line) => ({
      name: at(line, 'svname'),
      status: at(line, 'status'),
      sessions: Number(at(line, 'scur')),
      total: Number(at(line, 'stot')),
    }))
    .filter(({ name }) => name !== 'anchor');
}

/** Process ids of HAProxy's workers, as its master says. */
export async function workers(lab: Lab): Promise<{ readonly current: number; readonly old: number[] }> {
  const text = await ask(lab.lb.haproxy.master, 'show proc');
  const [, rest = ''] = text.split('# workers');
  const [now = '', old = ''] = rest.split('# old workers');
  const pids = (part: string): number[] =>
    [...part.matchAll(/^(\d+)\s+worker/gm)].map(([, pid]) => Number(pid));
  return { current: pids(now)[0] ?? Number.NaN, old: pids(old) };
}

/** Sends a command to HAProxy's run-time API, as an operator would by hand. */
export function runTime(lab: Lab, command: string): Promise<string> {
  return ask(lab.lb.haproxy.socket, command);
}

function ask(path: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect({ path, allowHalfOpen: true });
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no answer to ${command}`)));
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.on('error', reject);
    socket.on('end', () => {
      socket.destroy();
      resolve(answer);
    });
    socket.end(`${command}\n`);
  });
}
