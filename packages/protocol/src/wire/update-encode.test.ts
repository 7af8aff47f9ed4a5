import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { parsePrefix } from '../types/prefix.ts';
import type { CodecContext } from './context.ts';
import { openContext } from './context.ts';
import { EncodeError } from './errors.ts';
import type { UpdateMessage } from './message.ts';
import { decodeMessage, encodeMessage } from './message-codec.ts';
import type { Nlri } from './nlri.ts';
import { nlriLength } from './nlri.ts';
import { pathAttributes } from './path-attributes.ts';
import { Writer } from './writer.ts';

const context: CodecContext = {
  ...openContext(asn(65000)),
  asn4: true,
  peerAsn: asn(65001),
  families: [ipv4Unicast, ipv6Unicast],
};
const entry = (text: string, pathId?: number): Nlri => ({ prefix: parsePrefix(text), pathId });
const none: UpdateMessage = {
  type: 'UPDATE',
  withdrawn: [],
  attributes: undefined,
  nlri: [],
  mpReach: undefined,
  mpUnreach: undefined,
};
const attributes = pathAttributes({ origin: 0, asPath: [], nextHop: parseIpAddress('10.0.0.1') });
const announcement: UpdateMessage = { ...none, attributes, nlri: [entry('10.1.0.0/16')] };
const nextHop = { address: parseIpAddress('2001:db8::1'), linkLocal: parseIpAddress('fe80::1') };

/** The body, without the header. */
const body = (message: UpdateMessage, session: CodecContext = context): string =>
  Buffer.from(encodeMessage(message, session).subarray(19)).toString('hex');

describe('UPDATE, sent', () => {
  it('announces and withdraws IPv4 in the fields of RFC 4271', () => {
    expect(body(announcement)).toBe('0000000e400101004002004003040a000001100a01');
    expect(body({ ...none, withdrawn: [entry('0.0.0.0/0'), entry('10.0.0.1/32')] })).toBe(
      '000600200a0000010000',
    );
  });

  it('puts MP_REACH_NLRI first and leaves NEXT_HOP out (RFC 7606 section 5.1, RFC 4760 section 3)', () => {
    const mpReach = { family: ipv6Unicast, nextHop, nlri: [entry('2001:db8::/32')] };
    const withoutNextHop = { ...attributes, nextHop: undefined };
    expect(body({ ...none, attributes: withoutNextHop, mpReach })).toBe(
      body({ ...none, attributes, mpReach }),
    );
    expect(body({ ...none, attributes, mpReach })).toBe(
      '00000034800e2a00020120' +
        '20010db8000000000000000000000001fe80000000000000000000000000000100' +
        '2020010db840010100400200',
    );
  });

  it('ends a RIB with the markers of RFC 4724 section 2', () => {
    expect(body(none)).toBe('00000000');
    expect(body({ ...none, mpUnreach: { family: ipv6Unicast, nlri: [] } })).toBe('00000006800f03000201');
  });

  it('adds path identifiers where they were negotiated, 0 where there is none', () => {
    const addPath = { ...context, addPathSend: [ipv4Unicast] };
    expect(body({ ...none, withdrawn: [entry('0.0.0.0/0', 7), entry('0.0.0.0/0')] }, addPath)).toBe(
      '000a0000000700000000000' + '00000',
    );
    expect(body({ ...none, withdrawn: [entry('0.0.0.0/0', 7)] })).toBe('0001000000');
    expect(body({ ...none, mpUnreach: { family: ipv6Unicast, nlri: [] } }, addPath)).toBe(
      '00000006800f03000201',
    );
  });

  it('may use one writer for all messages of a session', () => {
    const writer = new Writer(16);
    const first = encodeMessage(announcement, context, writer);
    const second = encodeMessage(none, context, writer);
    expect(first).toEqual(encodeMessage(announcement, context));
    expect(second).toEqual(encodeMessage(none, context));
  });

  it('works again after a message that was refused', () => {
    const writer = new Writer(16);
    const broken = { ...announcement, attributes: { ...attributes, multiExitDisc: -1 } };
    expect(() => encodeMessage(broken, context, writer)).toThrow(EncodeError);
    expect(encodeMessage(announcement, context, writer)).toEqual(encodeMessage(announcement, context));
  });
});

describe('the size of an UPDATE', () => {
  const withRoutes = (count: number): UpdateMessage => ({
    ...announcement,
    nlri: Array.from({ length: count }, (_, i) => entry(`10.${i >> 8}.${i & 255}.1/32`)),
  });
  const overhead =
    encodeMessage(withRoutes(1), context).length - nlriLength(parsePrefix('10.0.0.1/32'), false);

  it('is the octets around the NLRI and nlriLength of each', () => {
    expect(encodeMessage(withRoutes(50), context).length).toBe(overhead + 50 * 5);
    expect(nlriLength(parsePrefix('10.0.0.0/9'), false)).toBe(3);
    expect(nlriLength(parsePrefix('::/0'), true)).toBe(5);
  });

  it('never passes what the peer accepts', () => {
    const fits = Math.floor((4096 - overhead) / 5);
    expect(encodeMessage(withRoutes(fits), context).length).toBeLessThanOrEqual(4096);
    expect(() => encodeMessage(withRoutes(fits + 1), context)).toThrow(/octets: at most 4096 may be sent/);
    const extended = { ...context, maxSendLength: 65535 };
    expect(encodeMessage(withRoutes(fits + 1), extended).length).toBeGreaterThan(4096);
    expect(() => encodeMessage(withRoutes(13_200), extended)).toThrow(EncodeError);
  });

  it('may be 65535 octets, which come back whole', () => {
    const extended = { ...context, maxSendLength: 65535 };
    const count = Math.floor((65535 - overhead) / 5);
    const bytes = encodeMessage(withRoutes(count), extended);
    expect(decodeMessage({ type: 2, bytes }, extended)).toMatchObject({ nlri: { length: count } });
  });
});

describe('an UPDATE that must not be sent', () => {
  const mpReach = { family: ipv6Unicast, nextHop, nlri: [entry('2001:db8::/32')] };
  const rows: readonly [string, UpdateMessage, CodecContext?][] = [
    ['withdrawn and announced routes together', { ...announcement, withdrawn: [entry('10.2.0.0/16')] }],
    ['two families together', { ...announcement, mpReach }],
    ['routes without attributes', { ...none, nlri: [entry('10.1.0.0/16')] }],
    ['routes without ORIGIN', { ...announcement, attributes: { ...attributes, origin: undefined } }],
    ['routes without AS_PATH', { ...announcement, attributes: { ...attributes, asPath: undefined } }],
    ['IPv4 routes without NEXT_HOP', { ...announcement, attributes: { ...attributes, nextHop: undefined } }],
    ['internal routes without LOCAL_PREF', announcement, { ...context, isInternal: true }],
    ['an IPv6 NEXT_HOP', { ...announcement, attributes: { ...attributes, nextHop: nextHop.address } }],
    [
      'an IPv4 next hop of IPv6 routes',
      {
        ...none,
        attributes,
        mpReach: { ...mpReach, nextHop: { address: parseIpAddress('10.0.0.1'), linkLocal: undefined } },
      },
    ],
    [
      'a link-local next hop of IPv4 routes',
      { ...none, attributes, mpReach: { family: ipv4Unicast, nextHop, nlri: [] } },
    ],
    [
      'a family that was not negotiated',
      { ...none, attributes, mpReach },
      { ...context, families: [ipv4Unicast] },
    ],
    [
      'an End-of-RIB of a family that was not negotiated',
      { ...none, mpUnreach: { family: ipv6Unicast, nlri: [] } },
      { ...context, families: [ipv4Unicast] },
    ],
    ['the IPv4 End-of-RIB where only IPv6 was negotiated', none, { ...context, families: [ipv6Unicast] }],
    [
      'an extended community of 7 octets',
      { ...announcement, attributes: { ...attributes, extendedCommunities: [{ bytes: new Uint8Array(7) }] } },
    ],
  ];
  it.each(rows)('%s', (_, message, session = context) => {
    expect(() => encodeMessage(message, session)).toThrow(EncodeError);
  });
});
