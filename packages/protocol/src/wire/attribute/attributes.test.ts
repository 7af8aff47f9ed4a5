import { describe, expect, it } from 'vitest';
import { asn } from '../../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../../types/family.ts';
import { parseIpAddress } from '../../types/ip-address.ts';
import { parsePrefix } from '../../types/prefix.ts';
import { parseRouterId } from '../../types/router-id.ts';
import type { CodecContext } from '../context.ts';
import { openContext } from '../context.ts';
import { decodeMessage, encodeMessage } from '../message-codec.ts';
import type { PathAttributes } from '../path-attributes.ts';
import { pathAttributes } from '../path-attributes.ts';
import { attributeEntries } from './registry.ts';

const internal: CodecContext = {
  ...openContext(asn(65000)),
  asn4: true,
  isInternal: true,
  peerAsn: asn(65000),
  families: [ipv4Unicast, ipv6Unicast],
};

const octets = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

/** The octets of each attribute beside its value, in the order in which they are sent. */
const values: readonly [hex: string, attributes: Partial<PathAttributes>][] = [
  ['40 01 01 02', { origin: 2 }],
  [
    '40 02 14 02 03 0000fde9 fa56ea00 00000001 01 01 0000fde8',
    {
      asPath: [
        { type: 2, asns: [asn(65001), asn(4200000000), asn(1)] },
        { type: 1, asns: [asn(65000)] },
      ],
    },
  ],
  ['40 03 04 c0000201', { nextHop: parseIpAddress('192.0.2.1') }],
  ['80 04 04 ffffffff', { multiExitDisc: 0xffffffff }],
  ['40 05 04 00000000', { localPref: 0 }],
  ['40 06 00', { atomicAggregate: true }],
  [
    'c0 07 08 fa56ea00 c0000201',
    { aggregator: { asn: asn(4200000000), address: parseIpAddress('192.0.2.1') } },
  ],
  ['c0 08 0c ffffff01 0000fde8 ffffff01', { communities: [0xffffff01, 0x0000fde8, 0xffffff01] }],
  ['80 09 04 0a000001', { originatorId: parseRouterId('10.0.0.1') }],
  [
    '80 0a 08 0a000001 ffffffff',
    { clusterList: [parseRouterId('10.0.0.1'), parseRouterId('255.255.255.255')] },
  ],
  [
    'c0 10 10 0002fde800000001 4004fde84e6e6b28',
    { extendedCommunities: [{ bytes: octets('0002fde800000001') }, { bytes: octets('4004fde84e6e6b28') }] },
  ],
  [
    'c0 20 0c 0000fc00 00000002 ffffffff',
    { largeCommunities: [{ globalAdministrator: 64512, localData1: 2, localData2: 0xffffffff }] },
  ],
  ['e0 63 03 abcdef', { unknown: [{ code: 99, flags: 0xe0, value: octets('abcdef') }] }],
];

const every = pathAttributes(Object.assign({}, ...values.map(([, fields]) => fields)));
const message = {
  type: 'UPDATE',
  withdrawn: [],
  nlri: [{ prefix: parsePrefix('10.1.0.0/16'), pathId: undefined }],
  mpReach: undefined,
  mpUnreach: undefined,
  attributes: every,
} as const;

function fail(): never {
  throw new Error('no UPDATE with attributes came out');
}

/** The Path Attributes field of an UPDATE without withdrawn routes. */
function field(bytes: Uint8Array): string {
  const length = ((bytes[21] ?? 0) << 8) | (bytes[22] ?? 0);
  return Buffer.from(bytes.subarray(23, 23 + length)).toString('hex');
}

describe('path attributes', () => {
  it('go out in ascending order of their codes, each in its own form, and come back', () => {
    const bytes = encodeMessage(message, internal);
    expect(field(bytes)).toBe(values.map(([hex]) => hex.replaceAll(' ', '')).join(''));
    expect(decodeMessage({ type: 2, bytes }, internal)).toEqual({
      ...message,
      faults: [],
      treatAsWithdraw: false,
    });
  });

  it('are each known by one code, and listed by it', () => {
    const codes = attributeEntries.map(({ code }) => code);
    expect(codes).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16, 17, 18, 32]);
  });

  it('that are for internal peers only do not go to others', () => {
    const sent = field(encodeMessage(message, { ...internal, isInternal: false }));
    for (const [hex] of values) {
      const isInternalOnly = ['40 05', '80 09', '80 0a'].some((head) => hex.startsWith(head));
      expect(sent.includes(hex.replaceAll(' ', '')), hex).toBe(!isInternalOnly);
    }
  });

  it('use Extended Length from 256 octets on', () => {
    const communities = (count: number): string =>
      field(
        encodeMessage(
          { ...message, attributes: { ...every, communities: new Array(count).fill(0xfde80001) } },
          internal,
        ),
      );
    expect(communities(63)).toContain('c008fcfde80001');
    expect(communities(64)).toContain('d0080100fde80001');
  });
});

describe('the Partial bit (RFC 4271 section 5)', () => {
  /** The message with that bit set in every attribute that is known. */
  const marked = (): Uint8Array => {
    const bytes = encodeMessage({ ...message, attributes: { ...every, unknown: [] } }, internal);
    const length = ((bytes[21] ?? 0) << 8) | (bytes[22] ?? 0);
    for (let at = 23; at < 23 + length; at += 3 + (bytes[at + 2] ?? 0)) bytes[at] = (bytes[at] ?? 0) | 0x20;
    return bytes;
  };

  it('of what is optional and transitive is never set back to 0', () => {
    const read = decodeMessage({ type: 2, bytes: marked() }, internal);
    expect(read).toMatchObject({ faults: [], attributes: { partial: [7, 8, 16, 32] } });
    if (read.type !== 'UPDATE') fail();
    const again = field(encodeMessage(read, internal));
    for (const head of ['e00708', 'e0080c', 'e01010', 'e0200c']) expect(again).toContain(head);
  });

  it('of all others is 0, whatever they came with and whatever is asked for', () => {
    const read = decodeMessage({ type: 2, bytes: marked() }, internal);
    if (read.type !== 'UPDATE' || read.attributes === undefined) fail();
    const partial = [1, 2, 3, 4, 5, 6, 9, 10];
    const again = field(encodeMessage({ ...read, attributes: { ...read.attributes, partial } }, internal));
    expect(again).toBe(field(encodeMessage({ ...message, attributes: { ...every, unknown: [] } }, internal)));
  });
});

describe('unknown attributes', () => {
  const unknown = (flags: string, value = 'abcd'): string =>
    `40010100 400200 4003040a000001 40050400000064 ${flags}63${(value.length / 2).toString(16).padStart(2, '0')}${value}`;
  const decode = (attributes: string) => {
    const list = octets(attributes);
    const bytes = Uint8Array.from([
      ...new Uint8Array(16).fill(0xff),
      0,
      23 + list.length,
      2,
      0,
      0,
      0,
      list.length,
      ...list,
    ]);
    return decodeMessage({ type: 2, bytes }, internal);
  };

  it.each(['c0', 'e0', 'cf', 'ef'])(
    'are kept octet for octet, marked Partial and without stray flags: 0x%s',
    (flags) => {
      expect(decode(unknown(flags))).toMatchObject({
        faults: [],
        attributes: { unknown: [{ code: 99, flags: 0xe0, value: octets('abcd') }] },
      });
    },
  );

  it('may be empty', () => {
    expect(decode(unknown('c0', ''))).toMatchObject({ attributes: { unknown: [{ value: octets('') }] } });
  });

  it('are left out when not transitive', () => {
    expect(decode(unknown('80'))).toMatchObject({
      faults: [{ code: 99, subcode: 0 }],
      attributes: { unknown: [] },
    });
  });

  it('end the session with 3/2 and the attribute when well-known', () => {
    expect(() => decode(unknown('40'))).toThrow(
      expect.objectContaining({ code: 3, subcode: 2, data: octets('406302abcd') }),
    );
  });

  it('go out in their place, whatever the order in which they are given', () => {
    const raw = (code: number) => ({ code, flags: 0xe0, value: octets('01') });
    const attributes = { ...every, unknown: [raw(99), raw(20), raw(33)] };
    const codes = field(encodeMessage({ ...message, attributes }, internal)).match(
      /(?<=e0)(14|21|63)(?=0101)/g,
    );
    expect(codes).toEqual(['14', '21', '63']);
  });

  it('are sorted when there are only two', () => {
    const raw = (code: number) => ({ code, flags: 0xe0, value: octets('01') });
    const attributes = { ...every, unknown: [raw(99), raw(98)] };
    expect(field(encodeMessage({ ...message, attributes }, internal))).toContain('e0620101e0630101');
  });

  it('may not pose as known ones', () => {
    const attributes = { ...every, unknown: [{ code: 8, flags: 0xe0, value: octets('') }] };
    expect(() => encodeMessage({ ...message, attributes }, internal)).toThrow(
      'attribute type 8 is not unknown',
    );
  });
});
