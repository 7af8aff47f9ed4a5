import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { routerId } from '../types/router-id.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import { AttributeTable } from './attribute-table.ts';

const base: Partial<PathAttributes> = {
  origin: Origin.Igp,
  asPath: [{ type: SegmentType.AsSequence, asns: [asn(65001)] }],
  nextHop: parseIpAddress('10.0.0.1'),
  localPref: 100,
};

function large(localData2: number): NonNullable<PathAttributes['largeCommunities']>[number] {
  return { globalAdministrator: 64512, localData1: 2, localData2 };
}

describe('AttributeTable', () => {
  it('keeps one object for sets that are equal', () => {
    const table = new AttributeTable();
    const first = table.intern(pathAttributes({ ...base }));
    const second = table.intern(pathAttributes({ ...base, nextHop: parseIpAddress('10.0.0.1') }));
    expect(second).toBe(first);
    expect(table.size).toBe(1);
  });

  it('gives back the same object when that object is interned again', () => {
    const table = new AttributeTable();
    const first = table.intern(pathAttributes(base));
    expect(table.intern(first)).toBe(first);
    expect(table.size).toBe(1);
  });

  it.each<[string, Partial<PathAttributes>]>([
    ['ORIGIN', { origin: Origin.Incomplete }],
    ['an absent AS_PATH', { asPath: undefined }],
    ['an empty AS_PATH', { asPath: [] }],
    ['the kind of an AS_PATH segment', { asPath: [{ type: SegmentType.AsSet, asns: [asn(65001)] }] }],
    [
      'where an AS_PATH segment ends',
      {
        asPath: [
          { type: SegmentType.AsSequence, asns: [asn(65001)] },
          { type: SegmentType.AsSequence, asns: [] },
        ],
      },
    ],
    ['the next hop', { nextHop: parseIpAddress('10.0.0.2') }],
    ['the version of the next hop', { nextHop: parseIpAddress('a00:1::') }],
    ['the link-local next hop', { linkLocalNextHop: parseIpAddress('fe80::1') }],
    ['MULTI_EXIT_DISC 0', { multiExitDisc: 0 }],
    ['LOCAL_PREF', { localPref: 0 }],
    ['which of MED and LOCAL_PREF it is', { multiExitDisc: 100, localPref: undefined }],
    ['ATOMIC_AGGREGATE', { atomicAggregate: true }],
    ['AGGREGATOR', { aggregator: { asn: asn(65001), address: parseIpAddress('10.0.0.1') } }],
    ['a community', { communities: [1] }],
    ['ORIGINATOR_ID', { originatorId: routerId(1) }],
    ['CLUSTER_LIST', { clusterList: [routerId(1)] }],
    ['an extended community', { extendedCommunities: [{ bytes: Uint8Array.of(0, 2, 0, 0, 0, 0, 0, 1) }] }],
    ['a large community', { largeCommunities: [large(1)] }],
    ['an unknown attribute', { unknown: [{ code: 99, flags: 0xc0, value: Uint8Array.of(1) }] }],
  ])('keeps sets apart that differ in %s', (_, difference) => {
    const table = new AttributeTable();
    const plain = table.intern(pathAttributes(base));
    const other = table.intern(pathAttributes({ ...base, ...difference }));
    expect(other).not.toBe(plain);
    expect(table.size).toBe(2);
  });

  it('keeps sets apart whose unknown attributes contain what a key is written with', () => {
    const table = new AttributeTable();
    const octets = (text: string): Uint8Array => new TextEncoder().encode(text);
    const unknown = (first: string, second: string): PathAttributes =>
      pathAttributes({
        unknown: [
          { code: 99, flags: 192, value: octets(first) },
          { code: 100, flags: 192, value: octets(second) },
        ],
      });
    expect(table.intern(unknown('', '100,192,Z'))).not.toBe(table.intern(unknown('100,192,', 'Z')));
  });

  it('takes the order and the repetition of communities as nothing (RFC 1997, RFC 8092 section 3)', () => {
    const table = new AttributeTable();
    const low = { bytes: Uint8Array.of(0, 2, 0, 0, 0, 0, 0, 1) };
    const high = { bytes: Uint8Array.of(0, 2, 0, 0, 0, 0, 0, 2) };
    const sorted = table.intern(
      pathAttributes({
        communities: [1, 0xffff0000],
        largeCommunities: [large(1), large(2)],
        extendedCommunities: [low, high],
      }),
    );
    const shuffled = table.intern(
      pathAttributes({
        communities: [0xffff0000, 1, 0xffff0000],
        largeCommunities: [large(2), large(1), large(2)],
        extendedCommunities: [high, low, high],
      }),
    );
    expect(shuffled).toBe(sorted);
    expect(sorted.communities).toEqual([1, 0xffff0000]);
    expect(sorted.largeCommunities).toEqual([large(1), large(2)]);
    expect(sorted.extendedCommunities).toEqual([low, high]);
  });

  it('keeps the order of a CLUSTER_LIST, which is a path', () => {
    const table = new AttributeTable();
    const one = table.intern(pathAttributes({ clusterList: [routerId(2), routerId(1)] }));
    expect(table.intern(pathAttributes({ clusterList: [routerId(1), routerId(2)] }))).not.toBe(one);
    expect(one.clusterList).toEqual([2, 1]);
  });

  it('takes empty lists that have no form on the wire as absent', () => {
    const table = new AttributeTable();
    const empty = { communities: [], largeCommunities: [], extendedCommunities: [], clusterList: [] };
    expect(table.intern(pathAttributes(empty))).toBe(table.intern(pathAttributes({})));
  });

  it('takes the Partial bit of what is not there as nothing (RFC 4271 section 5)', () => {
    const table = new AttributeTable();
    const fields = { origin: Origin.Igp, communities: [1], extendedCommunities: [] };
    const known = table.intern(pathAttributes({ ...fields, partial: [8] }));
    expect(known.partial).toEqual([8]);
    expect(table.intern(pathAttributes(fields))).not.toBe(known);
    // 16: all extended communities may have stayed behind; 17: an AS4_PATH is part of the AS_PATH by now.
    expect(table.intern(pathAttributes({ ...fields, partial: [7, 8, 16, 17, 32] }))).toBe(known);
    expect(table.intern(pathAttributes({ origin: Origin.Igp, partial: [8] })).partial).toBeUndefined();
  });

  it('forgets a set with its last reference and not before', () => {
    const table = new AttributeTable();
    const attributes = table.intern(pathAttributes(base));
    table.intern(pathAttributes(base));
    table.release(attributes);
    expect(table.size).toBe(1);
    expect(table.intern(pathAttributes(base))).toBe(attributes);
    table.release(attributes);
    table.release(attributes);
    expect(table.size).toBe(0);
  });

  it('refuses to release what it does not hold', () => {
    const table = new AttributeTable();
    const attributes = table.intern(pathAttributes(base));
    table.release(attributes);
    expect(() => table.release(attributes)).toThrow(RangeError);
    expect(() => table.release(pathAttributes(base))).toThrow('does not hold');
  });

  it('copies octets out of the buffer that they were received in', () => {
    const table = new AttributeTable();
    const segment = new Uint8Array(65536).fill(7);
    const held = table.intern(
      pathAttributes({
        nextHop: { version: 4, bytes: segment.subarray(0, 4) },
        unknown: [{ code: 99, flags: 0xc0, value: Buffer.from(segment.buffer, 8, 3) }],
      }),
    );
    segment.fill(0);
    expect(held.nextHop?.bytes).toEqual(Uint8Array.of(7, 7, 7, 7));
    expect(held.unknown[0]?.value).toEqual(Uint8Array.of(7, 7, 7));
    expect(held.unknown[0]?.value.buffer.byteLength).toBe(3);
  });
});
