import {
  describeNotification,
  familyOf,
  NotificationCode,
  type NotificationContent,
  OpenSubcode,
  parseShutdownCommunication,
  type SessionEnd,
} from '../index.ts';
import type { DescribedNotification } from './peer-event.ts';

/** Cease subcodes whose data is a text for people (RFC 9003 section 2). */
const withText: readonly number[] = [2, 4];

/** Code of the capability (RFC 4760 section 8). */
const MULTIPROTOCOL = 1;

/** Of those that a NOTIFICATION lists, how many are named. */
const MOST_CAPABILITIES = 8;

/** A NOTIFICATION for logs and status. Text of the peer comes with control characters escaped. */
export function describe({ code, subcode, data }: NotificationContent): DescribedNotification {
  const words = describeNotification(code, subcode);
  const said = saidIn(code, subcode, data);
  return { code, subcode, text: said === undefined || said === '' ? words : `${words}: ${said}` };
}

function saidIn(code: number, subcode: number, data: Uint8Array): string | undefined {
  if (code === NotificationCode.OpenMessageError && subcode === OpenSubcode.UnsupportedCapability)
    return missingCapabilities(data);
  if (code !== NotificationCode.Cease || !withText.includes(subcode)) return undefined;
  const text = parseShutdownCommunication(data);
  return text === undefined ? undefined : printable(text);
}

/** The capabilities that an OPEN should have had (RFC 5492 section 5). */
function missingCapabilities(data: Uint8Array): string | undefined {
  const missing: string[] = [];
  for (let at = 0; at + 2 <= data.length && missing.length < MOST_CAPABILITIES; ) {
    const [code = 0, length = 0] = data.subarray(at);
    const value = data.subarray(at + 2, at + 2 + length);
    if (value.length < length) break;
    missing.push(capabilityName(code, value));
    at += 2 + length;
  }
  return missing.length === 0 ? undefined : `missing: ${missing.join(', ')}`;
}

function capabilityName(code: number, value: Uint8Array): string {
  if (code !== MULTIPROTOCOL || value.length !== 4) return `capability ${code}`;
  const [high = 0, low = 0, , safi = 0] = value;
  const afi = (high << 8) | low;
  return `multiprotocol ${familyOf(afi, safi)?.name ?? `${afi}/${safi}`}`;
}

function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const point = character.codePointAt(0) ?? 0;
    return `\\u{${point.toString(16)}}`;
  });
}

const words: Readonly<Record<SessionEnd['kind'], string>> = {
  'notification-sent': 'NOTIFICATION sent',
  'notification-received': 'NOTIFICATION received',
  'hold-timer-expired': 'hold timer expired',
  'tcp-closed': 'TCP connection closed without a NOTIFICATION',
  'tcp-reset': 'TCP connection reset',
  'tcp-timeout': 'TCP connection timed out',
  stopped: 'stopped',
  collision: 'connection collision',
  'fsm-error': 'unexpected message',
};

/** The end of a session in one sentence. */
export function describeEnd(end: SessionEnd): string {
  const parts = [words[end.kind]];
  if (end.code !== undefined && end.subcode !== undefined) {
    parts.push(describe({ code: end.code, subcode: end.subcode, data: end.data ?? new Uint8Array(0) }).text);
  }
  if (end.detail !== undefined) parts.push(end.detail);
  return parts.join(': ');
}
