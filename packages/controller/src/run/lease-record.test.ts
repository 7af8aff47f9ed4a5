import { describe, expect, it } from 'vitest';
import { heldSpec, isFree, releasedSpec, seen } from './lease-record.ts';

const HOUR = 3_600_000;
const held = (identity: string, wallClock: number): Readonly<Record<string, unknown>> => ({
  spec: heldSpec(undefined, identity, wallClock),
});

describe('a lease', () => {
  it('of another one is free once it has not changed for 15 s of our own clock, whatever the times in it say', () => {
    for (const clock of [-HOUR, 0, HOUR]) {
      const lease = seen(undefined, held('other', clock), 1_000);
      expect(isFree(lease, 'me', 15_999)).toBe(false);
      expect(isFree(lease, 'me', 16_000)).toBe(true);
    }
  });

  it('is seen anew when it is renewed, and not when it is read again', () => {
    const first = seen(undefined, held('other', 0), 1_000);
    const again = seen(first, { ...held('other', 0), metadata: { resourceVersion: '9' } }, 9_000);
    expect(again.at).toBe(1_000);
    expect(seen(again, held('other', 2_000), 9_000).at).toBe(9_000);
  });

  it('is free at once when it is ours, held by none, or released', () => {
    const of = (spec: object): boolean => isFree(seen(undefined, { spec }, 0), 'me', 1);
    expect(of(heldSpec(undefined, 'me', 0))).toBe(true);
    expect(of({})).toBe(true);
    expect(of(releasedSpec(held('other', 0), 0))).toBe(true);
  });

  it('counts its changes of hand, and keeps the time of the first', () => {
    const mine = heldSpec(undefined, 'me', 0);
    expect(heldSpec({ spec: mine }, 'me', 5_000)).toMatchObject({
      acquireTime: '1970-01-01T00:00:00.000000Z',
      renewTime: '1970-01-01T00:00:05.000000Z',
      leaseTransitions: 0,
    });
    expect(heldSpec({ spec: mine }, 'other', 5_000)).toMatchObject({
      holderIdentity: 'other',
      leaseTransitions: 1,
    });
  });
});
