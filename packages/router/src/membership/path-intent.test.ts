import { asn, pathAttributes } from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { pathIdentities, pathIntent } from './path-intent.ts';

const local = asn(64512);

function reason(code: number, administrator = 64512) {
  return [{ globalAdministrator: administrator, localData1: 2, localData2: code }];
}

describe('pathIntent', () => {
  it('is active without GRACEFUL_SHUTDOWN', () => {
    expect(pathIntent(pathAttributes({ localPref: 100 }), local).intent).toBe('active');
  });

  it('is active at any LOCAL_PREF but zero', () => {
    expect(pathIntent(pathAttributes({ localPref: 1 }), local).intent).toBe('active');
  });

  it('is draining by GRACEFUL_SHUTDOWN with reason 1', () => {
    const attributes = pathAttributes({
      communities: [0xffff0000],
      localPref: 0,
      largeCommunities: reason(1),
    });
    expect(pathIntent(attributes, local).intent).toBe('draining');
  });

  it('is last-resort by GRACEFUL_SHUTDOWN with reason 2 and with none', () => {
    const communities = [0xffff0000];
    expect(pathIntent(pathAttributes({ communities, largeCommunities: reason(2) }), local).intent).toBe(
      'last-resort',
    );
    expect(pathIntent(pathAttributes({ communities }), local).intent).toBe('last-resort');
  });

  it('is last-resort by LOCAL_PREF 0 alone', () => {
    expect(pathIntent(pathAttributes({ localPref: 0 }), local).intent).toBe('last-resort');
  });

  it('does not take the reason of another AS for its own', () => {
    const attributes = pathAttributes({
      communities: [0xffff0000],
      largeCommunities: reason(1, 65001),
    });
    expect(pathIntent(attributes, local).intent).toBe('last-resort');
  });
});

describe('pathIdentities', () => {
  it('are what our AS’s large communities of kind 1 say, sixteen at most', () => {
    const of = (globalAdministrator: number, localData1: number, localData2: number) => ({
      globalAdministrator,
      localData1,
      localData2,
    });
    const largeCommunities = [of(64512, 1, 7), of(64512, 2, 1), of(64513, 1, 8), of(64512, 1, 9)];
    expect(pathIdentities(pathAttributes({ largeCommunities }), local)).toEqual([7, 9]);
    expect(pathIdentities(pathAttributes({}), local)).toEqual([]);
    const many = Array.from({ length: 3000 }, (_, i) => of(64512, 1, i));
    expect(pathIdentities(pathAttributes({ largeCommunities: many }), local)).toHaveLength(16);
  });
});
