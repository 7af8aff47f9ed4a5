import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientCalls } from '../../scripts/lab/client-calls.ts';
import type { CheckResult, OpenResult } from '../../scripts/lab/client-protocol.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { ComposeLab, everyMaster, frrMaster, masters, vip } from './compose-lab.ts';

const routers = ['router-1', 'router-2'] as const;
const uplinks = ['10.77.1.10', '10.77.1.20'];
const target = { host: vip, port: 6443, caFile: '/shared/ca.crt' };
const connections = 60;
const clientAddress = '10.77.2.2';

describe('docker-compose.yml with FRR as upstream router and as a master', () => {
  let lab: ComposeLab;
  let client: ClientCalls;

  beforeAll(async () => {
    lab = await ComposeLab.start();
    client = await lab.client();
    for (const router of routers) await lab.waitForPool(router, everyMaster);
  }, 20 * 60_000);
  afterAll(async () => {
    await lab?.stop();
  }, 5 * 60_000);

  const open = async (): Promise<OpenResult> => {
    await client.call('closeAll', {});
    return client.call('open', {
      target,
      count: connections,
      exchangeEvery: 1_000,
      connectTimeout: 10_000,
      exchange: 'lines',
    });
  };
  const check = (): Promise<CheckResult> => client.call('check', { timeout: 10_000 });
  const waitForHealth = (service: string, state: string): Promise<unknown> =>
    waitUntil(async () => (await lab.health(service)) === state, {
      what: `${service} ${state}`,
      timeoutMs: 60_000,
      everyMs: 500,
      detail: () => lab.log(service),
    });

  it('makes the VIP appear in the upstream router, with ECMP over both load balancers in its kernel', async () => {
    await lab.waitForVipGateways(uplinks);
    const { paths } = JSON.parse(await lab.vtysh('upstream', `show bgp ipv4 unicast ${vip}/32 json`)) as {
      paths: readonly { multipath?: boolean; aspath: { string: string } }[];
    };
    expect(paths).toHaveLength(2);
    expect(paths.every(({ multipath }) => multipath === true)).toBe(true);
    expect(paths.map(({ aspath }) => aspath.string)).toEqual(['64512', '64512']);
  });

  it('is healthy by the own /readyz of each daemon', async () => {
    const services = [...routers, ...masters.flatMap(({ containers }) => containers[1])];
    for (const service of services) await waitForHealth(service, 'healthy');
  });

  it('runs a speaker with the privileges of its static pod, the default seccomp profile included', async () => {
    const { containers } = masters[0];
    const [, speaker] = containers;
    // `builtin` (`default` before Docker 23) is what a container gets that asks for nothing else: RuntimeDefault to a kubelet.
    expect(await lab.docker(['info', '--format', '{{json .SecurityOptions}}'])).toMatch(
      /"name=seccomp,profile=(builtin|default)"/,
    );
    const { options, process } = await lab.confinement(speaker);
    expect(options).toEqual(['no-new-privileges:true']);
    // 2 is a filter (proc(5)); CAP_NET_ADMIN is capability 12.
    expect(process).toMatch(/^Seccomp:\s+2$/m);
    expect(process).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(process).toMatch(/^Uid:\s+0\s+0\s+0\s+0$/m);
    for (const set of ['CapPrm', 'CapEff', 'CapBnd'])
      expect(process).toMatch(new RegExp(`^${set}:\\s+0000000000001000$`, 'm'));
    await waitUntil(async () => (await lab.speakerStatus(speaker)).routers.every(({ bfd }) => bfd === 'Up'), {
      what: 'BFD of the speaker with both routers',
      timeoutMs: 60_000,
      everyMs: 500,
    });
    const status = await lab.speakerStatus(speaker);
    expect(status).toMatchObject({
      vips: [{ state: 'advertised', bound: true }],
      routers: [
        { session: 'Established', password: true },
        { session: 'Established', password: true },
      ],
      bfd: { missing: [] },
      kernel: { fault: null },
    });
    // The profile lets it ask, and the capability that it has not is why it gets nothing.
    expect(status.bfd.scheduling).toMatch(/^ordinary\b.*EPERM/);
    expect(await lab.exec(speaker, ['ip', '-o', 'address', 'show', 'dev', 'lo'])).toContain(`${vip}/32`);
    const table = await lab.exec(speaker, ['nft', 'list', 'table', 'inet', 'bgp_lb_speaker']);
    expect(table).toContain('reject with tcp reset');
    // All that clients have of it goes through the mapping: its API server listens on no other port.
    expect(table).toMatch(/tcp dport @mapped4 dnat (ip )?to :6444/);
    expect(table).toMatch(new RegExp(`elements = \\{ ${vip.replaceAll('.', '\\.')} \\. 6443\\b`));
  });

  it('serves clients by every master, FRR’s too', async () => {
    // One that came into the pool after the others gets its share as buckets fall idle.
    await waitUntil(
      async () => {
        const { opened, byMaster } = await open();
        expect(opened).toBe(connections);
        return Object.keys(byMaster).length === everyMaster.length;
      },
      { what: 'connections to every master', timeoutMs: 150_000, everyMs: 2_000 },
    );
  });

  it('resets what a drain leaves, and that alone, with these privileges too (SOCK_DESTROY)', async () => {
    const { name, containers } = masters[0];
    const [, speaker] = containers;
    const { byMaster } = await open();
    const own = byMaster[name] ?? 0;
    expect(own).toBeGreaterThan(0);
    const command = (...args: string[]): Promise<string> =>
      lab.exec(speaker, ['node', '/opt/bgp-lb/bgp-lb-speaker.mjs', ...args]);
    try {
      // Counted are those that the kernel has reset, not those that were there.
      const drained = JSON.parse(await command('drain', '--timeout', '1s', '-o', 'json')) as object;
      expect(drained).toMatchObject({ isDone: true, reset: [{ count: own, clients: [clientAddress] }] });
      expect(await check()).toMatchObject({
        alive: connections - own,
        brokenByMaster: { [name]: own },
        reasons: { ECONNRESET: own },
      });
    } finally {
      await command('undrain');
    }
    for (const router of routers) await lab.waitForPool(router, everyMaster);
  });

  it('signs its sessions with FRR by TCP-MD5: with another password there is none', async () => {
    for (const address of uplinks) {
      expect(await lab.neighbor('upstream', address)).toMatchObject({
        bgpState: 'Established',
        authenticationEnabled: 1,
      });
    }
    const password = (await lab.exec('upstream', ['cat', '/shared/bgp-password'])).trim();
    const setPassword = (text: string): Promise<string> =>
      lab.vtysh('upstream', 'configure terminal', 'router bgp 65001', `neighbor lb password ${text}`);
    await setPassword('not-the-password');
    await lab.waitForVipGateways([]);
    const before = await md5Failures(lab);
    await waitUntil(async () => (await md5Failures(lab)) > before, {
      what: 'segments with the wrong signature',
      timeoutMs: 30_000,
      everyMs: 200,
    });
    expect((await lab.neighbor('upstream', '10.77.1.10')).bgpState).not.toBe('Established');
    await setPassword(password);
    await lab.waitForVipGateways(uplinks);
  });

  it('loses only the connections to a master that is killed, and none when it is back', async () => {
    const { byMaster: before } = await open();
    const [victim] = masters.toSorted((a, b) => (before[b.name] ?? 0) - (before[a.name] ?? 0));
    if (victim === undefined) throw new Error('there is no master');
    await lab.change(['kill'], [...victim.containers].reverse());
    for (const router of routers) {
      const others = everyMaster.filter((each) => each !== victim);
      await lab.waitForPool(router, others);
    }
    const { brokenByMaster, alive } = await check();
    expect(brokenByMaster).toEqual({ [victim.name]: before[victim.name] });
    expect(alive).toBe(connections - (before[victim.name] ?? 0));
    await open();
    await lab.change(['start'], victim.containers);
    for (const router of routers) await lab.waitForPool(router, everyMaster);
    expect(await check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it('takes a master that FRR announces out as soon as FRR withdraws it', async () => {
    const announce = (line: string): Promise<string> =>
      lab.vtysh(
        ...['frr-master', 'configure terminal', 'router bgp 64512', 'address-family ipv4 unicast', line],
      );
    await announce(`no network ${vip}/32`);
    for (const router of routers) await lab.waitForPool(router, masters);
    await announce(`network ${vip}/32`);
    for (const router of routers) await lab.waitForPool(router, everyMaster);
  });

  it('has HAProxy beside a router of its own, with the masters by name; each ends and starts without the other', async () => {
    const pair = ['lb-3', 'haproxy', 'router-3'];
    await lab.compose(['--profile', 'haproxy', 'build', 'haproxy'], 5 * 60_000);
    await lab.compose(['--profile', 'haproxy', 'up', '-d', '--no-deps', ...pair], 2 * 60_000);
    const names = masters.map(({ name }) => name);
    // Which of them answered, by the name in its certificate, on so many new connections.
    const served = async (count: number): Promise<string[]> => {
      const script = `
        const { connect } = require('node:tls');
        const options = { host: '10.77.2.100', port: 443, servername: 'kubernetes', ca: require('node:fs').readFileSync('/shared/ca.crt') };
        const one = () => new Promise((resolve) => {
          const socket = connect(options, () => { resolve(socket.getPeerCertificate().subjectaltname); socket.destroy(); });
          socket.on('error', (error) => resolve(error.code));
        });
        (async () => { for (let n = 0; n < ${count}; n += 1) console.log(await one()); })();`;
      const said = (await lab.exec('client', ['node', '-e', script])).trim().split('\n');
      return said.map((text) => names.find((name) => text.includes(`DNS:${name}`)) ?? text);
    };
    const waitForAll = (): Promise<unknown> =>
      waitUntil(
        async () =>
          new Set(await served(6)).size === 3 && (await served(6)).every((name) => names.includes(name)),
        {
          what: 'all masters by HAProxy',
          timeoutMs: 90_000,
          everyMs: 500,
          detail: async () => `${await lab.log('router-3')}\n${await lab.log('haproxy')}`,
        },
      );
    await waitForAll();
    await lab.change(['kill'], ['router-3']);
    const answers = await served(30);
    expect(answers.filter((name) => !names.includes(name))).toEqual([]);
    expect(new Set(answers)).toEqual(new Set(names));
    await lab.change(['restart', '--time', '1'], ['haproxy']);
    await waitForAll();
    await lab.change(['start'], ['router-3']);
    await waitForAll();
    await lab.change(['rm', '--force'], pair.toReversed());
  });

  it('goes on by the other load balancer when one is killed', async () => {
    await lab.change(['kill'], ['router-1']);
    await lab.waitForVipGateways(['10.77.1.20']);
    expect((await open()).opened).toBe(connections);
    await lab.change(['start'], ['router-1']);
    await lab.waitForVipGateways(uplinks);
  });

  it('makes the VIP vanish from the upstream router with the last API server, and appear with the first', async () => {
    const apiServers = [...masters.map(({ containers }) => containers[0]), frrMaster.containers[1]];
    await lab.change(['kill'], apiServers);
    await lab.waitForVipGateways([]);
    const { opened } = await open();
    expect(opened).toBe(0);
    const [first] = masters;
    await lab.change(['start'], [first.containers[0]]);
    await lab.change(['restart', '--time', '1'], [first.containers[1]]);
    await lab.waitForVipGateways(uplinks);
    for (const router of routers) await lab.waitForPool(router, [first]);
    expect(await open()).toEqual({
      ...{ opened: connections, failed: 0, failures: {} },
      byMaster: { [first.name]: connections },
    });
  });
});

/** TCPMD5Failure and its kin on the upstream router (SNMP counters of Linux, /proc/net/netstat). */
async function md5Failures(lab: ComposeLab): Promise<number> {
  const text = await lab.exec('upstream', ['cat', '/proc/net/netstat']);
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '));
  return ['TCPMD5NotFound', 'TCPMD5Unexpected', 'TCPMD5Failure']
    .map((name) => Number(values[names.indexOf(name)]))
    .reduce((sum, count) => sum + count, 0);
}
