import { writeFileSync } from 'node:fs';
import { Lab, type LabOptions } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';

/**
 * Brings a master to where a successful kubeadm leaves it, without running kubeadm: certificates, marker, API server, speaker.
 * @param over put over the lab's own settings of the speaker
 */
export async function startMaster(lab: Lab, master: MasterHost, over: JsonObject = {}): Promise<void> {
  const first = lab.master(1);
  await master.installCertificates(master === first ? undefined : first);
  writeFileSync(master.markerFile, '');
  master.writeSpeakerConfig(master === first ? 'init' : 'join', over);
  await master.startApiServer();
  await master.startSpeaker();
}

/** A lab whose router runs and whose masters are all in the pool. The caller destroys it. */
export async function startCluster(options: LabOptions = {}): Promise<Lab> {
  const lab = await Lab.create(options);
  try {
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await Promise.all(lab.masters.slice(1).map((master) => startMaster(lab, master)));
    await lab.lb.waitForPool(addresses(lab.masters), 20_000);
    return lab;
  } catch (error) {
    await lab.destroy();
    throw error;
  }
}

/** Brings a cluster back to health after whatever a test did, or failed to do: power, API servers, daemons, pool. */
export async function heal(lab: Lab): Promise<void> {
  await Promise.all(
    lab.masters.map(async (master) => {
      if (!master.isOn) await master.powerOn();
      if (!master.apiServer?.isRunning) await master.startApiServer();
      else await master.setApiServer('ready');
      if (!master.speaker.isRunning) await master.startSpeaker();
    }),
  );
  if (!lab.lb.router.isRunning) await lab.lb.router.start();
  await waitForAllActive(lab);
}

/** Waits until the pool holds every master with its full share. */
export async function waitForAllActive(lab: Lab, timeoutMs = 20_000): Promise<void> {
  await lab.lb.router.waitFor(
    'all masters active',
    ({ vips }) =>
      vips.every(
        ({ members }) => members.filter(({ state }) => state === 'active').length === lab.masters.length,
      ),
    timeoutMs,
  );
}

/** The masters' addresses. */
export function addresses(masters: readonly MasterHost[]): string[] {
  return masters.map(({ address }) => address);
}

/** All masters but one. */
export function others(lab: Lab, victim: MasterHost): MasterHost[] {
  return lab.masters.filter((master) => master !== victim);
}

/** How many long connections of the client to these masters broke. */
export function brokenAt(
  masters: readonly MasterHost[],
  brokenByMaster: Readonly<Record<string, number>>,
): number {
  return masters.reduce((sum, { name }) => sum + (brokenByMaster[name] ?? 0), 0);
}
