import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv6Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { formatPrefix, parsePrefix } from '../types/prefix.ts';
import { parseRouterId } from '../types/router-id.ts';
import { NotificationError } from '../wire/errors.ts';
import type { DecodedUpdate } from '../wire/message.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import type { AdjRibInOptions } from './adj-rib-in.ts';
import { AdjRibIn } from './adj-rib-in.ts';
import { AttributeTable } from './attribute-table.ts';
import type { ImportPolicy, PathSource } from './path.ts';

const source: PathSource = {
  name: 'tor',
  address: parseIpAddress('10.0.1.1'),
  routerId: parseRouterId('10.0.1.1'),
  asn: asn(65001),
  isInternal: false,
};
const vip = '10.100.0.1/32';

function sequence(...asns: readonly number[]): Pick<PathAttributes, 'asPath'> {
  return { asPath: [{ type: SegmentType.AsSequence, asns: asns.map(asn) }] };
}

function announce(prefixes: readonly string[], fields: Partial<PathAttributes> = {}): DecodedUpdate {
  return {
    type: 'UPDATE',
    withdrawn: [],
    attributes: pathAttributes({
      origin: Origin.Igp,
      ...sequence(65001),
      nextHop: parseIpAddress('10.0.1.1'),
      ...fields,
    }),
    nlri: prefixes.map((text) => ({ prefix: parsePrefix(text), pathId: undefined })),
    mpReach: undefined,
    mpUnreach: undefined,
    faults: [],
    treatAsWithdraw: false,
  };
}

function withdraw(...prefixes: readonly string[]): DecodedUpdate {
  const { nlri, ...others } = announce(prefixes);
  return { ...others, attributes: undefined, withdrawn: nlri, nlri: [] };
}

function ribIn(options: Partial<AdjRibInOptions> = {}): AdjRibIn {
  return new AdjRibIn({ table: new AttributeTable(), source, ...options });
}

const internal: Partial<AdjRibInOptions> = { source: { ...source, asn: asn(64512), isInternal: true } };
const onlyVip: ImportPolicy = (prefix, attributes) =>
  formatPrefix(prefix) === vip
    ? { accept: true, attributes: { ...attributes, localPref: 200 } }
    : { accept: false, reason: `${formatPrefix(prefix)} is not a VIP` };

describe('AdjRibIn with an import policy', () => {
  it('holds what the policy takes, with the attributes that it gives', () => {
    const rib = ribIn({ importPolicy: onlyVip });
    const change = rib.apply(announce([vip, '0.0.0.0/0']), 0);
    expect(change.announced).toMatchObject([{ attributes: { localPref: 200 } }]);
    expect(change.rejected).toEqual([
      { prefix: parsePrefix('0.0.0.0/0'), pathId: 0, reason: '0.0.0.0/0 is not a VIP' },
    ]);
    expect(rib.size).toBe(1);
  });

  it('withdraws a path when another announcement of it is rejected', () => {
    const table = new AttributeTable();
    const rib = ribIn({
      table,
      importPolicy: (_, attributes) =>
        attributes.communities?.includes(13)
          ? { accept: false, reason: 'unlucky' }
          : { accept: true, attributes },
    });
    rib.apply(announce([vip]), 0);
    const change = rib.apply(announce([vip], { communities: [13] }), 1);
    expect(change).toMatchObject({ announced: [], withdrawn: [{}], rejected: [{ reason: 'unlucky' }] });
    expect(rib.size).toBe(0);
    expect(table.size).toBe(0);
  });

  it('counts every rejection and shows the last 32', () => {
    const rib = ribIn({ importPolicy: onlyVip });
    for (let i = 0; i < 40; i++) rib.apply(announce([`10.1.${i}.0/24`]), i);
    expect(rib.rejected.count).toBe(40);
    expect(rib.rejected.last).toHaveLength(32);
    expect(rib.rejected.last[0]?.reason).toBe('10.1.8.0/24 is not a VIP');
    expect(rib.rejected.last.at(-1)?.reason).toBe('10.1.39.0/24 is not a VIP');
  });
});

describe('AdjRibIn and paths that must not be used', () => {
  function reasonOf(options: Partial<AdjRibInOptions>, fields: Partial<PathAttributes>): string | undefined {
    const rib = ribIn(options);
    const change = rib.apply(announce([vip], fields), 0);
    expect(change.rejected.length + change.announced.length).toBe(1);
    expect(rib.size).toBe(change.announced.length);
    return change.rejected[0]?.reason;
  }

  it('rejects a path with our AS in its AS_PATH, whatever policy says (RFC 4271 section 9.1.2)', () => {
    const looped = sequence(65001, 64512, 65002);
    expect(reasonOf({ localAsn: asn(64512) }, looped)).toBe('own AS 64512 in AS_PATH');
    expect(reasonOf({ localAsn: asn(64513) }, looped)).toBeUndefined();
    expect(reasonOf({}, looped)).toBeUndefined();
  });

  it('withdraws the path that a looped one replaces', () => {
    const rib = ribIn({ localAsn: asn(64512) });
    rib.apply(announce([vip]), 0);
    expect(rib.apply(announce([vip], sequence(65001, 64512)), 1).withdrawn).toHaveLength(1);
  });

  it('rejects its own ORIGINATOR_ID and its own cluster (RFC 4456 section 8)', () => {
    const own = parseRouterId('10.0.0.10');
    const other = parseRouterId('10.0.0.11');
    const originator = { originatorId: own };
    expect(reasonOf({ ...internal, routerId: own }, originator)).toBe(
      'own BGP Identifier 10.0.0.10 in ORIGINATOR_ID',
    );
    expect(reasonOf({ ...internal, routerId: other }, originator)).toBeUndefined();
    const clusters = { clusterList: [other, own] };
    expect(reasonOf({ ...internal, clusterId: own }, clusters)).toBe('own cluster 10.0.0.10 in CLUSTER_LIST');
    expect(reasonOf({ ...internal, clusterId: parseRouterId('9.9.9.9') }, clusters)).toBeUndefined();
  });

  it('rejects its own address as next hop (RFC 4271 section 5.1.3)', () => {
    const rib = ribIn({});
    rib.localAddress = parseIpAddress('10.0.0.10');
    const change = rib.apply(announce([vip], { nextHop: parseIpAddress('10.0.0.10') }), 0);
    expect(change.rejected).toMatchObject([{ reason: 'own address 10.0.0.10 as next hop' }]);
    expect(rib.apply(announce([vip], { nextHop: parseIpAddress('10.0.0.11') }), 0).announced).toHaveLength(1);
  });
});

describe('AdjRibIn with a limit', () => {
  function limitError(rib: AdjRibIn, update: DecodedUpdate): NotificationError {
    try {
      rib.apply(update, 0);
    } catch (error) {
      if (error instanceof NotificationError) return error;
      throw error;
    }
    throw new Error('the limit was not enforced');
  }

  it('ends the session by Cease/1 with AFI, SAFI and limit when it is passed (RFC 4486 section 4)', () => {
    const rib = ribIn({ maxPaths: 2 });
    rib.apply(announce(['10.1.0.0/24', '10.2.0.0/24']), 0);
    const error = limitError(rib, announce(['10.3.0.0/24']));
    expect([error.code, error.subcode]).toEqual([6, 1]);
    expect(error.data).toEqual(Uint8Array.of(0, 1, 1, 0, 0, 0, 2));
  });

  it('changes nothing by the UPDATE that passes it', () => {
    const table = new AttributeTable();
    const rib = ribIn({ table, maxPaths: 2 });
    rib.apply(announce(['10.1.0.0/24']), 0);
    limitError(rib, announce(['10.1.0.0/24', '10.2.0.0/24', '10.3.0.0/24'], { multiExitDisc: 1 }));
    expect([...rib.paths()]).toMatchObject([{ attributes: { multiExitDisc: undefined } }]);
    expect(table.size).toBe(1);
  });

  it('counts a replaced path once and a withdrawn or rejected one not at all', () => {
    const rib = ribIn({ maxPaths: 1, importPolicy: onlyVip });
    rib.apply(announce([vip, '10.1.0.0/24', '10.2.0.0/24']), 0);
    rib.apply(announce([vip], { multiExitDisc: 1 }), 1);
    rib.apply(withdraw(vip), 2);
    rib.apply(announce([vip]), 3);
    expect(rib.size).toBe(1);
  });

  it('holds for each family by itself', () => {
    const rib = ribIn({ maxPaths: 1 });
    rib.apply(announce(['10.1.0.0/24']), 0);
    const mpReach = {
      family: ipv6Unicast,
      nextHop: { address: parseIpAddress('2001:db8::1'), linkLocal: undefined },
      nlri: [{ prefix: parsePrefix('2001:db8:1::/48'), pathId: undefined }],
    };
    rib.apply({ ...announce([]), mpReach }, 1);
    expect(rib.size).toBe(2);
    const second = [{ prefix: parsePrefix('2001:db8:2::/48'), pathId: undefined }];
    const error = limitError(rib, { ...announce([]), mpReach: { ...mpReach, nlri: second } });
    expect(error.data).toEqual(Uint8Array.of(0, 2, 1, 0, 0, 0, 1));
  });

  it('of what is received counts what policy rejects, and what is withdrawn no more', () => {
    const rib = ribIn({ maxReceived: 2, importPolicy: onlyVip });
    rib.apply(announce([vip, '10.1.0.0/24']), 0);
    rib.apply(announce(['10.1.0.0/24'], { multiExitDisc: 1 }), 1);
    const error = limitError(rib, announce(['10.2.0.0/24']));
    expect([error.code, error.subcode]).toEqual([6, 1]);
    expect(error.data).toEqual(Uint8Array.of(0, 1, 1, 0, 0, 0, 2));
    rib.apply(withdraw('10.1.0.0/24'), 2);
    rib.apply(announce(['10.2.0.0/24']), 3);
    expect(rib.size).toBe(1);
  });

  it('of what is received begins anew with each session, in which everything is announced again', () => {
    const rib = ribIn({ maxReceived: 2, importPolicy: onlyVip });
    rib.apply(announce([vip, '10.1.0.0/24']), 0);
    rib.markStale();
    rib.apply(announce([vip, '10.2.0.0/24']), 1);
    expect(rib.size).toBe(1);
  });
});

describe('import policy that decides otherwise than before', () => {
  it('removes the paths that it takes no more, with the reason, and leaves the others as they are', () => {
    let taken = [vip, '10.100.0.2/32'];
    const table = new AttributeTable();
    const importPolicy: ImportPolicy = (prefix, attributes) =>
      taken.includes(formatPrefix(prefix))
        ? { accept: true, attributes: { ...attributes, localPref: 200 } }
        : { accept: false, reason: `${formatPrefix(prefix)} is not a VIP` };
    const rib = ribIn({ table, importPolicy });
    rib.apply(announce([vip]), 0);
    rib.apply(announce(['10.100.0.2/32'], { multiExitDisc: 1 }), 0);
    const [before] = rib.pathsOf(parsePrefix(vip));
    expect(rib.reapplyPolicy()).toEqual({ announced: [], withdrawn: [], rejected: [] });
    taken = [vip];
    const { withdrawn, rejected } = rib.reapplyPolicy();
    expect(withdrawn.map(({ prefix }) => formatPrefix(prefix))).toEqual(['10.100.0.2/32']);
    expect(rejected.map(({ reason }) => reason)).toEqual(['10.100.0.2/32 is not a VIP']);
    expect(rib.rejected).toMatchObject({ count: 1, last: [{ reason: '10.100.0.2/32 is not a VIP' }] });
    expect([...rib.paths()]).toEqual([before]);
    expect(table.size).toBe(1);
  });
});
