import { copyFileSync } from 'node:fs';
import { vipOf, vipPrefixOf } from '../../scripts/lab/addresses.ts';
import { Lab, type LabOptions } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';

/** A lab whose masters hold the VIPs without any speaker, by an address on `lo`, as an operator would bind it. The caller destroys it. */
export async function startListedMasters(options: LabOptions): Promise<Lab> {
  const lab = await Lab.create({ ...options, controlPlane: 'stand-in' });
  try {
    const [first, ...others] = lab.masters;
    if (first === undefined) throw new RangeError('a lab without masters');
    await startWithVip(first);
    await Promise.all(others.map((master) => startWithVip(master, first)));
    copyFileSync(first.caFile, lab.lb.caFile);
    return lab;
  } catch (error) {
    await lab.destroy();
    throw error;
  }
}

async function startWithVip(master: MasterHost, first?: MasterHost): Promise<void> {
  await master.installCertificates(first);
  for (const family of master.families) {
    await master.exec([
      'ip',
      'address',
      'add',
      vipPrefixOf(family),
      'dev',
      'lo',
      ...(vipOf(family).includes(':') ? ['nodad'] : []),
    ]);
  }
  await master.startApiServer();
}
