import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from '../../scripts/lab/lab.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';

describe('bootstrap, with the LB booting after two of the masters', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create({ masters: 3, upstream: 'static' });
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it('gives kubeadm init the VIP on its own host before anything else is there', async () => {
    const first = lab.master(1);
    first.placeSpeaker('init');
    const kubeadm = first.kubeadmInit();
    await waitUntil(() => first.hasVip(), { what: 'the VIP on m1', timeoutMs: 15_000 });
    expect(kubeadm.isRunning).toBe(true);
    expect(await kubeadm.exited).toMatchObject({ code: 0 });
  });

  it('has nothing for clients as long as there is no LB', async () => {
    expect((await lab.client.request({ timeout: 300 })).ok).toBe(false);
  });

  it('takes the first master into the pool as soon as the LB is up', async () => {
    await lab.lb.router.start();
    await lab.lb.waitForPool([lab.master(1).address]);
    expect(await lab.client.request()).toMatchObject({ ok: true, master: 'm1' });
  });

  it('keeps a joiner off the VIP while its join runs, though its /readyz is green for seconds', async () => {
    const joiner = lab.master(2);
    joiner.placeSpeaker('join');
    const kubeadm = joiner.kubeadmJoin(lab.master(1), { settleTime: 5_000 });
    await joiner.speaker.waitFor(
      'a green /readyz on m2',
      ({ gates }) => gates.some(({ name, pass }) => name === 'readyz' && pass),
      60_000,
    );
    expect(kubeadm.isRunning).toBe(true);
    const hasProof = (): boolean =>
      existsSync(joiner.markerFile) || existsSync(joiner.path('var/lib/bgp-lb/state.json'));
    let looks = 0;
    while (kubeadm.isRunning) {
      const hasVip = await joiner.hasVip();
      if (!hasProof()) {
        expect(hasVip).toBe(false);
        expect(await lab.lb.pool()).toEqual([lab.master(1).address]);
        looks += 1;
      }
      await sleep(50);
    }
    expect(looks).toBeGreaterThan(5);
    expect(await kubeadm.exited).toMatchObject({ code: 0 });
    await lab.lb.waitForPool([lab.master(1).address, joiner.address]);
  });

  it('leaves a master out whose join failed', async () => {
    const joiner = lab.master(3);
    joiner.placeSpeaker('join');
    const kubeadm = joiner.kubeadmJoin(lab.master(1), {
      caCertHash: 'sha256:'.padEnd(71, '0'),
      discoveryTimeout: 1_000,
    });
    expect((await kubeadm.exited).code).toBe(1);
    expect(kubeadm.tail()).toContain('error execution phase preflight');
    expect(await joiner.hasVip()).toBe(false);
    expect(await lab.lb.pool()).toEqual([lab.master(1).address, lab.master(2).address]);
  });
});
