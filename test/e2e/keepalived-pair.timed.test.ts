import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipOf } from '../../scripts/lab/addresses.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { KeepalivedPair } from '../kit/keepalived-pair.ts';

const TIMEOUT = 150_000;
const vip = vipOf('ipv4');

describe('two load balancers with HAProxy and keepalived', { timeout: TIMEOUT }, () => {
  let pair: KeepalivedPair;
  let first: LbHost;
  let second: LbHost;
  beforeAll(async () => {
    pair = await KeepalivedPair.create('haproxy');
    ({ first, second } = pair);
  }, TIMEOUT);
  afterAll(() => pair?.destroy());

  const answers = async (): Promise<boolean> => (await pair.lab.client.request({ timeout: 1_000 })).ok;
  const served = (): Promise<unknown> => waitUntil(answers, { what: 'an answer', timeoutMs: 20_000 });

  it('come up one after the other, and then have exactly one owner for a minute', async () => {
    await second.router.start();
    await waitUntil(async () => (await pair.owners())[0] === second, {
      what: 'the second has the VIPs',
      timeoutMs: 20_000,
    });
    await first.router.start();
    await pair.ownedBy(first);
    await served();
    const since = Date.now();
    await pair.lab.client.startLoop({ every: 20 });
    const samples = await pair.sample(vip, 60_000);
    expect(await pair.lab.client.stopLoop()).toMatchObject({ failed: 0, reasons: {} });
    expect(samples).toMatchObject({ several: 0, owners: [await pair.linkAddress(first)] });
    expect(samples.samples).toBeGreaterThan(2_000);
    // A client that asks once has its answer long before it asks again.
    expect(samples.longestSilence).toBeLessThan(500);
    expect(pair.addressEvents(since)).toEqual([]);
    expect((await pair.owners()).map(({ name }) => name)).toEqual([first.name]);
  });

  it('have the VIPs of both families at one', async () => {
    const [mine, theirs] = await Promise.all(
      [first, second].map((lb) => lb.exec(['ip', '-brief', 'address'])),
    );
    for (const address of [`${vip}/32`, `${vipOf('ipv6')}/128`]) {
      expect(mine).toContain(address);
      expect(theirs).not.toContain(address);
    }
    expect((await pair.lab.client.request({ host: vipOf('ipv6') })).ok).toBe(true);
  });
});
