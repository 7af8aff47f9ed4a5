import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipOf } from '../../scripts/lab/addresses.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { KeepalivedPair } from '../kit/keepalived-pair.ts';

const TIMEOUT = 120_000;
const vips = [vipOf('ipv4'), vipOf('ipv6')];

describe('two load balancers with the kernel and keepalived', { timeout: TIMEOUT }, () => {
  let pair: KeepalivedPair;
  let first: LbHost;
  let second: LbHost;
  beforeAll(async () => {
    // What a test switches off is not to be switched on by the router.
    pair = await KeepalivedPair.create('kernel', { manageSysctls: false });
    ({ first, second } = pair);
    for (const lb of [first, second]) {
      await lb.writeSysctls({
        'net.ipv4.ip_forward': '1',
        'net.ipv6.conf.all.forwarding': '1',
        'net.ipv4.conf.all.send_redirects': '0',
        'net.ipv4.conf.eth0.send_redirects': '0',
        'net.ipv4.fib_multipath_hash_policy': '1',
        'net.ipv6.fib_multipath_hash_policy': '1',
        'net.ipv4.conf.all.src_valid_mark': '1',
      });
    }
    await Promise.all([first, second].map((lb) => lb.router.start()));
    await pair.ownedBy(first);
  }, TIMEOUT);
  afterAll(() => pair?.destroy());

  const served = (): Promise<unknown> =>
    waitUntil(async () => (await pair.lab.client.request({ timeout: 1_000 })).ok, {
      what: 'an answer',
      timeoutMs: 20_000,
      detail: () => first.router.process?.tail() ?? '',
    });

  it('have the VIPs on no interface, and exactly one answers for each', async () => {
    await served();
    for (const lb of [first, second]) {
      const addresses = await lb.exec(['ip', '-brief', 'address']);
      for (const vip of vips) expect(addresses).not.toContain(`${vip}/`);
    }
    for (const vip of vips) {
      const samples = await pair.sample(vip, 3_000);
      expect(samples).toMatchObject({ several: 0, owners: [await pair.linkAddress(first)] });
    }
  });

  it.each([
    [
      'forwarding is off',
      (lb: LbHost) => lb.writeSysctls({ 'net.ipv4.ip_forward': '0' }),
      (lb: LbHost) => lb.writeSysctls({ 'net.ipv4.ip_forward': '1' }),
    ],
    ['it has lost its carrier', (lb: LbHost) => lb.disconnect(), (lb: LbHost) => lb.reconnect()],
  ] as const)('the other answers within half a second where %s', async (_what, breaks, heals) => {
    const begun = Date.now();
    await breaks(first);
    expect((await pair.gotAt(second, begun)) - begun).toBeLessThan(500);
    const wanted = await pair.linkAddress(second);
    await expect.poll(() => pair.knownToClient(vips[0] ?? ''), { timeout: 2_000 }).toBe(wanted);
    await served();
    await heals(first);
    await pair.ownedBy(first, 30_000);
    await served();
  });

  it('the client follows the one that stays when both have announced the VIPs', async () => {
    const vip = vips[0] ?? '';
    await pair.part();
    const wrong = await pair.linkAddress(second);
    await expect.poll(() => pair.knownToClient(vip), { timeout: 5_000 }).toBe(wrong);
    const begun = Date.now();
    await pair.join();
    const wanted = await pair.linkAddress(first);
    await expect.poll(() => pair.knownToClient(vip), { timeout: 2_000 }).toBe(wanted);
    await pair.ownedBy(first);
    expect(pair.addressEvents(begun).map(({ lb, isThere }) => [lb.name, isThere])).toEqual([
      [second.name, false],
    ]);
    await served();
  });

  it('nobody answers for a load balancer whose keepalived was killed but the other', async () => {
    const begun = Date.now();
    await first.keepalived.kill();
    await pair.gotAt(second, begun);
    const samples = await pair.sample(vips[0] ?? '', 1_500);
    expect(samples).toMatchObject({ several: 0, owners: [await pair.linkAddress(second)] });
    first.keepalived.start();
    await pair.ownedBy(first);
  });
});
