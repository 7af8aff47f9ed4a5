/** Two load balancers behind BIRD, which spreads over both; one of them is a worker node with kube-proxy's rules. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localAsn, upstreamAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import { Bird, hasBird } from '../../scripts/lab/bird.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { startMaster } from '../kit/cluster.ts';
import { addSources, EchoStream } from '../kit/echo-stream.ts';

const waiting = { timeout: 60_000, interval: 100 } as const;
const uplink = '10.0.1.1';

const ruleSet = (name: string): string =>
  readFileSync(
    new URL(`../../packages/speaker/src/testing/rule-sets/kube-proxy-${name}.nft`, import.meta.url),
    'utf8',
  );

describe.skipIf(!hasBird())('two load balancers behind BIRD', () => {
  let lab: Lab;
  let first: LbHost;
  let second: LbHost;
  let bird: Bird;

  beforeAll(async () => {
    // The port of an ingress controller on every node, which kube-proxy's rules and a CNI's host ports name.
    lab = await Lab.create({ masters: 2, loadBalancers: 2, controlPlane: 'stand-in', vipPort: 443 });
    [first, second] = [...lab.lbs] as [LbHost, LbHost];
    for (const lb of lab.lbs) {
      const upstream = { name: 'bird', role: 'upstream', address: uplink, asn: upstreamAsn, holdTime: '9s' };
      const told = { med: 50, prepend: 1, communities: ['65001:7'] };
      lb.writeConfig({ neighbors: [...lb.neighbors(), { ...upstream, ...told }] });
    }
    await lab.upstream.exec(['ip', 'route', 'delete', `${vipAddress}/32`]);
    bird = new Bird(lab.upstream);
    await bird.start([
      'protocol kernel { merge paths on; ipv4 { export where source = RTS_BGP; }; }',
      ...lab.lbs.flatMap((lb) => [
        `protocol bgp ${lb.name} {`,
        `  local ${uplink} as ${upstreamAsn}; neighbor ${lb.uplinkAddress} as ${localAsn};`,
        '  hold time 9; connect retry time 1; connect delay time 1; error wait time 1, 2;',
        '  ipv4 { import all; export none; };',
        '}',
      ]),
    ]);
    await Promise.all(lab.lbs.map((lb) => lb.router.start()));
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
  }, 120_000);
  beforeEach(async () => {
    await Promise.all(lab.lbs.map(whole));
    await usedByBird(first, second);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  const whole = (lb: LbHost): Promise<unknown> =>
    lb.router.waitFor(
      'both masters active',
      ({ vips }) =>
        vips.every(({ members }) => members.filter(({ state }) => state === 'active').length === 2),
      60_000,
    );

  const usedByBird = (...lbs: readonly LbHost[]): Promise<void> =>
    expect
      .poll(() => lab.upstream.vipGateways(), waiting)
      .toEqual(lbs.map(({ uplinkAddress }) => uplinkAddress).sort());

  /** Attributes of the path of one load balancer, as BIRD names them. */
  async function attributes(lb: LbHost): Promise<ReadonlyMap<string, string>> {
    const text = await bird.birdc('show', 'route', `${vipAddress}/32`, 'protocol', lb.name, 'all');
    return new Map(
      [...text.matchAll(/^\s*BGP\.(\w+): ?(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
  }

  it('tell it what their configuration says of the VIP, and nothing that is their own', async () => {
    for (const lb of lab.lbs) {
      expect(Object.fromEntries(await attributes(lb))).toEqual({
        origin: 'IGP',
        as_path: `${localAsn} ${localAsn}`,
        next_hop: lb.uplinkAddress,
        med: '50',
        local_pref: '100',
        community: '(65001,7)',
      });
    }
  });

  it('are left by it when they drain, and taken again', async () => {
    const drain = first.router.query(['drain', '--wait', '1s'], 60_000);
    await expect
      .poll(async () => Object.fromEntries(await attributes(first)), waiting)
      .toMatchObject({ med: '4294967295', community: expect.stringContaining('(65535,0)') });
    await usedByBird(second);
    expect((await drain).code).toBe(0);
    await expect.poll(async () => [...(await attributes(first)).keys()], waiting).toEqual([]);
    expect(await lab.client.request()).toMatchObject({ ok: true });
    expect((await first.router.query(['undrain'])).code).toBe(0);
    await usedByBird(first, second);
  });

  it('lose no packet by a kill of one router and its start: BIRD keeps the route (RFC 4724)', async () => {
    const sources = await addSources(lab.client, '10.0.2', 100, 16);
    const stream = await EchoStream.start(lab.client, vipAddress, sources);
    try {
      await first.router.kill();
      await expect
        .poll(() => bird.birdc('show', 'protocols', first.name), waiting)
        .not.toContain('Established');
      await usedByBird(first, second);
      await first.router.start();
      await whole(first);
      await expect.poll(() => bird.birdc('show', 'protocols', first.name), waiting).toContain('Established');
      expect(await stream.stop()).toMatchObject({ lost: 0, unreachable: 0 });
    } finally {
      await stream.kill();
    }
  });

  it.each(['iptables', 'nftables'])(
    'may be worker nodes: connections pass kube-proxy’s rules (%s)',
    async (mode) => {
      for (const lb of lab.lbs) await lb.exec(['nft', '-f', '-'], { input: ruleSet(mode) });
      try {
        const opened = await lab.client.open(24);
        expect(opened).toMatchObject({ opened: 24, failed: 0 });
        expect(Object.keys(opened.byMaster).sort()).toEqual(['m1', 'm2']);
        expect(await lab.client.check()).toMatchObject({ alive: 24, broken: 0 });
        // The masters see the client and not the load balancer.
        const peers = await Promise.all(
          lab.masters.map((master) =>
            master.exec(['ss', '-tnH', 'state', 'established', 'src', vipAddress, 'dst', '10.0.2.0/24']),
          ),
        );
        expect(peers.join('').trim().split('\n')).toHaveLength(24);
        await lab.client.closeAll();
        // Health goes the same way, and answers come back to this host.
        await Promise.all(lab.lbs.map(whole));
      } finally {
        const tables =
          (await first.exec(['nft', 'list', 'tables'])).match(/^table (ip6?) (nat|filter|kube-proxy)$/gm) ??
          [];
        for (const lb of lab.lbs) {
          await lb.exec(['nft', '-f', '-'], { input: tables.map((table) => `delete ${table}\n`).join('') });
        }
      }
    },
  );
});
