/** Load balancer and masters in an overlay of WireGuard, where an address belongs to one peer, with an MTU of 1280. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import { createOverlayLab, overlayMembers, overlayRouter, startOverlayMaster } from '../kit/overlay-lab.ts';
import type { WireguardOverlay } from '../kit/wireguard-overlay.ts';

const TIMEOUT = 120_000;

/** A finding of doctor, as `-o json` has it. */
interface Finding {
  readonly check: string;
  readonly level: string;
  readonly place: string;
  readonly value: string;
  readonly fix: string;
}

describe('a control plane in an overlay', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  let overlay: WireguardOverlay;

  beforeAll(async () => {
    ({ lab, overlay } = await createOverlayLab());
    await overlay.start([lab.lb, ...lab.masters]);
  }, TIMEOUT);
  afterAll(() => lab?.destroy());

  async function doctor(): Promise<{ readonly code: number; readonly paths: readonly Finding[] }> {
    const { code, stdout } = await lab.lb.router.command(['doctor', '-o', 'json'], 60_000);
    const findings = JSON.parse(stdout) as Finding[];
    return { code, paths: findings.filter(({ check }) => check === 'path') };
  }

  it('cannot be served by the kernel: doctor names each member and what to change, and exits with 1', async () => {
    lab.lb.writeConfig(overlayRouter(lab, 'kernel'));
    await lab.lb.router.start();
    for (const master of lab.masters) await startOverlayMaster(lab, master, true);
    const members = overlayMembers(lab.masters);
    await lab.lb.router.waitFor(
      'all members are known, and none passes its health check',
      ({ vips }) => vips[0]?.members.filter(({ health }) => health === 'failing').length === members.length,
      30_000,
    );
    const { code, paths } = await doctor();
    expect(code).toBe(1);
    expect(paths.map(({ level, place }) => [level, place.split(' ').at(-1)])).toEqual(
      members.map((address) => ['fault', address]),
    );
    for (const { value, fix } of paths) {
      expect(value).toContain('3 members are behind wg0 (tun)');
      expect(fix).toContain('dataplane.kind: haproxy');
    }
  });
});
