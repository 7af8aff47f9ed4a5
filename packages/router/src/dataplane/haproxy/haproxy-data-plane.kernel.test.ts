import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { haproxyConfig } from './haproxy-config.ts';
import type { HaproxyDataPlane } from './haproxy-data-plane.ts';
import { HaproxyFiles } from './haproxy-files.ts';
import { HaproxyHost } from './testing/haproxy-host.ts';

const FULL = 256;

describe('HAProxy, driven at run time', () => {
  let host: HaproxyHost;
  let plane: HaproxyDataPlane;

  beforeEach(async () => {
    host = HaproxyHost.create();
    plane = host.plane();
    await plane.start(host.handlers);
    await host.startHaproxy();
  });
  afterEach(() => host.close());

  async function connections(count: number): Promise<void> {
    for (let i = 0; i < count; i += 1) await host.connect();
  }

  it.each([
    ['fails /readyz from the first moment', 500, 'good'],
    ['has a certificate of another CA', 200, 'otherCa'],
    ['has a certificate for another name', 200, 'otherName'],
  ] as const)('sends nothing to a member that %s', async (_, status, certificate) => {
    const good = await host.member(11);
    const bad = await host.member(12, () => status, certificate);
    await host.serve(plane, [{ nextHop: good, weight: FULL }]);
    plane.setNextHops(
      new Map([
        [
          host.prefix,
          [
            { nextHop: good, weight: FULL },
            { nextHop: bad, weight: FULL },
          ],
        ],
      ]),
    );
    const lineOf = async (): Promise<string> => {
      const lines = (await host.ask('show stat -1 4 -1')).split('\n');
      return lines.find((line) => line.includes(`,${bad},`)) ?? '';
    };
    await expect.poll(lineOf).toMatch(/L7OKC|L6RSP/);
    await connections(20);
    // Also after a reload, and to one that comes with it.
    const comes = await host.member(13, () => status, certificate);
    const before = await host.pid();
    const second = { ...host.vip, address: host.vip.address.replace(/\d+$/, '101') };
    plane.setVips([host.vip, second]);
    plane.setNextHops(
      new Map([[host.prefix, [good, bad, comes].map((nextHop) => ({ nextHop, weight: FULL }))]]),
    );
    const isReloaded = async (): Promise<boolean> => {
      await host.connect();
      return (await host.pid()) !== before;
    };
    await expect.poll(isReloaded, { timeout: 10_000, interval: 1 }).toBe(true);
    await connections(20);
    await expect.poll(() => host.ask('show servers state')).toContain(` ${comes} `);
    await connections(20);
    expect([bad, comes].map((member) => host.requests.get(member))).toEqual([undefined, undefined]);
    const until = host.requests.get(good) ?? 0;
    // Also when HAProxy starts by itself.
    await host.killHaproxy();
    await host.startHaproxy();
    await expect.poll(() => plane.forwarding(host.prefix), { timeout: 5000 }).toEqual([good]);
    await connections(20);
    expect([bad, comes].map((member) => host.requests.get(member))).toEqual([undefined, undefined]);
    expect(host.requests.get(good)).toBe(until + 20);
    await expect
      .poll(() => host.dissents, { timeout: 5000 })
      .toContainEqual([
        bad,
        expect.stringMatching(/^HAProxy says (NOLB|DOWN): L.*; the health check passes$/),
      ]);
    const share = plane.status().vips[0]?.members.find(({ nextHop }) => nextHop === bad);
    expect(share).toMatchObject({ connections: 0, check: { passes: false }, share: 0 });
  });

  it('serves those that are not ready when there are no others, until one is', async () => {
    let status = 200;
    const members = [await host.member(11, () => status), await host.member(12, () => status)];
    await host.serve(
      plane,
      members.map((nextHop) => ({ nextHop, weight: FULL })),
    );
    status = 500;
    await expect.poll(() => host.ask('show stat -1 4 -1'), { timeout: 5000 }).toContain(',no check,');
    expect(members).toContain(await host.connect());
    status = 200;
    await expect.poll(() => host.ask('show stat -1 4 -1'), { timeout: 15_000 }).not.toContain(',no check,');
    expect(members).toContain(await host.connect());
  }, 30_000);

  it('keeps what a drained member has, and gives it nothing new', async () => {
    const [first, second] = [await host.member(11), await host.member(12)];
    await host.serve(plane, [
      { nextHop: first, weight: FULL },
      { nextHop: second, weight: 1 },
    ]);
    await connections(20);
    expect(host.requests.get(second)).toBeUndefined();
    // Alone it serves: nothing else does.
    await host.serve(plane, [{ nextHop: second, weight: 1 }]);
    expect(await host.connect()).toBe(second);
  });

  it.each([
    ['deleted', ['set server X state maint', 'del server X']],
    ['put into maintenance', ['set server X state maint']],
    ['given another weight', ['set server X weight 3']],
    ['not checked any more', ['disable health X']],
  ] as const)('shows a member that was %s by hand, and puts it right with one event', async (_, commands) => {
    const member = await host.member(11);
    await host.serve(plane, [{ nextHop: member, weight: FULL }]);
    await expect.poll(() => host.connect()).toBe(member);
    const before = host.repaired.length;
    // Nothing repairs while it is stopped: what there is to be repaired is shown.
    await plane.stop();
    for (const command of commands)
      await host.ask(command.replace('X', `members-${host.vip.address}/${member}`));
    expect(await plane.differences()).toMatchObject([{ vip: host.prefix, object: 'server' }]);
    const next = host.plane();
    expect((await next.start(host.handlers)).size).toBe(1);
    await host.serve(next, [{ nextHop: member, weight: FULL }]);
    await expect.poll(() => next.forwarding(host.prefix)).toEqual([member]);
    for (const command of commands)
      await host.ask(command.replace('X', `members-${host.vip.address}/${member}`));
    await expect.poll(() => host.repaired.length, { timeout: 5000 }).toBe(before + 1);
    // A member that was deleted is back when it has passed its check.
    await expect.poll(() => next.forwarding(host.prefix), { timeout: 5000 }).toEqual([member]);
    expect(await next.differences()).toEqual([]);
    expect(await host.connect()).toBe(member);
  });

  it('leaves a configuration that HAProxy refuses where nothing reads it', async () => {
    const files = new HaproxyFiles(host.paths, 'haproxy');
    const before = readFileSync(host.paths.configFile, 'utf8');
    const write = files.write({ config: `${before}  no such words\n`, state: '1\n', ca: undefined });
    await expect(write).rejects.toThrow(/HAProxy refuses its configuration: .*negation/);
    expect(readFileSync(host.paths.configFile, 'utf8')).toBe(before);
  });

  it('has its own exporter for Prometheus, and nothing else there', async () => {
    const member = await host.member(11);
    await host.serve(plane, [{ nextHop: member, weight: FULL }]);
    await plane.stop();
    const at = { host: host.vip.address.replace(/\d+$/, '50'), port: 8405 };
    const next = host.plane({ exporter: at });
    await next.start(host.handlers);
    await host.serve(next, [{ nextHop: member, weight: FULL }]);
    const url = `http://${at.host}:${at.port}`;
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const labels = `proxy="members-${host.vip.address}",server="${member}"`;
    expect(metrics).toMatch(new RegExp(`haproxy_server_status\\{${labels},state="UP"\\} 1`));
    expect(metrics).toContain(`haproxy_server_current_sessions{${labels}} 0`);
    expect((await fetch(`${url}/stats`)).status).toBe(404);
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(404);
  });

  it('is written with IPv6 addresses as HAProxy reads them', async () => {
    const vips = [
      { address: '2001:db8::100', port: 443, machinePort: 6443 },
      { address: '192.0.2.100', port: 6443, machinePort: 6443 },
    ];
    const check = {
      path: '/readyz',
      serverName: 'kubernetes',
      interval: 1000,
      timeout: 1000,
      rise: 2,
      fall: 3,
    };
    const settings = {
      vips,
      check,
      paths: host.paths,
      ca: undefined,
      maxConnections: 500,
      idleTimeout: 60_000,
      userTimeout: 30_000,
      hardStopAfter: 60_000,
    };
    const members = new Map([['2001:db8::100', [{ member: '2001:db8::11', port: 6443 }]]]);
    const config = haproxyConfig(settings, members);
    expect(config).toContain('bind [2001:db8::100]:443 transparent');
    expect(config).toContain('server 2001:db8::11 [2001:db8::11]:6443 ');
    const files = new HaproxyFiles(host.paths, 'haproxy');
    await expect(files.write({ config, state: '1\n', ca: undefined })).resolves.toBeUndefined();
  });
});
