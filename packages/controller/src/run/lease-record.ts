import { isJsonObject } from '@bgp-lb/kubernetes';

/** Seconds, as client-go has them. */
const LEASE_SECONDS = 15;
/** Milliseconds in which a leader must have renewed, or stops. */
export const RENEW_DEADLINE = 10_000;
/** Milliseconds between attempts. */
export const RETRY_PERIOD = 2_000;

/** A Lease as it was read, and when it was seen to be so for the first time, in monotonic milliseconds. */
export interface SeenLease {
  readonly lease: Readonly<Record<string, unknown>>;
  readonly at: number;
}

const specOf = (lease: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  isJsonObject(lease['spec']) ? lease['spec'] : {};

/** What was read now: the same record was seen before. Times in it are of the clock of another machine, and not looked at. */
export function seen(before: SeenLease | undefined, lease: SeenLease['lease'], now: number): SeenLease {
  const isSame =
    before !== undefined && JSON.stringify(specOf(before.lease)) === JSON.stringify(specOf(lease));
  return { lease, at: isSame ? before.at : now };
}

/** Whether the lease may be taken: it is ours, is held by none, or has not changed for as long as it says. */
export function isFree({ lease, at }: SeenLease, identity: string, now: number): boolean {
  const { holderIdentity, leaseDurationSeconds } = specOf(lease);
  if (holderIdentity === undefined || holderIdentity === '' || holderIdentity === identity) return true;
  const seconds = typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : LEASE_SECONDS;
  return now - at >= seconds * 1_000;
}

/** The spec to write. @param before what is there; `undefined` for a new lease @param wallClock milliseconds since 1970 */
export function heldSpec(
  before: SeenLease['lease'] | undefined,
  identity: string,
  wallClock: number,
): object {
  const spec = before === undefined ? {} : specOf(before);
  const time = new Date(wallClock).toISOString().replace('Z', '000Z');
  const isOurs = spec['holderIdentity'] === identity;
  const transitions = typeof spec['leaseTransitions'] === 'number' ? spec['leaseTransitions'] : 0;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: LEASE_SECONDS,
    acquireTime: isOurs ? spec['acquireTime'] : time,
    renewTime: time,
    leaseTransitions: before === undefined || isOurs ? transitions : transitions + 1,
  };
}

/** The spec that lets others in at once. */
export function releasedSpec(before: SeenLease['lease'], wallClock: number): object {
  const time = new Date(wallClock).toISOString().replace('Z', '000Z');
  return { ...specOf(before), holderIdentity: '', leaseDurationSeconds: 1, renewTime: time };
}
