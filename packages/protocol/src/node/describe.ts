import {
  describeNotification,
  type NotificationContent,
  parseShutdownCommunication,
  type SessionEnd,
} from '../index.ts';
import type { DescribedNotification } from './peer-event.ts';

/** Cease subcodes whose data is a text for people (RFC 9003 section 2). */
const withText: readonly number[] = [2, 4];

/** A NOTIFICATION for logs and status. Text of the peer comes with control characters escaped. */
export function describe({ code, subcode, data }: NotificationContent): DescribedNotification {
  const words = describeNotification(code, subcode);
  const said = code === 6 && withText.includes(subcode) ? parseShutdownCommunication(data) : undefined;
  const text = said === undefined || said === '' ? words : `${words}: ${printable(said)}`;
  return { code, subcode, text };
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
