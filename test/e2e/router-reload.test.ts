import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, upstreamAsn } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { BgpCapture } from '../kit/bgp-capture.ts';
import { addresses, startCluster, waitForAllActive } from '../kit/cluster.ts';
import { eventsSince, lastEvent, metricsOf, waitForEvent } from '../kit/router-view.ts';

const eventually = { timeout: 30_000, interval: 100 };

/** A session that is captured. */
interface Captured {
  readonly address: string;
  readonly session: 'internal' | 'external';
}

interface Neighbor {
  readonly name: string;
  readonly neighbor: string;
  readonly state: string;
  readonly establishedCount: number;
  readonly messages: { readonly sent: Record<string, number>; readonly received: Record<string, number> };
}

describe('a running router: reload and drain', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 2, upstream: 'frr', bfd: null, controlPlane: 'stand-in' });
    await waitForAllActive(lab);
    await lab.upstream.waitForVipRoute(true);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  const neighbors = async (): Promise<readonly Neighbor[]> =>
    (await lab.lb.router.request('GET', '/api/v1/neighbors')) as unknown as readonly Neighbor[];

  /** UPDATEs and NOTIFICATIONs by neighbor, and how often its session was established. */
  async function history(): Promise<Record<string, unknown>> {
    const all = await neighbors();
    return Object.fromEntries(
      all.map(({ name, establishedCount, messages: { sent, received } }) => [
        name,
        { establishedCount, sent: countOf(sent), received: countOf(received) },
      ]),
    );
  }
  /** The same, once nothing happens any more. */
  async function settledHistory(): Promise<Record<string, unknown>> {
    let last = await history();
    await expect
      .poll(
        async () => {
          const [before, now] = [last, await history()];
          last = now;
          return JSON.stringify(before) === JSON.stringify(now);
        },
        { ...eventually, interval: 500 },
      )
      .toBe(true);
    return last;
  }
  /** How often each session was established: none has ended where that is as it was. */
  async function sessions(): Promise<readonly unknown[]> {
    return (await neighbors()).map(({ name, state, establishedCount }) => ({
      name,
      state,
      establishedCount,
    }));
  }
  const countOf = ({ KEEPALIVE: _, ...others }: Record<string, number>): object => others;

  const upstream: JsonObject = {
    name: 'upstream',
    role: 'upstream',
    address: '10.0.1.1',
    asn: upstreamAsn,
    nextHop: 'self',
    holdTime: '9s',
  };

  /** The masters as they are, and these upstreams. */
  function write(...upstreams: readonly JsonObject[]): void {
    lab.lb.writeConfig({ neighbors: [...lab.lb.neighbors().slice(0, 1), ...upstreams] });
  }

  /** What FRR has of the VIP. */
  const upstreamView = async (): Promise<string> =>
    JSON.stringify(await lab.upstream.frr.show('show bgp ipv4 unicast 10.100.0.1/32 json'));

  const upstreamIsEstablished = () =>
    expect
      .poll(async () => (await neighbors()).find(({ name }) => name === 'upstream')?.state, eventually)
      .toBe('Established');

  /** What the metrics say of the last reload: whether it was taken, and when one was (seconds since the epoch). */
  async function lastReload(): Promise<{ wasGood: number | undefined; at: number }> {
    const metrics = await metricsOf(lab);
    const of = (name: string): number | undefined => metrics.get(`bgp_lb_router_config_last_reload_${name}`);
    return { wasGood: of('successful'), at: of('success_timestamp_seconds') ?? Number.NaN };
  }

  const reload = () => lab.lb.router.query(['reload', '-o', 'json']);

  /**
   * What is on the wire of these sessions from before `act` until the router has sent a KEEPALIVE on each after it: TCP keeps the
   * order, so that whatever the router had sent meanwhile is among it.
   */
  async function onTheWire(neighbors: readonly Captured[], act: () => Promise<void>): Promise<string[]> {
    const captures: BgpCapture[] = [];
    try {
      for (const { address, session } of neighbors) {
        captures.push(await BgpCapture.start(lab.lb, address, session));
      }
      await act();
      const done = Date.now();
      const isHeard = ({ messages }: BgpCapture): boolean =>
        messages.some(({ from, at, text }) => from === 'router' && at > done && text === 'KEEPALIVE');
      await expect.poll(() => captures.every(isHeard), eventually).toBe(true);
      return [...new Set(captures.flatMap(({ messages }) => messages.map(({ text }) => text)))];
    } finally {
      await Promise.all(captures.map((capture) => capture.stop()));
    }
  }
  const masters = (): Captured[] =>
    addresses(lab.masters).map((address) => ({ address, session: 'internal' }));

  it('sends nothing but KEEPALIVEs when nothing has changed, by SIGHUP and by the command', async () => {
    const before = await settledHistory();
    const sequence = await lastEvent(lab);
    const everybody: Captured[] = [...masters(), { address: '10.0.1.1', session: 'external' }];
    const said = await onTheWire(everybody, async () => {
      lab.lb.router.process?.signal('SIGHUP');
      await waitForEvent(lab, sequence, 'reloaded', ({ type }) => type === 'reloaded', 30_000);
      const { code, stdout } = await reload();
      expect({ code, changes: JSON.parse(stdout) }).toEqual({
        code: 0,
        changes: {
          added: [],
          removed: [],
          changed: [],
          updated: [],
          vips: { added: [], removed: [], changed: [] },
          settings: [],
        },
      });
    });
    expect(said).toEqual(['KEEPALIVE']);
    expect(await history()).toEqual(before);
  });

  it('probes members in another way, without a message to anybody', async () => {
    await settledHistory();
    const health = async (): Promise<readonly string[]> =>
      (await lab.lb.router.status()).vips.flatMap(({ members }) => members.map((member) => member.health));
    const said = await onTheWire(masters(), async () => {
      lab.lb.writeConfig({ healthCheck: { path: '/slow?ms=3000', fall: 1 } });
      expect(JSON.parse((await reload()).stdout)).toMatchObject({
        changed: [],
        settings: ['healthCheck.path', 'healthCheck.fall'],
      });
      await expect.poll(health, eventually).toEqual(['failing', 'failing']);
      // All of them fail: they are used on.
      expect(await lab.lb.pool()).toEqual(addresses(lab.masters));
      lab.lb.writeConfig();
      expect((await reload()).code).toBe(0);
      await expect.poll(health, eventually).toEqual(['passing', 'passing']);
    });
    expect(said).toEqual(['KEEPALIVE']);
  });

  it('tells an upstream of another MED in its session, and nobody else', async () => {
    await settledHistory();
    write({ ...upstream, med: 77 });
    const said = await onTheWire(masters(), async () => {
      expect(JSON.parse((await reload()).stdout)).toMatchObject({ updated: ['upstream'], changed: [] });
      await expect.poll(upstreamView, eventually).toMatch(/"metric":77/);
    });
    expect(said).toEqual(['KEEPALIVE']);
    expect((await history())['upstream']).toMatchObject({ establishedCount: 1 });
  });

  it('makes anew only the session of a neighbor whose settings changed', async () => {
    const before = await settledHistory();
    write({ ...upstream, holdTime: '30s' });
    const said = await onTheWire(masters(), async () => {
      expect(JSON.parse((await reload()).stdout)).toMatchObject({ changed: ['upstream'] });
      await upstreamIsEstablished();
      await lab.upstream.waitForVipRoute(true, 30_000);
    });
    expect(said).toEqual(['KEEPALIVE']);
    const after = await history();
    for (const address of addresses(lab.masters)) expect(after[address]).toEqual(before[address]);
  });

  it('removes and adds neighbors', async () => {
    write();
    expect(JSON.parse((await reload()).stdout)).toMatchObject({ removed: ['upstream'] });
    await lab.upstream.waitForVipRoute(false);
    write(upstream);
    expect(JSON.parse((await reload()).stdout)).toMatchObject({ added: ['upstream'] });
    await upstreamIsEstablished();
    await lab.upstream.waitForVipRoute(true, 30_000);
    expect(await lab.client.request()).toMatchObject({ ok: true });
  });

  it('leaves everything as it is for a bad file, and for what only a start takes, and says so', async () => {
    const sequence = await lastEvent(lab);
    const before = await sessions();
    const good = await lastReload();
    expect(good.wasGood).toBe(1);
    lab.lb.writeConfig({ asn: localAsn + 1 });
    const refused = await reload();
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/nothing was reloaded, since asn changed/);
    writeFileSync(lab.lb.router.configFile, '{ "asn": [');
    const bad = await reload();
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain(lab.lb.router.configFile);
    expect((await lastReload()).wasGood).toBe(0);
    lab.lb.writeConfig();
    expect(await sessions()).toEqual(before);
    expect((await reload()).code).toBe(0);
    const { wasGood, at } = await lastReload();
    expect(wasGood).toBe(1);
    expect(at).toBeGreaterThan(good.at);
    const events = await eventsSince(lab, sequence);
    expect(events.filter(({ type }) => type === 'reload-refused')).toHaveLength(2);
  });

  it('takes another password for masters without ending a session, and the next connection needs it', async () => {
    const before = await settledHistory();
    expect(Object.keys(before)).toContain(lab.master(2).address);
    writeFileSync(lab.lb.path('etc/bgp-password'), 'another\n', { mode: 0o600 });
    expect(JSON.parse((await reload()).stdout)).toMatchObject({ updated: ['masters'], changed: [] });
    expect(await history()).toEqual(before);
    const master = lab.master(2);
    await master.speaker.stop();
    writeFileSync(master.path('etc/bgp-password'), 'another\n', { mode: 0o600 });
    await master.startSpeaker();
    await waitForAllActive(lab);
  });

  it('takes another password for an upstream: its session goes on, and the next one needs it', async () => {
    const file = lab.lb.path('etc/upstream-password');
    const peer = `neighbor ${lab.lb.uplinkAddress}`;
    const rotate = (password: string): void => writeFileSync(file, `${password}\n`, { mode: 0o600 });
    const established = async () =>
      (await neighbors()).find(({ name, state }) => name === 'upstream' && state === 'Established')
        ?.establishedCount;
    const frr = (password: string) =>
      lab.upstream.frr.configure(`router bgp ${upstreamAsn}`, `${peer} password ${password}`);
    rotate('first');
    write({ ...upstream, passwordFile: file });
    expect(JSON.parse((await reload()).stdout)).toMatchObject({ changed: ['upstream'] });
    await frr('first');
    await expect.poll(established, eventually).toBe(1);
    rotate('second');
    expect(JSON.parse((await reload()).stdout)).toMatchObject({ changed: [], updated: ['upstream'] });
    expect(await established()).toBe(1);
    // FRR ends a session whose password changes.
    await frr('second');
    await expect.poll(established, eventually).toBe(2);
    await lab.upstream.frr.configure(`router bgp ${upstreamAsn}`, `no ${peer} password`);
    write(upstream);
    expect(JSON.parse((await reload()).stdout)).toMatchObject({ changed: ['upstream'] });
    await upstreamIsEstablished();
  });

  it('drain of the load balancer itself asks the upstream to prefer others, then withdraws, and undrain comes back', async () => {
    await upstreamIsEstablished();
    await lab.upstream.waitForVipRoute(true, 30_000);
    expect(await lab.client.open(20)).toMatchObject({ opened: 20 });
    const drain = lab.lb.router.query(['drain', '--wait', '5s']);
    await expect.poll(upstreamView, eventually).toMatch(/gracefulShutdown|graceful-shutdown/i);
    expect(await upstreamView()).toMatch(/"metric":4294967295/);
    expect(await drain).toMatchObject({ code: 0, stdout: expect.stringContaining('drained') });
    await lab.upstream.waitForVipRoute(false);
    expect(await lab.lb.pool()).toHaveLength(2);
    expect((await lab.lb.router.query(['undrain'])).code).toBe(0);
    await lab.upstream.waitForVipRoute(true);
    // What they asked while there was no way is asked again by TCP, later and later.
    expect(await lab.client.check(30_000)).toMatchObject({ alive: 20, broken: 0, reasons: {} });
    expect((await lab.lb.router.query(['drain', '--wait', 'soon'])).code).toBe(2);
  });
});
