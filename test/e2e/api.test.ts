import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, vipAddress } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import { addresses, startCluster, waitForAllActive } from '../kit/cluster.ts';
import { httpOn, textFrom } from '../kit/host-http.ts';
import { parseMetrics } from '../kit/router-view.ts';

const program = fileURLToPath(new URL('../../dist/bgp-lb-router.mjs', import.meta.url));
const any = { string: expect.any(String), boolean: expect.any(Boolean), number: expect.any(Number) };

describe('the HTTP API of both daemons', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 2, controlPlane: 'stand-in' });
    await waitForAllActive(lab);
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it('has the router say what tools depend on, in exactly this shape', async () => {
    const member = (address: string): object => ({
      name: address,
      nextHop: address,
      state: 'active',
      inPool: true,
      weight: 256,
      session: 'Established',
      bfd: any.string,
      health: 'passing',
      reason: '',
    });
    expect(await lab.lb.router.status()).toMatchObject({
      routerId: lab.lb.address,
      asn: localAsn,
      vips: [
        {
          vip: `${vipAddress}/32`,
          endpoint: `${vipAddress}:6443`,
          ready: true,
          status: '2 of 2 members healthy',
          members: [member('10.0.0.11'), member('10.0.0.12')],
        },
      ],
    });
  });

  it('has the router say why a member is out', async () => {
    await lab.master(2).setApiServer('closed');
    const status = await lab.lb.router.waitFor('m2 out', ({ vips }) =>
      vips.some(({ members }) => members.some(({ state }) => state === 'out')),
    );
    expect(status.vips[0]).toMatchObject({ ready: true, status: '1 of 2 members healthy' });
    const out = status.vips[0]?.members.find(({ inPool }) => !inPool);
    expect(out).toMatchObject({ nextHop: '10.0.0.12', weight: 0, reason: expect.stringMatching(/\w+ \w+/) });
    await lab.master(2).setApiServer('ready');
    await waitForAllActive(lab);
  });

  it('has the speaker say what tools depend on, in exactly this shape', async () => {
    const status = await lab.master(2).speaker.status();
    expect(status).toMatchObject({
      role: 'join',
      vips: [{ vip: `${vipAddress}/32`, state: 'advertised', reason: any.string }],
      routers: [{ address: lab.lb.address, session: 'Established' }],
    });
    for (const name of ['bootstrap', 'readyz']) {
      expect(status.gates).toContainEqual({ name, pass: true, detail: any.string, sinceMs: any.number });
    }
  });

  const listeners = (): [string, Host, number, string][] => [
    ['router', lab.lb, 9474, lab.lb.router.socketPath],
    ['speaker', lab.master(1), 9475, lab.master(1).speaker.socketPath],
  ];

  describe.each([
    ['router', 0],
    ['speaker', 1],
  ])('of the %s', (_name, index) => {
    const listener = (): { host: Host; port: number; socket: string } => {
      const [, host, port, socket] = listeners()[index] ?? [];
      if (host === undefined || port === undefined || socket === undefined) throw new Error('no such daemon');
      return { host, port, socket };
    };
    const get = (path: string, more: object = {}): ReturnType<typeof httpOn> =>
      httpOn(listener().host, { host: '127.0.0.1', port: listener().port, path, ...more });

    it('answers the same on TCP and on the socket', async () => {
      expect(await get('/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
      expect(await get('/readyz')).toMatchObject({ status: 200 });
      const overTcp = JSON.parse((await get('/api/v1/status')).body) as object;
      const overSocket = JSON.parse(await textFrom(listener().socket, '/api/v1/status')) as object;
      expect(Object.keys(overTcp)).toEqual(Object.keys(overSocket));
    });

    it('answers an unknown path with 404 and JSON', async () => {
      const { status, body } = await get('/api/v1/nothing');
      expect(status).toBe(404);
      expect(JSON.parse(body)).toMatchObject({ error: any.string });
    });

    it('changes nothing for whoever comes by TCP', async () => {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        expect((await get('/api/v1/status', { method })).status).toBeGreaterThanOrEqual(403);
      }
    });

    it('refuses a name that is not its own: a page of another site could read it otherwise', async () => {
      expect(
        (await get('/api/v1/status', { headers: { host: 'attacker.example' } })).status,
      ).toBeGreaterThanOrEqual(400);
      expect(
        (await get('/api/v1/status', { headers: { host: `localhost:${listener().port}` } })).status,
      ).toBe(200);
    });

    it('listens on loopback only', async () => {
      const { host, port } = listener();
      expect(await httpOn(host, { host: host.address, port })).toMatchObject({ error: 'ECONNREFUSED' });
    });

    it('has metrics that promtool finds no fault with', async () => {
      const input = await textFrom(listener().socket, '/metrics');
      const { code, stdout, stderr } = await tryCommand(['promtool', 'check', 'metrics'], { input });
      expect({ code, said: `${stdout}${stderr}` }).toEqual({ code: 0, said: '' });
    });

    it('has metrics of its own name, each with help and type, in the exposition format', async () => {
      const text = await textFrom(listener().socket, '/metrics');
      const samples = parseMetrics(text);
      const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
        name,
        type,
      }));
      expect(families.length).toBeGreaterThan(10);
      for (const { name, type } of families) {
        expect(name).toMatch(/^bgp_lb_/);
        expect(text).toContain(`# HELP ${name} `);
        if (type === 'counter') expect(name).toMatch(/_total$/);
        if (type === 'histogram') expect(name).toMatch(/_(seconds|bytes)$/);
      }
      // Every sample belongs to a family that was declared.
      const declared = new Set(families.map(({ name }) => name));
      for (const sample of samples.keys()) {
        const name = sample.replace(/\{.*/, '');
        const isDeclared = declared.has(name) || declared.has(name.replace(/_(bucket|sum|count)$/, ''));
        expect(isDeclared, sample).toBe(true);
      }
    });
  });

  it('counts in the metrics what the status says', async () => {
    const samples = parseMetrics(await textFrom(lab.lb.router.socketPath, '/metrics'));
    const vip = `${vipAddress}/32`;
    expect(samples.get(`bgp_lb_router_pool_members{vip="${vip}",state="active"}`)).toBe(2);
    expect(samples.get(`bgp_lb_router_vip_forwarding{vip="${vip}"}`)).toBe(1);
    expect(samples.get('bgp_lb_router_sessions{role="master",state="Established"}')).toBe(2);
    for (const master of addresses(lab.masters)) {
      const labels = `neighbor="${master}",role="master"`;
      expect(samples.get(`bgp_lb_router_bgp_session_established{${labels}}`)).toBe(1);
    }
    expect(samples.get('bgp_lb_router_drain{phase="none"}')).toBe(1);
    expect([...samples.keys()].filter((name) => name.startsWith('bgp_lb_build_info{'))).toHaveLength(1);
    const shares = [...samples].filter(([name]) => name.startsWith('bgp_lb_router_member_bucket_share'));
    expect(shares.reduce((sum, [, share]) => sum + share, 0)).toBeCloseTo(1, 5);
  });

  it('has the router write BGP messages as MRT, the kept ones and those to come, and bgpdump reads them', async () => {
    const { lb } = lab;
    const mrt = (...args: string[]): string =>
      [process.execPath, program, 'mrt', '--socket', lb.router.socketPath, ...args].join(' ');
    const read = async (name: string): Promise<string> => {
      const { stdout, stderr } = await tryCommand(['bgpdump', '-m', lb.path(name)]);
      expect(stderr).not.toContain('error');
      return stdout;
    };
    const [first, second] = addresses(lab.masters);
    await lb.exec(['sh', '-c', `exec ${mrt()} > kept.mrt`]);
    const kept = await read('kept.mrt');
    for (const master of [first, second]) {
      const text = `\\|A\\|${master}\\|${localAsn}\\|${vipAddress}/32\\|\\|IGP\\|${master}\\|100\\|`;
      expect(kept).toMatch(new RegExp(`^BGP4MP_ET\\|\\d+\\.\\d{6}${text}`, 'm'));
    }
    // What is reflected has path identifiers, and was sent.
    expect(kept).toMatch(new RegExp(`^BGP4MP_ET_AP\\|.*\\|${vipAddress}/32\\|\\d+\\|`, 'm'));

    const follow = mrt('--follow', '--neighbor', second ?? '');
    const follower = lb.spawn('mrt', ['sh', '-c', `exec ${follow} > followed.mrt`]);
    try {
      await expect.poll(() => statSync(lb.path('followed.mrt')).size, { timeout: 20_000 }).toBeGreaterThan(0);
      await lab.master(2).setApiServer('closed');
      await expect
        .poll(() => read('followed.mrt'), { timeout: 30_000 })
        .toMatch(new RegExp(`\\|W\\|${second}\\|${localAsn}\\|${vipAddress}/32$`, 'm'));
      expect(await read('followed.mrt')).not.toContain(`|A|${first}|`);
    } finally {
      await follower.stop();
      await lab.master(2).setApiServer('ready');
      await waitForAllActive(lab);
    }
  });
});
