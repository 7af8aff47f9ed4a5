import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, upstreamAsn, vipAddress } from './addresses.ts';
import { Bird } from './bird.ts';
import { Lab } from './lab.ts';
import { waitUntil } from './wait-until.ts';

/** BIRD in the router's place: it announces the VIP for as long as it runs. */
const birdConfig = [
  `protocol static { ipv4; route ${vipAddress}/32 blackhole; }`,
  'protocol bgp upstream {',
  `  local 10.0.1.10 as ${localAsn};`,
  `  neighbor 10.0.1.1 as ${upstreamAsn};`,
  '  ipv4 { import none; export all; next hop self; };',
  '}',
];

describe('FRR as the upstream router', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, upstream: 'frr' });
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  it('has no route to the VIP while nobody announces it', async () => {
    expect(await lab.upstream.vipGateways()).toEqual([]);
    expect(await lab.upstream.sessionState(lab.lb.uplinkAddress)).not.toBe('Established');
  });

  it('routes the VIP to a load balancer that announces it, and no longer when it is withdrawn', async () => {
    const bird = new Bird(lab.lb);
    await bird.start(birdConfig);
    await lab.upstream.waitForVipRoute(true);
    expect(await lab.upstream.vipGateways()).toEqual([lab.lb.uplinkAddress]);
    expect(await lab.upstream.sessionState(lab.lb.uplinkAddress)).toBe('Established');

    await bird.stop();
    await lab.upstream.waitForVipRoute(false);
  });

  it('can be stopped and started again', async () => {
    await lab.upstream.frr.stop();
    expect(lab.upstream.processes.filter((process) => process.isRunning)).toEqual([]);
    await lab.upstream.startFrr();
    await waitUntil(async () => (await lab.upstream.sessionState(lab.lb.uplinkAddress)) !== 'Unknown', {
      what: 'FRR with its neighbor',
    });
  });
});
