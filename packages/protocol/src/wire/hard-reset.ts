import { CeaseSubcode, NotificationCode } from './notification-codes.ts';

/** The NOTIFICATION inside a Hard Reset. */
export interface HardResetReason {
  readonly code: number;
  readonly subcode: number;
  readonly data: Uint8Array;
}

/** Data of a Cease/Hard Reset: the NOTIFICATION that is meant, wrapped (RFC 8538 section 3). */
export function hardResetData(reason: HardResetReason): Uint8Array {
  return Uint8Array.of(reason.code, reason.subcode, ...reason.data);
}

/** What a received Cease/Hard Reset wraps; `undefined` for any other NOTIFICATION, and for one that wraps nothing. */
export function parseHardReset(notification: HardResetReason): HardResetReason | undefined {
  const { code, subcode, data } = notification;
  if (code !== NotificationCode.Cease || subcode !== CeaseSubcode.HardReset) return undefined;
  const [innerCode, innerSubcode] = data;
  if (innerCode === undefined || innerSubcode === undefined) return undefined;
  return { code: innerCode, subcode: innerSubcode, data: data.subarray(2) };
}
