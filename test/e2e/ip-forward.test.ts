import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { startCluster } from '../kit/cluster.ts';
import { lastEvent, waitForEvent } from '../kit/router-view.ts';

describe('forwarding that somebody switches off on the LB', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startCluster({ masters: 1, controlPlane: 'stand-in' });
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it('is switched on again at once: health probes do not see that it is off', async () => {
    const since = await lastEvent(lab);
    await lab.lb.writeSysctls({ 'net.ipv4.ip_forward': '0' });
    const isOn = async (): Promise<boolean> =>
      (await lab.lb.exec(['cat', '/proc/sys/net/ipv4/ip_forward'])).trim() === '1';
    // The slow timer comes every 30 s.
    await waitUntil(isOn, { what: 'ip_forward 1', timeoutMs: 2_000 });
    expect(await lab.client.request()).toMatchObject({ ok: true });
    expect(await waitForEvent(lab, since, 'a repair', ({ type }) => type === 'repaired')).toMatchObject({
      operations: ['net.ipv4.ip_forward: 0 -> 1'],
    });
  });
});
