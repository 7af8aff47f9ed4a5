import type { ProbeKind, ProbeResult } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { type WaitOutcome, waitForApi } from './wait-for-api.ts';

/** Runs it against a list of outcomes, the last of which stays, on a clock that only sleeping moves. */
async function wait(
  kinds: readonly ProbeKind[],
  timeout = 10_000,
  code?: string,
): Promise<{ outcome: WaitOutcome; said: string[]; tookMs: number }> {
  const left = [...kinds];
  const said: string[] = [];
  let time = 0;
  const outcome = await waitForApi({
    endpoint: '10.0.0.100:6443',
    probe: async (): Promise<ProbeResult> => {
      const kind = (left.length > 1 ? left.shift() : left[0]) ?? 'error';
      return {
        kind,
        detail: `it was ${kind}`,
        tookMs: 0,
        isVerified: false,
        warnings: [],
        ...(code === undefined ? {} : { code }),
      };
    },
    timeout,
    interval: 1_000,
    now: () => time,
    sleep: async (milliseconds) => {
      time += milliseconds;
    },
    say: (message) => said.push(message),
  });
  return { outcome, said, tookMs: time };
}

describe('waiting for the API server', () => {
  it('ends with the first answer', async () => {
    const { outcome, tookMs } = await wait(['timeout', 'refused', 'ok']);
    expect(outcome).toEqual({
      answers: true,
      detail: 'the API server answers at 10.0.0.100:6443 (it was ok)',
    });
    expect(tookMs).toBe(2_000);
  });

  it('takes 401 and 403 for an answer', async () => {
    expect((await wait(['unauthorized'])).outcome.answers).toBe(true);
  });

  it('does not take a red /readyz for one', async () => {
    expect((await wait(['status'])).outcome.answers).toBe(false);
  });

  it('says each new reason once, and what to look at', async () => {
    const { said } = await wait(['unreachable', 'unreachable', 'unreachable', 'refused', 'ok']);
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(
      /^waiting for 10\.0\.0\.100:6443: it was unreachable; .*no master in its pool yet/,
    );
    expect(said[1]).toContain('bgp-lb-router status');
  });

  it('says what was read: a refusal is no word about which host it came from, and ENETUNREACH is of this one', async () => {
    const [refused] = (await wait(['refused', 'ok'])).said;
    expect(refused).toContain('the load balancer itself while its pool is empty, or a master');
    const [unreachable] = (await wait(['unreachable', 'ok'], 10_000, 'ENETUNREACH')).said;
    expect(unreachable).toContain('this host has no route to the VIP');
    expect(unreachable).not.toContain('pool');
  });

  it('gives up when its time is over, with the last reason', async () => {
    const { outcome, tookMs } = await wait(['timeout'], 5_000);
    expect(outcome.answers).toBe(false);
    expect(outcome.detail).toMatch(/did not answer within 5 s: 10\.0\.0\.100:6443: it was timeout/);
    expect(tookMs).toBeLessThan(5_000);
  });
});
