import { describe, expect, it } from 'vitest';
import { parseIpAddress } from '../types/ip-address.ts';
import { EncodeError } from './errors.ts';
import { encodeMrt, type MrtMessage, readMrt } from './mrt.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const keepalive = Buffer.from(`${'ff'.repeat(16)}001304`, 'hex');

const base: MrtMessage = {
  kind: 'message',
  time: 1_700_000_000_123.456,
  peerAsn: 4_200_000_000,
  localAsn: 64512,
  interfaceIndex: 3,
  peerAddress: parseIpAddress('10.0.0.11'),
  localAddress: parseIpAddress('10.0.0.10'),
  isLocal: false,
  asn4: true,
  addPath: false,
  message: Uint8Array.from(keepalive),
};

describe('an MRT record', () => {
  it('of a message is written octet for octet as RFC 6396 has it', () => {
    const rows = [
      '6553f100 0011 0004 0000002b', // 1700000000 s, BGP4MP_ET, BGP4MP_MESSAGE_AS4, 43 octets
      '0001e240', // 123456 microseconds
      'fa56ea00 0000fc00', // peer AS, local AS
      '0003 0001', // interface 3, IPv4
      '0a00000b 0a00000a',
      hex(keepalive),
    ];
    expect(hex(encodeMrt(base))).toBe(rows.join('').replaceAll(' ', ''));
  });

  it.each([
    ['4', false, false, 1],
    ['4', true, false, 4],
    ['6', false, true, 6],
    ['6', true, true, 7],
  ] as const)(
    'of IPv%s with asn4 %s, sent %s, is read as it was written, with and without path identifiers',
    (version, asn4, isLocal, code) => {
      const [peerAddress, localAddress] =
        version === '4'
          ? [base.peerAddress, base.localAddress]
          : [parseIpAddress('fd00::11'), parseIpAddress('fd00::10')];
      for (const addPath of [false, true]) {
        const peerAsn = 65001;
        const record = { ...base, peerAsn, peerAddress, localAddress, asn4, isLocal, addPath };
        const written = encodeMrt(record);
        // The subtypes of RFC 8050 are in another order.
        expect(written[7]).toBe(addPath ? { 1: 8, 4: 9, 6: 10, 7: 11 }[code] : code);
        expect([...readMrt(written)]).toEqual([record]);
      }
    },
  );

  it('with two octets for an AS number has AS_TRANS for one that needs four', () => {
    const [record] = readMrt(encodeMrt({ ...base, asn4: false }));
    expect(record).toMatchObject({ peerAsn: 23456, localAsn: 64512 });
  });

  it('has no two families of addresses', () => {
    expect(() => encodeMrt({ ...base, localAddress: parseIpAddress('fd00::1') })).toThrow(EncodeError);
  });

  it('keeps the microsecond that it is nearest to, also at the end of a second', () => {
    const [record] = readMrt(encodeMrt({ ...base, time: 1_700_000_000_999.9998 }));
    expect(record?.time).toBe(1_700_000_001_000);
  });
});

describe('a file of records', () => {
  const other = Buffer.from('6553f100 000d 0001 00000003 aabbcc'.replaceAll(' ', ''), 'hex');
  const file = Uint8Array.from(Buffer.concat([encodeMrt(base), other, encodeMrt(base)]));

  it('is read in order, records of other types as they are', () => {
    expect([...readMrt(file)]).toEqual([
      base,
      { kind: 'other', time: 1_700_000_000_000, type: 13, subtype: 1, body: Uint8Array.of(0xaa, 0xbb, 0xcc) },
      base,
    ]);
  });

  it('without microseconds is read too', () => {
    const plain = encodeMrt(base);
    const record = Buffer.concat([plain.subarray(0, 12), plain.subarray(16)]);
    record.writeUInt16BE(16, 4);
    record.writeUInt32BE(record.length - 12, 8);
    expect([...readMrt(record)]).toEqual([{ ...base, time: 1_700_000_000_000 }]);
  });

  it('that is cut off anywhere gives the whole records, and says where the broken one begins', () => {
    const first = encodeMrt(base).length;
    const starts = [0, first, first + other.length, file.length];
    for (let length = 0; length < file.length; length++) {
      const whole = starts.filter((start) => start <= length).length - 1;
      const read: unknown[] = [];
      const readAll = (): void => {
        for (const record of readMrt(file.subarray(0, length))) read.push(record);
      };
      if (length === starts[whole]) readAll();
      else expect(readAll).toThrow(`MRT record at octet ${starts[whole]}: `);
      expect(read).toHaveLength(whole);
    }
  });

  it('with lengths that do not fit throws nothing but MrtError', () => {
    for (let at = 0; at < file.length; at++) {
      for (const value of [0, 0xff]) {
        const damaged = Uint8Array.from(file);
        damaged[at] = value;
        try {
          for (const _ of readMrt(damaged));
        } catch (error) {
          expect(error).toMatchObject({ name: 'MrtError' });
        }
      }
    }
  });
});
