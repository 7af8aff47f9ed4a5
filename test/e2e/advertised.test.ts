import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { hasFrr } from '../../scripts/lab/frr.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { startCluster, waitForAllActive } from '../kit/cluster.ts';
import { httpOn } from '../kit/host-http.ts';
import { metricsOf } from '../kit/router-view.ts';

const eventually = { timeout: 30_000, interval: 100 };

/**
 * BFD packets of the masters do not arrive at the load balancer any more, nor do new sessions, by which a speaker would be back
 * within milliseconds; all else does.
 */
const deaf = `table inet deaf { chain c {
  type filter hook prerouting priority -400;
  iifname eth0 udp dport 3784 drop;
  iifname eth0 tcp dport 179 tcp flags & (syn | ack) == syn drop;
}; }`;

interface Advertised {
  readonly ready: boolean;
  readonly advertised: boolean;
  readonly advertisements: readonly { readonly reason: string }[];
}

describe.skipIf(!hasFrr())('whether the upstream has the VIP is said alike everywhere', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 2, upstream: 'frr', bfd: 50, controlPlane: 'stand-in' });
    await waitForAllActive(lab);
    await lab.upstream.waitForVipRoute(true, 30_000);
  }, 120_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  const vip = async (): Promise<Advertised> => {
    const { vips } = (await lab.lb.router.status()) as unknown as { vips: readonly Advertised[] };
    return vips[0] ?? { ready: false, advertised: false, advertisements: [] };
  };
  const table = async (command: string): Promise<string> =>
    (await lab.lb.router.query([command])).stdout.replaceAll(/ +/g, ' ');

  /** What each of the router's answers says, beside what FRR has. */
  async function everywhere(): Promise<Record<string, unknown>> {
    const { ready, advertised } = await vip();
    const metrics = await metricsOf(lab);
    const labels = `vip="${vipAddress}/32",upstream="upstream"`;
    const doctor = JSON.parse((await lab.lb.router.command(['doctor', '-o', 'json'])).stdout) as {
      check: string;
      level: string;
    }[];
    return {
      frr: (await lab.upstream.vipGateways()).length > 0,
      ready,
      advertised,
      status: /yes (to upstream|no: .*?) \d of \d members/.exec(await table('status'))?.[1],
      explain: /upstream upstream (yes|no) /.exec(await table('explain'))?.[1],
      readyz: (await httpOn(lab.lb, { host: '127.0.0.1', port: 9474, path: '/readyz' })).status,
      doctor: doctor.find(({ check }) => check === 'advertised')?.level,
      metric: metrics.get(`bgp_lb_router_vip_advertised{${labels}}`),
    };
  }

  const said = (reason: string) => ({
    frr: false,
    ready: true,
    advertised: false,
    status: `no: upstream: ${reason}`,
    explain: 'no',
    readyz: 503,
    doctor: 'fault',
    metric: 0,
  });
  const serves = {
    frr: true,
    ready: true,
    advertised: true,
    status: 'to upstream',
    explain: 'yes',
    readyz: 200,
    doctor: 'good',
    metric: 1,
  };

  it('while it serves', async () => {
    expect(await everywhere()).toEqual(serves);
  });

  it('while it is drained, and after', async () => {
    expect(await lab.lb.router.query(['drain', '--wait', '1s'])).toMatchObject({ code: 0 });
    await lab.upstream.waitForVipRoute(false);
    expect(await everywhere()).toEqual(said('this load balancer is drained'));
    expect(await table('status')).toContain('this load balancer is drained for ');
    const metrics = await metricsOf(lab);
    const phases = ['none', 'leaving', 'withdrawn'].map((phase) =>
      metrics.get(`bgp_lb_router_drain{phase="${phase}"}`),
    );
    expect(phases).toEqual([0, 0, 1]);
    expect(await lab.lb.router.query(['undrain'])).toMatchObject({ code: 0 });
    await lab.upstream.waitForVipRoute(true);
    expect(await everywhere()).toEqual(serves);
  });

  it('while the only upstream cannot be reached, and after', async () => {
    await lab.lb.exec(['ip', 'link', 'set', 'eth1', 'down']);
    // The hold timer, on both sides.
    await expect.poll(async () => (await vip()).advertised, eventually).toBe(false);
    await lab.upstream.waitForVipRoute(false, 30_000);
    const { status, ...others } = await everywhere();
    const { status: _, ...wanted } = said('');
    expect(others).toEqual(wanted);
    expect(status).toMatch(/^no: upstream: the BGP session is (Idle|Active|Connect)$/);
    // Why: in the list, with what to do, and not advice about AS numbers.
    await expect
      .poll(() => table('neighbors'), eventually)
      .toMatch(/^upstream upstream .*TCP connection failed: connect ENETUNREACH .* ago\)$/m);
    const one = (await lab.lb.router.query(['neighbors', 'upstream'])).stdout.replaceAll(/ +/g, ' ');
    expect(one).toMatch(/^failed attempts since [1-9]\d*$/m);
    const doctor = (await lab.lb.router.command(['doctor'])).stdout;
    expect(doctor).toMatch(/neighbor +upstream .*ENETUNREACH.*no route to it: see `ip route get /);
    await lab.lb.exec(['ip', 'link', 'set', 'eth1', 'up']);
    await lab.upstream.waitForVipRoute(true, 60_000);
    expect(await everywhere()).toEqual(serves);
  }, 120_000);

  it('while policy withholds it from an upstream that is Established', async () => {
    const upstream = lab.lb.neighbors().find(({ role }) => role === 'upstream') ?? {};
    const masters = lab.lb.neighbors().filter(({ role }) => role !== 'upstream');
    const restart = async (neighbor: JsonObject): Promise<void> => {
      await lab.lb.router.stop();
      lab.lb.writeConfig({ neighbors: [...masters, neighbor] });
      await lab.lb.router.start();
      await waitForAllActive(lab);
    };
    // FRR has no BFD with this router.
    await restart({ ...upstream, bfd: { strict: true } });
    await lab.upstream.waitForVipRoute(false, 30_000);
    const reason = 'BFD with the upstream is not Up, which `bfd.strict` asks for';
    await expect.poll(async () => (await vip()).advertisements[0]?.reason, eventually).toBe(reason);
    expect(await everywhere()).toEqual(said(reason));
    await restart(upstream);
    await lab.upstream.waitForVipRoute(true, 60_000);
  }, 120_000);

  it('while all members are in doubt', async () => {
    // A handshake is answered, and no request: a member in doubt is kept as long as doubt lasts.
    await Promise.all(lab.masters.map((master) => master.setApiServer('hang')));
    await lab.lb.exec(['nft', '-f', '-'], { input: deaf });
    const withheld: Advertised[] = [];
    await expect
      .poll(
        async () => {
          const one = await vip();
          if (one.ready && !one.advertised) withheld.push(one);
          return withheld.length;
        },
        { ...eventually, interval: 10 },
      )
      .toBeGreaterThan(0);
    expect(withheld[0]?.advertisements).toEqual([
      {
        upstream: 'upstream',
        advertised: false,
        reason: 'BFD lost all its members at once: they are probed',
      },
    ]);
  });
});
