import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { MAX_EXTENDED_MESSAGE_LENGTH } from './constants.ts';
import { openContext } from './context.ts';
import { NotificationError } from './errors.ts';
import { hardResetData, parseHardReset } from './hard-reset.ts';
import { decodeMessage, encodeMessage } from './message-codec.ts';
import { CeaseSubcode, describeNotification, NotificationCode } from './notification-codes.ts';

const context = openContext(asn(64512));

describe('NOTIFICATION', () => {
  it('carries code, subcode and data', () => {
    const message = { type: 'NOTIFICATION', code: 2, subcode: 1, data: Uint8Array.of(0, 4) } as const;
    const bytes = encodeMessage(message, context);
    expect(Buffer.from(bytes).toString('hex')).toBe(`${'ff'.repeat(16)}00170302010004`);
    expect(decodeMessage({ type: 3, bytes }, context)).toEqual(message);
  });

  it.each([4096, MAX_EXTENDED_MESSAGE_LENGTH])(
    'cuts data to what %d octets hold: the code must arrive',
    (limit) => {
      const message = { type: 'NOTIFICATION', code: 3, subcode: 1, data: new Uint8Array(70_000) } as const;
      const bytes = encodeMessage(message, { ...context, maxSendLength: limit });
      expect(bytes.length).toBe(limit);
      expect([...bytes.subarray(16, 21)]).toEqual([limit >> 8, limit & 0xff, 3, 3, 1]);
    },
  );
});

describe('describeNotification', () => {
  it.each([
    [1, 1, 'Message Header Error/Connection Not Synchronized'],
    [2, 0, 'OPEN Message Error'],
    [2, 6, 'OPEN Message Error/Unacceptable Hold Time'],
    [2, 11, 'OPEN Message Error/Role Mismatch'],
    [3, 11, 'UPDATE Message Error/Malformed AS_PATH'],
    [4, 0, 'Hold Timer Expired'],
    [5, 3, 'Finite State Machine Error/Receive Unexpected Message in Established State'],
    [6, 2, 'Cease/Administrative Shutdown'],
    [6, 10, 'Cease/BFD Down'],
    [6, 99, 'Cease/subcode 99'],
    [7, 1, 'ROUTE-REFRESH Message Error/Invalid Message Length'],
    [8, 0, 'Send Hold Timer Expired'],
    [77, 5, 'code 77/subcode 5'],
  ])('%d/%d is %s', (code, subcode, words) => {
    expect(describeNotification(code, subcode)).toBe(words);
  });

  it('is what a NotificationError says, with the reason behind it', () => {
    expect(new NotificationError(6, 2).message).toBe('Cease/Administrative Shutdown');
    expect(new NotificationError(2, 2, undefined, 'AS 0').message).toBe(
      'OPEN Message Error/Bad Peer AS: AS 0',
    );
  });
});

describe('Hard Reset (RFC 8538 section 3)', () => {
  const { Cease } = NotificationCode;
  it('wraps the NOTIFICATION that is meant', () => {
    const reason = {
      code: Cease,
      subcode: CeaseSubcode.AdministrativeShutdown,
      data: Uint8Array.of(1, 0x61),
    };
    const data = hardResetData(reason);
    expect([...data]).toEqual([6, 2, 1, 0x61]);
    expect(parseHardReset({ code: Cease, subcode: CeaseSubcode.HardReset, data })).toEqual(reason);
  });

  it('is nothing else, and nothing without an inner code and subcode', () => {
    expect(parseHardReset({ code: Cease, subcode: 2, data: Uint8Array.of(6, 2) })).toBeUndefined();
    expect(parseHardReset({ code: 4, subcode: 9, data: Uint8Array.of(6, 2) })).toBeUndefined();
    expect(parseHardReset({ code: Cease, subcode: 9, data: Uint8Array.of(6) })).toBeUndefined();
  });
});
