/** The alert rules that we ship, in a real Prometheus: each fires by its fault, and no other does. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { type AlertWatch, rulesFile, startPrometheus } from '../kit/alert-watch.ts';
import { heal, startCluster } from '../kit/cluster.ts';
import { textFrom } from '../kit/host-http.ts';
import { parseMetrics } from '../kit/router-view.ts';

describe('the alert rules', () => {
  let lab: Lab;
  let alerts: AlertWatch;

  beforeAll(async () => {
    lab = await startCluster({
      masters: 3,
      upstream: 'frr',
      speaker: { api: { listen: '0.0.0.0:9475' } },
      router: { pool: { evictAfter: '2s' } },
    });
    alerts = startPrometheus(lab.lb, {
      'bgp-lb-router': ['127.0.0.1:9474'],
      'bgp-lb-speaker': lab.masters.map(({ address }) => `${address}:9475`),
    });
    await waitUntil(() => alerts.firing() !== undefined, { what: 'Prometheus answers', timeoutMs: 30_000 });
    await fires([], 20_000);
  }, 120_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  async function fires(names: readonly string[], timeoutMs = 40_000): Promise<void> {
    const wanted = JSON.stringify([...names].sort());
    await waitUntil(() => JSON.stringify(alerts.firing()) === wanted, {
      what: `exactly these fire: ${wanted}`,
      timeoutMs,
      detail: () => JSON.stringify(alerts.changes().slice(-8)),
    });
  }

  it('pass promtool, and ask for metrics alone that a router or a speaker has', async () => {
    const { code, stderr, stdout } = await tryCommand(['promtool', 'check', 'rules', rulesFile]);
    expect({ code, said: `${stderr}` }, stdout).toEqual({ code: 0, said: '' });
    const [router, speaker] = await Promise.all(
      [lab.lb.router, lab.master(1).speaker].map(({ socketPath }) => textFrom(socketPath, '/metrics')),
    );
    const known = [...`${router}${speaker}`.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    const asked = new Set(readFileSync(rulesFile, 'utf8').match(/\bbgp_lb_[a-z_]+\b/g));
    expect([...asked].filter((name) => !known.includes(name))).toEqual([]);
    expect(parseMetrics(router ?? '').get('bgp_lb_router_vip_forwarding{vip="10.100.0.1/32"}')).toBe(1);
  });

  interface Fault {
    readonly what: string;
    readonly alerts: readonly string[];
    readonly cause: () => Promise<unknown>;
    readonly end: () => Promise<unknown>;
  }
  const client = (): string => lab.client.address;
  const onMasters = (command: readonly string[]): Promise<unknown> =>
    Promise.all(lab.masters.map((master) => master.exec(command)));
  const faults: readonly Fault[] = [
    {
      what: 'an API server that is not ready',
      alerts: ['BgpLbMemberOut', 'BgpLbApiServerNotReady'],
      cause: () => lab.master(3).setApiServer('not-ready', ['etcd']),
      end: () => lab.master(3).setApiServer('ready'),
    },
    {
      what: 'two dead masters of three',
      alerts: ['BgpLbPoolSmall'],
      cause: () => Promise.all([2, 3].map((number) => lab.master(number).disconnect())),
      end: () => Promise.all([2, 3].map((number) => lab.master(number).reconnect())),
    },
    {
      what: 'no API server at all',
      alerts: ['BgpLbVipNotForwarded', 'BgpLbApiServerNotReady'],
      cause: () => Promise.all(lab.masters.map((master) => master.apiServer?.kill())),
      end: () => heal(lab),
    },
    {
      what: 'an upstream that has lost its daemon',
      alerts: ['BgpLbNeighborDown', 'BgpLbVipNotAdvertised'],
      cause: () => lab.upstream.frr.stop(),
      end: () => lab.upstream.startFrr(),
    },
    {
      what: 'a route that somebody deletes',
      alerts: ['BgpLbDataPlaneDrift'],
      cause: () => lab.lb.exec(['ip', 'route', 'delete', '10.100.0.1/32', 'metric', '84']),
      end: () => Promise.resolve(),
    },
    {
      what: 'a reload that is refused',
      alerts: ['BgpLbReloadRefused'],
      cause: () => {
        lab.lb.writeConfig({ pool: { panicThreshold: 7 } });
        return lab.lb.router.query(['reload']);
      },
      end: () => {
        lab.lb.writeConfig();
        return lab.lb.router.query(['reload']);
      },
    },
    {
      what: 'a drain that was forgotten',
      alerts: ['BgpLbDrainForgotten'],
      cause: () => lab.lb.router.query(['drain']),
      end: () => lab.lb.router.query(['undrain']),
    },
    {
      what: 'masters that answer the health check and no client',
      alerts: ['BgpLbClientsNotServed'],
      cause: async () => {
        await onMasters([
          'nft',
          `add table ip mute { chain input { type filter hook input priority 0; ip saddr ${client()} drop; }; }`,
        ]);
        await lab.client.startLoop({ every: 20 });
      },
      end: async () => {
        await onMasters(['nft', 'delete', 'table', 'ip', 'mute']);
        await waitUntil(() => alerts.firing()?.length === 0, {
          what: 'clients are served',
          timeoutMs: 60_000,
        });
        await lab.client.stopLoop();
      },
    },
    {
      what: 'a dead router',
      alerts: ['BgpLbRouterDown', 'BgpLbSpeakerSessionDown'],
      cause: () => lab.lb.router.kill(),
      end: () => lab.lb.router.start(),
    },
  ];

  it.each(faults)('tell of $what, by $alerts alone', async ({ alerts: wanted, cause, end }) => {
    const before = alerts.changes().length;
    await cause();
    await fires(wanted);
    await end();
    await heal(lab);
    await fires([]);
    const others = alerts
      .changes()
      .slice(before)
      .flat()
      .filter((name) => !wanted.includes(name));
    expect(others).toEqual([]);
  });
});
