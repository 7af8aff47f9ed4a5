import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipOf } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { createHaproxyLab, servedBy } from '../kit/haproxy-lab.ts';

const TIMEOUT = 120_000;

describe.each(['ipv4', 'ipv6'] as const)(
  'members from a list, without a speaker, by HAProxy and %s',
  { timeout: TIMEOUT },
  (family) => {
    let lab: Lab;
    beforeAll(async () => {
      lab = await createHaproxyLab({ families: [family] });
      await Promise.all(
        lab.masters.map(async (master) => {
          await master.installCertificates(master === lab.master(1) ? undefined : lab.master(1));
          await master.startApiServer();
        }),
      );
      const members = { bgp: false, static: lab.masters.map(({ name, address }) => ({ name, address })) };
      const vip = { address: vipOf(family), port: 443, machinePort: 6443, members };
      lab.lb.writeConfig({ vips: [vip], neighbors: [] });
      await lab.lb.router.start();
    }, TIMEOUT);
    afterAll(() => lab.destroy());

    it('are served, 300 of 300 connections', async () => {
      await servedBy(lab, lab.masters, 20_000);
      const { opened, failed, byMaster } = await lab.client.open(300, { connectTimeout: 20_000 });
      expect({ opened, failed }).toEqual({ opened: 300, failed: 0 });
      expect(Object.keys(byMaster).sort()).toEqual(['m1', 'm2', 'm3']);
      await lab.client.closeAll();
    });

    it('leave when their API server is gone, and come back with it', async () => {
      const victim = lab.master(3);
      await victim.stopApiServer();
      await servedBy(
        lab,
        lab.masters.filter((one) => one !== victim),
      );
      await victim.startApiServer();
      await servedBy(lab, lab.masters);
    });
  },
);
