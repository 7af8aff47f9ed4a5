import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { heal, startCluster } from '../kit/cluster.ts';
import { httpOn } from '../kit/host-http.ts';
import { echo } from '../kit/icmp-echo.ts';

const vipUrl = { protocol: 'https:', host: vipAddress, port: 6443, path: '/version' } as const;
/** Milliseconds: a round trip and a new process of Node, which a client that waits for an answer exceeds by far. */
const atOnce = 500;

/** Counts what passes a host's interfaces towards the VIP, from now on. */
async function countVipPackets(host: Host): Promise<() => Promise<number>> {
  const table = `table ip test_count {
    counter seen { }
    chain towards_vip { type filter hook prerouting priority -500; ip daddr ${vipAddress} counter name seen; }
  }\n`;
  await host.exec(['sh', '-c', 'nft delete table ip test_count 2>/dev/null; true']);
  await host.exec(['nft', '-f', '-'], { input: table });
  return async () => {
    const text = await host.exec(['nft', '-j', 'list', 'counters', 'table', 'ip', 'test_count']);
    const { nftables } = JSON.parse(text) as { nftables: { counter?: { packets: number } }[] };
    return nftables.find(({ counter }) => counter !== undefined)?.counter?.packets ?? Number.NaN;
  };
}

describe('a VIP without members', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in' });
    await lab.master(1).installCertificates();
    await lab.lb.router.start();
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it('refuses clients at once, each time', async () => {
    for (let i = 0; i < 20; i++) {
      const { ok, took, error } = await lab.client.request();
      expect({ ok, isQuick: took < atOnce, error }).toEqual({
        ok: false,
        isQuick: true,
        error: expect.stringMatching(/ECONNREFUSED|EHOSTUNREACH/),
      });
    }
  });

  it('is not a loop: a packet passes the LB once, and the upstream router once', async () => {
    // The upstream router routes the VIP to the LB: an LB that sent it back by its default route would make a loop.
    const [atLb, atUpstream] = await Promise.all([countVipPackets(lab.lb), countVipPackets(lab.upstream)]);
    const pings = 5;
    // How many of them are answered with an ICMP error is the kernel's rate limit.
    expect(await echo(lab.client, vipAddress, pings)).toMatchObject({ replies: 0 });
    expect(await atLb()).toBe(pings);
    expect(await atUpstream()).toBe(pings);
  });

  it('is not a loop while the router is not running either', async () => {
    await lab.lb.router.kill();
    const atLb = await countVipPackets(lab.lb);
    expect(await echo(lab.client, vipAddress, 3)).toMatchObject({ replies: 0 });
    expect(await atLb()).toBe(3);
    const { ok, took } = await lab.client.request();
    expect({ ok, isQuick: took < atOnce }).toEqual({ ok: false, isQuick: true });
    await lab.lb.router.start();
  });

  it('is unreachable from the LB itself, and not somewhere else', async () => {
    expect(await httpOn(lab.lb, vipUrl)).toMatchObject({ status: 0, error: 'EHOSTUNREACH' });
  });
});

describe('a VIP whose members lose the LB for a while', () => {
  it('refuses new clients at once, however many connections wait for the members', async () => {
    const lab = await startCluster({ masters: 2, controlPlane: 'stand-in' });
    try {
      await lab.client.open(200, { exchangeEvery: 100 });
      await Promise.all(lab.masters.map((master) => master.setApiServer('closed')));
      await lab.lb.waitForPool([]);
      for (let i = 0; i < 10; i++) {
        const { ok, took } = await lab.client.request();
        expect({ ok, isQuick: took < atOnce }).toEqual({ ok: false, isQuick: true });
      }
    } finally {
      await lab.destroy();
    }
  });
});

describe('what gets to a master by the VIP', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 2, controlPlane: 'stand-in' });
  });
  afterAll(async () => {
    await lab.destroy();
  });
  beforeEach(async () => {
    await heal(lab);
  });

  it('is reset at once when the master does not have the VIP: misdirected by a router that has not moved on', async () => {
    const victim = lab.master(2);
    await victim.setApiServer('closed');
    await lab.lb.waitForPool([lab.master(1).address]);
    await expect.poll(() => victim.hasVip()).toBe(false);
    const arrived = await countVipPackets(victim);
    const sent = await countVipPackets(lab.upstream);
    // The upstream router sends the client's packets straight to the master, as an LB would that is behind.
    await lab.upstream.exec(['ip', 'route', 'replace', `${vipAddress}/32`, 'via', victim.address]);
    try {
      const { status, error, took } = await httpOn(lab.client, vipUrl);
      expect({ status, error, isQuick: took < atOnce }).toEqual({
        status: 0,
        error: 'ECONNREFUSED',
        isQuick: true,
      });
      // One SYN, and not a second time around: the master's default route leads back to the upstream router.
      expect([await sent(), await arrived()]).toEqual([1, 1]);
    } finally {
      await lab.upstream.setStaticRoute();
    }
  });

  it('is the port of the VIP and no other: a listener beside the API server is out of reach', async () => {
    const port = 10_250;
    const listeners = lab.masters.map((master) =>
      master.spawn('listener', [
        process.execPath,
        '-e',
        `require('node:http').createServer((_, answer) => answer.end('${master.name}')).listen(${port})`,
      ]),
    );
    try {
      for (const master of lab.masters) {
        await expect
          .poll(() => httpOn(lab.client, { host: master.address, port }), { timeout: 5_000 })
          .toMatchObject({ status: 200, body: master.name });
      }
      const { status, error, took } = await httpOn(lab.client, { host: vipAddress, port });
      expect({ status, error, isQuick: took < atOnce }).toEqual({
        status: 0,
        error: 'ECONNREFUSED',
        isQuick: true,
      });
      const udp = await lab.client.exec([
        process.execPath,
        '-e',
        `const socket = require('node:dgram').createSocket('udp4');
         socket.connect(6443, '${vipAddress}', () => socket.send('x'));
         socket.on('error', (error) => { process.stdout.write(error.code); socket.close(); });
         setTimeout(() => process.exit(0), 2000).unref();`,
      ]);
      // ICMP administratively prohibited, which Linux reports as an unreachable host.
      expect(udp).toBe('EHOSTUNREACH');
    } finally {
      await Promise.all(listeners.map((listener) => listener.kill()));
    }
  });

  it('is ICMP too: the VIP answers a ping', async () => {
    expect(await echo(lab.client, vipAddress, 3)).toEqual({ replies: 3, unreachable: 0 });
  });

  it('is the client as it is, its address not translated', async () => {
    await lab.client.open(1);
    const sockets = await Promise.all(
      lab.masters.map((master) => master.exec(['ss', '-Htn', 'state', 'established', `src ${vipAddress}`])),
    );
    expect(sockets.join('')).toMatch(/\b10\.0\.2\.2\]?:/);
  });
});
