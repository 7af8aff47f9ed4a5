import { asn, formatIpAddress, type PathAttributes, parseIpAddress } from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { type AdvertisementInput, advertisementAttributes } from './attributes.ts';

const input: AdvertisementInput = {
  vip: {},
  localAsn: asn(64512),
  isInternal: true,
  nextHop: parseIpAddress('10.0.0.11'),
  advertisement: 'normal',
  caKeys: [`deadbeef${'0'.repeat(56)}`],
  isVipBound: true,
};

function attributes(changes: Partial<AdvertisementInput> = {}): PathAttributes {
  return advertisementAttributes({ ...input, ...changes });
}

function large({ largeCommunities = [] }: PathAttributes): string[] {
  return largeCommunities.map((one) => `${one.globalAdministrator}:${one.localData1}:${one.localData2}`);
}

describe('the advertisement of a VIP', () => {
  it('says where no VIP is on this master, by a large community', () => {
    expect(large(attributes({ isVipBound: false }))).toEqual([`64512:1:${0xdeadbeef}`, '64512:3:1']);
  });

  it('has our own address as its next hop, ORIGIN IGP and LOCAL_PREF 100', () => {
    const { nextHop, origin, localPref, asPath, communities } = attributes();
    expect(nextHop === undefined ? undefined : formatIpAddress(nextHop)).toBe('10.0.0.11');
    expect({ origin, localPref, asPath, communities }).toEqual({
      origin: 0,
      localPref: 100,
      asPath: [],
      communities: undefined,
    });
  });

  it('carries the identity of the cluster, once per CA key', () => {
    expect(large(attributes())).toEqual([`64512:1:${0xdeadbeef}`]);
    const [a, b] = [`00000002${'0'.repeat(56)}`, `00000001${'0'.repeat(56)}`];
    expect(large(attributes({ caKeys: [a, b, a] }))).toEqual(['64512:1:1', '64512:1:2']);
  });

  it('asks to be used last as a last resort, and says so', () => {
    const path = attributes({ advertisement: 'last-resort' });
    expect(path.communities).toEqual([0xffff0000]);
    expect(path.localPref).toBe(0);
    expect(large(path)).toContain('64512:2:2');
  });

  it('asks to be used last while it drains, and says so', () => {
    const path = attributes({ advertisement: 'draining' });
    expect(path.communities).toEqual([0xffff0000]);
    expect(path.localPref).toBe(0);
    expect(large(path)).toContain('64512:2:1');
  });

  it('goes to another AS with our AS in its path and without LOCAL_PREF', () => {
    const path = attributes({ isInternal: false, advertisement: 'last-resort' });
    expect(path.asPath).toEqual([{ type: 2, asns: [64512] }]);
    expect(path.localPref).toBeUndefined();
    expect(path.communities).toEqual([0xffff0000]);
  });

  it('carries what the operator asks for, of which a drain keeps all but the preference', () => {
    const large1 = { globalAdministrator: 64512, localData1: 77, localData2: 1 };
    const vip = { localPref: 250, med: 7, communities: [0xfc000064, large1, 0xffffff01] };
    expect(attributes({ vip })).toMatchObject({
      localPref: 250,
      multiExitDisc: 7,
      communities: [0xfc000064, 0xffffff01],
    });
    expect(large(attributes({ vip }))).toEqual([`64512:1:${0xdeadbeef}`, '64512:77:1']);
    const drained = attributes({ vip, advertisement: 'draining' });
    expect(drained).toMatchObject({
      localPref: 0,
      multiExitDisc: 7,
      communities: [0xfc000064, 0xffff0000, 0xffffff01],
    });
    expect(large(drained)).toEqual([`64512:1:${0xdeadbeef}`, '64512:77:1', '64512:2:1']);
    expect(attributes({ vip, isInternal: false })).toMatchObject({ localPref: undefined, multiExitDisc: 7 });
  });
});
