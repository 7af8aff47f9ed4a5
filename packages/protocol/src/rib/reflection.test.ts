import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { parseRouterId } from '../types/router-id.ts';
import { WellKnownCommunity } from '../wire/attribute/communities.ts';
import { SegmentType } from '../wire/path-attributes.ts';
import { pathFrom, source } from './kit/paths.ts';
import { passedOnAttributes, type ReflectionPeer, reflectionRefusal } from './reflection.ts';

type Kind = 'client' | 'non-client' | 'external';

const identity = { localAsn: asn(64512), clusterId: parseRouterId('10.0.0.10') };
const other = parseRouterId('10.9.9.9');

function peer(host: number, kind: Kind): ReflectionPeer {
  const { name, routerId } = source(host);
  return { name, routerId, isInternal: kind !== 'external', isClient: kind === 'client' };
}

function sourceOf(host: number, kind: Kind): ReturnType<typeof source> {
  return source(host, kind === 'external' ? { isInternal: false, asn: asn(65001) } : {});
}

describe('who gets what (RFC 4456 section 6)', () => {
  it.each<[Kind, Kind, string | undefined]>([
    ['client', 'client', undefined],
    ['client', 'non-client', undefined],
    ['client', 'external', undefined],
    ['non-client', 'client', undefined],
    ['non-client', 'non-client', 'both are non-clients'],
    ['non-client', 'external', undefined],
    ['external', 'client', undefined],
    ['external', 'non-client', undefined],
    ['external', 'external', undefined],
  ])('a path of a %s to a %s: %s', (from, to, refusal) => {
    const path = pathFrom(sourceOf(11, from));
    expect(reflectionRefusal(path, peer(11, from), peer(12, to))).toBe(refusal);
  });

  it('nothing goes back to where it came from, nor to its originator by another way', () => {
    const client = peer(11, 'client');
    expect(reflectionRefusal(pathFrom(source(11)), client, client)).toBe('it came from there');
    const reflected = pathFrom(source(9), { originatorId: client.routerId });
    expect(reflectionRefusal(reflected, peer(9, 'non-client'), client)).toBe('it is the originator');
  });

  it.each<[keyof typeof WellKnownCommunity, Kind, string | undefined]>([
    ['NoAdvertise', 'client', 'NO_ADVERTISE'],
    ['NoExport', 'client', undefined],
    ['NoExport', 'external', 'NO_EXPORT'],
    ['NoExportSubconfed', 'external', 'NO_EXPORT_SUBCONFED'],
    ['GracefulShutdown', 'external', undefined],
  ])('a path with %s to a %s: %s', (community, to, refusal) => {
    const path = pathFrom(source(11), { communities: [WellKnownCommunity[community]] });
    expect(reflectionRefusal(path, peer(11, 'client'), peer(12, to))).toBe(refusal);
  });
});

describe('a next hop that is link-local alone (RFC 2545 section 3)', () => {
  const linkLocal = { nextHop: parseIpAddress('fe80::11') };
  const onAnother = 'its link-local next hop is on another link';

  it.each([
    ['eth0', 'eth0', undefined],
    ['eth0', 'eth1', onAnother],
    ['eth0', undefined, onAnother],
    [undefined, undefined, onAnother],
  ])('of a session on %s is for sessions on the same link: %s: %s', (from, to, refusal) => {
    const path = pathFrom(source(11, { zone: from }), linkLocal, { prefix: 'fd00:64::1/128' });
    expect(reflectionRefusal(path, peer(11, 'client'), { ...peer(12, 'client'), zone: to })).toBe(refusal);
  });
});

describe('what a path is passed on with', () => {
  const sequence = (...asns: number[]) => ({ type: SegmentType.AsSequence, asns: asns.map(asn) });

  it('gets ORIGINATOR_ID and CLUSTER_LIST between internal peers, and nothing else is touched', () => {
    const path = pathFrom(source(11), { multiExitDisc: 5, localPref: 7, communities: [1] });
    expect(passedOnAttributes(path, true, identity)).toEqual({
      ...path.attributes,
      originatorId: path.from.routerId,
      clusterList: [identity.clusterId],
    });
  });

  it('keeps the ORIGINATOR_ID that it has, and our cluster is put in front', () => {
    const path = pathFrom(source(9), { originatorId: other, clusterList: [other] });
    expect(passedOnAttributes(path, true, identity)).toMatchObject({
      originatorId: other,
      clusterList: [identity.clusterId, other],
    });
  });

  it('of an external peer is not reflected but passed on, with a LOCAL_PREF', () => {
    const path = pathFrom(sourceOf(11, 'external'), { asPath: [sequence(65001)] });
    expect(passedOnAttributes(path, true, identity)).toEqual({ ...path.attributes, localPref: 100 });
  });

  it('loses what belongs to the AS on its way out, and our AS is prepended', () => {
    const path = pathFrom(source(11), {
      asPath: [sequence(65001)],
      multiExitDisc: 5,
      originatorId: other,
      clusterList: [other],
    });
    expect(passedOnAttributes(path, false, identity)).toEqual({
      ...path.attributes,
      asPath: [sequence(64512, 65001)],
      multiExitDisc: undefined,
      localPref: undefined,
      originatorId: undefined,
      clusterList: undefined,
    });
  });

  it('leaves extended communities that are not transitive behind at the border of the AS (RFC 4360 section 6)', () => {
    const extended = (type: number) => ({ bytes: Uint8Array.of(type, 2, 0, 0, 0, 0, 0, 1) });
    const path = (...types: number[]) => pathFrom(source(11), { extendedCommunities: types.map(extended) });
    const both = path(0x00, 0x40, 0xc3, 0x83);
    expect(passedOnAttributes(both, true, identity).extendedCommunities).toHaveLength(4);
    const passedOn = passedOnAttributes(both, false, identity).extendedCommunities;
    expect(passedOn).toEqual([extended(0x00), extended(0x83)]);
    expect(passedOnAttributes(path(0x40), false, identity).extendedCommunities).toBeUndefined();
  });

  it.each([true, false])(
    'leaves the link-local address of the next hop behind (towards internal peers: %s)',
    (toInternal) => {
      const nextHop = parseIpAddress('fd00::11');
      const linkLocalNextHop = parseIpAddress('fe80::11');
      const path = pathFrom(source(11), { nextHop, linkLocalNextHop }, { prefix: 'fd00:64::1/128' });
      expect(passedOnAttributes(path, toInternal, identity)).toMatchObject({
        nextHop,
        linkLocalNextHop: undefined,
      });
    },
  );

  it('gets a segment more where the first is full or a set', () => {
    const full = sequence(...Array.from({ length: 255 }, () => 65001));
    const set = { type: SegmentType.AsSet, asns: [asn(65001)] };
    for (const first of [full, set]) {
      const path = pathFrom(source(11), { asPath: [first] });
      expect(passedOnAttributes(path, false, identity).asPath).toEqual([sequence(64512), first]);
    }
    expect(passedOnAttributes(pathFrom(source(11)), false, identity).asPath).toEqual([sequence(64512)]);
  });
});
