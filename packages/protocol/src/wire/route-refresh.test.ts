import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { openContext } from './context.ts';
import { decodeMessage, encodeMessage } from './message-codec.ts';

const plain = openContext(asn(64512));
const enhanced = { ...plain, enhancedRouteRefresh: true };

function message(body: readonly number[]): { type: number; bytes: Uint8Array } {
  const bytes = Uint8Array.from([...new Uint8Array(16).fill(0xff), 0, 19 + body.length, 5, ...body]);
  return { type: 5, bytes };
}

describe('ROUTE-REFRESH (RFC 2918, RFC 7313)', () => {
  it.each([0, 1, 2, 7])('carries subtype %d', (subtype) => {
    const refresh = { type: 'ROUTE-REFRESH', afi: 2, safi: 1, subtype } as const;
    const bytes = encodeMessage(refresh, plain);
    expect(bytes).toEqual(message([0, 2, subtype, 1]).bytes);
    expect(decodeMessage({ type: 5, bytes }, plain)).toEqual(refresh);
  });

  it.each([[[]], [[0, 1, 0]], [[0, 1, 1, 1, 0]]])(
    'answers the body %j with 7/1 and the message, after RFC 7313',
    (body) => {
      const frame = message(body);
      expect(() => decodeMessage(frame, enhanced)).toThrow(
        expect.objectContaining({ code: 7, subcode: 1, data: frame.bytes }),
      );
    },
  );

  it('leaves a subtype of the future alone, however long it is (RFC 7313 section 5)', () => {
    expect(decodeMessage(message([0, 1, 3, 1, 9, 9, 9]), enhanced)).toEqual({
      type: 'ROUTE-REFRESH',
      afi: 1,
      safi: 1,
      subtype: 3,
    });
  });

  it('answers a wrong length with 1/2 and the length, before RFC 7313', () => {
    expect(() => decodeMessage(message([0, 1, 0]), plain)).toThrow(
      expect.objectContaining({ code: 1, subcode: 2, data: Uint8Array.of(0, 22) }),
    );
  });

  it.each([
    ['with RFC 7313', enhanced, 0],
    ['without it', plain, 0],
    ['without it, whatever the reserved octet says', plain, 1],
  ])(
    'leaves out route filters that were not negotiated (RFC 5291), and is a request all the same, %s',
    (_, context, subtype) => {
      // IMMEDIATE, Address Prefix ORF, one entry that denies everything, and one that is cut.
      for (const filters of [[1], [1, 64, 0, 7, 0x20, 0, 0, 0, 1, 0, 0], [2, 64, 0xff, 0xff, 0]]) {
        expect(decodeMessage(message([0, 1, subtype, 1, ...filters]), context)).toEqual({
          type: 'ROUTE-REFRESH',
          afi: 1,
          safi: 1,
          subtype,
        });
      }
    },
  );
});

describe('decodeMessage', () => {
  it('answers a type that it does not know with 1/3', () => {
    const { bytes } = message([]);
    expect(() => decodeMessage({ type: 9, bytes }, plain)).toThrow(
      expect.objectContaining({ code: 1, subcode: 3, data: Uint8Array.of(9) }),
    );
  });

  it.each([1, 3])('answers a message of type %d that is shorter than its fixed fields with 1/2', (type) => {
    const { bytes } = message([]);
    expect(() => decodeMessage({ type, bytes }, plain)).toThrow(
      expect.objectContaining({ code: 1, subcode: 2 }),
    );
  });

  it('never hands out the same KEEPALIVE octets twice', () => {
    const first = encodeMessage({ type: 'KEEPALIVE' }, plain);
    first.fill(0);
    const second = encodeMessage({ type: 'KEEPALIVE' }, plain);
    expect(Buffer.from(second).toString('hex')).toBe(`${'ff'.repeat(16)}001304`);
  });
});
