import { describe, expect, it } from 'vitest';
import type { Asn } from '../../types/asn.ts';
import { asn } from '../../types/asn.ts';
import { formatIpAddress, parseIpAddress } from '../../types/ip-address.ts';
import { parsePrefix } from '../../types/prefix.ts';
import type { CodecContext } from '../context.ts';
import { openContext } from '../context.ts';
import type { DecodedUpdate } from '../message.ts';
import { decodeMessage, encodeMessage } from '../message-codec.ts';
import type { AsPathSegment } from '../path-attributes.ts';
import { pathAttributes } from '../path-attributes.ts';

/** RFC 6793: a peer with 2-octet AS numbers, AS 23456 standing for what does not fit. */
const old: CodecContext = { ...openContext(asn(65000)), peerAsn: asn(100), enforceFirstAs: false };

const octets = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));

function decode(attributes: string, context: CodecContext = old): DecodedUpdate {
  const list = octets(`40010100 4003040a000001 ${attributes}`);
  const bytes = Uint8Array.from([
    ...new Uint8Array(16).fill(0xff),
    0,
    24 + list.length,
    2,
    0,
    0,
    0,
    list.length,
    ...list,
    0,
  ]);
  const message = decodeMessage({ type: 2, bytes }, context);
  if (message.type !== 'UPDATE') throw new Error(`${message.type} came out`);
  return message;
}

const asnsOf = (list: readonly number[]): Asn[] => list.map(asn);
const sequence = (...list: number[]): AsPathSegment => ({ type: 2, asns: asnsOf(list) });
const set = (...list: number[]): AsPathSegment => ({ type: 1, asns: asnsOf(list) });

describe('AS4_PATH (RFC 6793 section 4.2.3)', () => {
  it.each([
    [
      'is put behind what old speakers added',
      '400208 0203 0064 5ba0 0064',
      'c0110a 0202 00011170 00000064',
      [sequence(100, 70000, 100)],
    ],
    [
      'replaces a path of the same length',
      '400206 0202 5ba0 0064',
      'c0110a 0202 00011170 00000064',
      [sequence(70000, 100)],
    ],
    [
      'counts a set as one',
      '40020a 0201 0064 0102 5ba0 0065',
      'c0110a 0102 00011170 00000065',
      [sequence(100), set(70000, 101)],
    ],
    [
      'takes a whole set where the cut falls behind it',
      '40020c 0102 0064 0065 0202 5ba0 0066',
      'c0110a 0202 00011170 00000066',
      [set(100, 101), sequence(70000, 102)],
    ],
    [
      'is found before AS_PATH too',
      '',
      'c0110a 0202 00011170 00000064 400206 0202 5ba0 0064',
      [sequence(70000, 100)],
    ],
  ])('%s', (_, path, path4, expected) => {
    const update = decode(`${path} ${path4}`);
    expect(update.faults).toEqual([]);
    expect(update.attributes?.asPath).toEqual(expected);
  });

  it('is ignored when longer than AS_PATH', () => {
    const update = decode('400204 0201 5ba0 c0110a 0202 00011170 00000064');
    expect(update).toMatchObject({ attributes: { asPath: [sequence(23456)] }, faults: [{ code: 17 }] });
  });

  it('loses its confederation segments (section 6)', () => {
    const update = decode('400206 0202 5ba0 0064 c01110 0301 00011171 0202 00011170 00000064');
    expect(update.attributes?.asPath).toEqual([sequence(70000, 100)]);
    expect(update.faults).toMatchObject([{ code: 17, action: 'attribute-discard' }]);
  });

  it.each([
    ['0 octets', 'c01100'],
    ['half a segment', 'c01102 0201'],
    ['a segment that passes the end', 'c01106 0202 00011170'],
    ['an empty segment', 'c01102 0200'],
    ['segment type 9', 'c01106 0901 00011170'],
    ['AS 0 (RFC 7607 section 2)', 'c01106 0201 00000000'],
    ['an odd length', 'c01107 0201 00011170 02'],
  ])('is discarded when malformed by %s, and AS_PATH stands', (_, path4) => {
    const update = decode(`400206 0202 5ba0 0064 ${path4}`);
    expect(update.attributes?.asPath).toEqual([sequence(23456, 100)]);
    expect(update).toMatchObject({
      treatAsWithdraw: false,
      faults: [{ code: 17, action: 'attribute-discard', subcode: 9 }],
    });
  });
});

describe('the first AS of a path whose peer has an AS of four octets, and speaks two to us', () => {
  const context: CodecContext = { ...old, peerAsn: asn(70_000), enforceFirstAs: true };

  it.each([
    ['AS4_PATH names it', '400206 0202 5ba0 0064 c0110a 0202 00011170 00000064', [sequence(70_000, 100)], []],
    ['there is no AS4_PATH', '400206 0202 5ba0 0064', [sequence(23_456, 100)], []],
    [
      'AS4_PATH is malformed (RFC 6793 section 6)',
      '400206 0202 5ba0 0064 c01102 0201',
      [sequence(23_456, 100)],
      [17],
    ],
    [
      'AS4_PATH is out of date (RFC 6793 section 4.2.3)',
      '400206 0202 5ba0 0064 c0110a 0202 00011170 00000064 c00706 0064 c0000201 c01208 00011170 c0000202',
      [sequence(23_456, 100)],
      [18, 17],
    ],
  ])('is right where %s', (_, attributes, asPath, codes) => {
    const { attributes: read, faults, treatAsWithdraw } = decode(attributes, context);
    expect(read?.asPath).toEqual(asPath);
    expect(faults.map(({ code }) => code)).toEqual(codes);
    expect(treatAsWithdraw).toBe(false);
  });

  it.each([
    ['another AS of four octets', '400206 0202 5ba0 0064 c0110a 0202 00011171 00000064', context],
    ['AS_TRANS from a peer with an AS of two', '400206 0202 5ba0 0064', { ...context, peerAsn: asn(101) }],
  ])('is wrong where it is %s', (_, attributes, wrong) => {
    expect(decode(attributes, wrong).treatAsWithdraw).toBe(true);
  });
});

describe('AS4_AGGREGATOR (RFC 6793 section 4.2.3)', () => {
  const path = '400206 0202 5ba0 0064 c0110a 0202 00011170 00000064';

  it('takes the place of AGGREGATOR with AS_TRANS', () => {
    const { attributes, faults } = decode(`${path} c00706 5ba0 c0000201 c01208 00011170 c0000202`);
    expect(faults).toEqual([]);
    expect(attributes?.aggregator?.asn).toBe(70000);
    expect(attributes?.aggregator && formatIpAddress(attributes.aggregator.address)).toBe('192.0.2.2');
    expect(attributes?.asPath).toEqual([sequence(70000, 100)]);
  });

  it('is ignored together with AS4_PATH when AGGREGATOR has an AS of its own', () => {
    const update = decode(`${path} c00706 0064 c0000201 c01208 00011170 c0000202`);
    expect(update.attributes).toMatchObject({ aggregator: { asn: 100 }, asPath: [sequence(23456, 100)] });
    expect(update.faults.map(({ code }) => code)).toEqual([18, 17]);
  });

  it('is ignored without AGGREGATOR', () => {
    const update = decode(`${path} c01208 00011170 c0000202`);
    expect(update).toMatchObject({
      attributes: { aggregator: undefined },
      faults: [{ code: 18, reason: 'AS4_AGGREGATOR ignored: without AGGREGATOR' }],
    });
  });

  it('is discarded when malformed, and AGGREGATOR stands', () => {
    const update = decode(`${path} c00706 5ba0 c0000201 c01207 00011170 c00002`);
    expect(update).toMatchObject({
      attributes: { aggregator: { asn: 23456 } },
      faults: [{ code: 18, subcode: 9 }],
    });
  });
});

describe('towards a peer with 2-octet AS numbers (RFC 6793 section 4.2.2)', () => {
  function send(
    asPath: readonly AsPathSegment[],
    aggregatorAsn?: number,
    context: CodecContext = old,
  ): string {
    const address = parseIpAddress('192.0.2.1');
    const attributes = pathAttributes({
      origin: 0,
      asPath,
      nextHop: parseIpAddress('10.0.0.1'),
      aggregator: aggregatorAsn === undefined ? undefined : { asn: asn(aggregatorAsn), address },
    });
    const nlri = [{ prefix: parsePrefix('0.0.0.0/0'), pathId: undefined }];
    const none = { type: 'UPDATE', withdrawn: [], mpReach: undefined, mpUnreach: undefined } as const;
    return Buffer.from(encodeMessage({ ...none, attributes, nlri }, context))
      .toString('hex')
      .slice(46, -2);
  }

  it('sends AS_TRANS and the whole path in AS4_PATH', () => {
    // The octets on which FRR 8.4, BIRD 2.0, GoBGP 3.10 and OpenBGPD 7.7 agree.
    const path = [sequence(65000, 65001, 70000, 100, 4233894424)];
    const sent = send(path);
    expect(sent).toContain('40020c0205fde8fde95ba000645ba0');
    expect(sent).toContain('c0111602050000fde80000fde90001117000000064fc5c1a18');
  });

  it('sends neither AS4_PATH nor AS4_AGGREGATOR when all fits two octets', () => {
    expect(send([sequence(65000, 100)], 100)).toBe(
      '4001010040020602' + '02fde800644003040a000001c007060064c0000201',
    );
  });

  it('sends AS4_AGGREGATOR beside AS_TRANS', () => {
    const sent = send([sequence(100)], 70000);
    expect(sent).toContain('c007065ba0c0000201');
    expect(sent).toContain('c0120800011170c0000201');
  });

  it('leaves confederation segments out of AS4_PATH', () => {
    const sent = send([{ type: 3, asns: asnsOf([70001]) }, sequence(70000)]);
    expect(sent).toContain('40020803015ba002015ba0');
    expect(sent).toContain('c01106020100011170');
  });

  it('sends four octets and neither of the two to any other peer', () => {
    expect(send([sequence(70000)], 70000, { ...old, asn4: true })).toBe(
      '400101004002060201000111704003040a000001c0070800011170c0000201',
    );
  });

  it('splits a sequence of more than 255 AS numbers', () => {
    const long = Array.from({ length: 256 }, (_, i) => i + 1);
    const sent = send([sequence(...long)], undefined, { ...old, asn4: true });
    expect(sent).toContain('50020404' + '02ff00000001');
    expect(sent).toContain('000000ff' + '0201' + '00000100');
    expect(send([sequence(...long.slice(1))], undefined, { ...old, asn4: true })).toContain(
      '500203fe02ff00000002',
    );
  });
});
