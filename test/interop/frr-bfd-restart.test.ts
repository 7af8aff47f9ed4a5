import { afterEach, describe, expect, it } from 'vitest';
import { localAsn, upstreamAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { Frr, hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { startMaster } from '../kit/cluster.ts';

/** SIGTERM, after which the daemon leaves everything for its successor, or SIGKILL. */
const ends = ['stop', 'kill'] as const;

const eventually = { timeout: 15_000, interval: 20 };

/** The paths to the VIP in FRR, each by whether it is stale. */
async function staleness(frr: Frr): Promise<boolean[]> {
  const { paths = [] } = await frr.show<{ paths?: { stale?: boolean }[] }>(
    `show bgp ipv4 unicast ${vipAddress}/32 json`,
  );
  return paths.map(({ stale }) => stale ?? false);
}

async function bfdStatus(frr: Frr, address: string): Promise<string | undefined> {
  const neighbor = await frr.neighbor(address);
  return (neighbor as { peerBfdInfo?: { status: string } } | undefined)?.peerBfdInfo?.status;
}

// FRR 8.4 ends the session a moment after AdminDown (bfd-bgpd.test.ts), and would drop the path with it.
describe.skipIf(!hasFrr())('FRR 8.4 with BFD and graceful restart keeps the path', () => {
  let lab: Lab | undefined;
  afterEach(async () => {
    await lab?.destroy();
    lab = undefined;
  });

  it.each(ends)('of a speaker that ends by %s', async (end) => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in', password: null, bfd: 300 });
    const [lb, master] = [lab.lb, lab.master(1)];
    const frr = new Frr(lb);
    await frr.start(
      [
        `router bgp ${localAsn}`,
        ` bgp router-id ${lb.address}`,
        ` neighbor ${master.address} remote-as ${localAsn}`,
        ` neighbor ${master.address} passive`,
        ` neighbor ${master.address} bfd`,
      ],
      [],
    );
    await startMaster(lab, master);
    await expect.poll(() => bfdStatus(frr, master.address), eventually).toBe('Up');
    await expect.poll(() => staleness(frr), eventually).toEqual([false]);
    await master.speaker[end]();
    await expect.poll(() => bfdStatus(frr, master.address), eventually).toBe('Down');
    expect(await staleness(frr)).toEqual([true]);
  });

  it.each(ends)('of a router that ends by %s', async (end) => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in', upstream: 'frr' });
    const { lb, upstream } = lab;
    await upstream.frr.startBfdd([]);
    await upstream.frr.configure(`router bgp ${upstreamAsn}`, `neighbor ${lb.uplinkAddress} bfd`);
    const [masters = {}, neighbor = {}] = lb.neighbors();
    lb.writeConfig({ neighbors: [masters, { ...neighbor, bfd: {}, gracefulRestart: true }] });
    await lb.router.start();
    await startMaster(lab, lab.master(1));
    await expect.poll(() => bfdStatus(upstream.frr, lb.uplinkAddress), eventually).toBe('Up');
    await expect.poll(() => staleness(upstream.frr), eventually).toEqual([false]);
    await lb.router[end]();
    await expect.poll(() => bfdStatus(upstream.frr, lb.uplinkAddress), eventually).toBe('Down');
    expect(await staleness(upstream.frr)).toEqual([true]);
  });
});
