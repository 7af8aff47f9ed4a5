import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { formatIpAddress } from '../types/ip-address.ts';
import { formatPrefix } from '../types/prefix.ts';
import type { CodecContext } from './context.ts';
import { openContext } from './context.ts';
import type { DecodedUpdate } from './message.ts';
import { decodeMessage } from './message-codec.ts';
import type { Nlri } from './nlri.ts';

const context: CodecContext = {
  ...openContext(asn(65000)),
  asn4: true,
  peerAsn: asn(65001),
  families: [ipv4Unicast, ipv6Unicast],
};
const base = '40 01 01 00 40 02 06 02 01 0000fde9';
const mandatory = `${base} 40 03 04 0a000002`;
const globalNextHop = '20010db8000000000000000000000001';
const linkLocal = 'fe800000000000000000000000000001';

const octets = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

/** A body from its fields, or as it is. */
function decodeBody(body: Buffer, session: CodecContext = context): DecodedUpdate {
  const length = 19 + body.length;
  const header = Buffer.from([...Buffer.alloc(16, 0xff), length >> 8, length & 0xff, 2]);
  const message = decodeMessage({ type: 2, bytes: Buffer.concat([header, body]) }, session);
  if (message.type !== 'UPDATE') throw new Error(`${message.type} came out`);
  return message;
}

function decode(
  { withdrawn = '', attributes = '', nlri = '' }: { withdrawn?: string; attributes?: string; nlri?: string },
  session: CodecContext = context,
): DecodedUpdate {
  const parts = [octets(withdrawn), octets(attributes)].map((field) =>
    Buffer.concat([Buffer.from([field.length >> 8, field.length & 0xff]), field]),
  );
  return decodeBody(Buffer.concat([...parts, octets(nlri)]), session);
}

const names = (list: readonly Nlri[] | undefined): string[] | undefined =>
  list?.map(({ prefix, pathId }) => formatPrefix(prefix) + (pathId === undefined ? '' : ` path ${pathId}`));

describe('NLRI (RFC 4271 section 4.3)', () => {
  it('reads announced and withdrawn prefixes of every length, and clears host bits', () => {
    const update = decode({
      withdrawn: '00 20 0a000001',
      attributes: mandatory,
      nlri: '18 0a0001 17 0a00ff 01 ff 18 0a0001',
    });
    expect(names(update.withdrawn)).toEqual(['0.0.0.0/0', '10.0.0.1/32']);
    expect(names(update.nlri)).toEqual(['10.0.1.0/24', '10.0.254.0/23', '128.0.0.0/1', '10.0.1.0/24']);
  });

  it('reads path identifiers only where they were negotiated (RFC 7911)', () => {
    const addPath = { ...context, addPathReceive: [ipv4Unicast] };
    const update = decode(
      { withdrawn: '00000000 00', attributes: mandatory, nlri: '00000001 180a0001 ffffffff 180a0001' },
      addPath,
    );
    expect(names(update.withdrawn)).toEqual(['0.0.0.0/0 path 0']);
    expect(names(update.nlri)).toEqual(['10.0.1.0/24 path 1', '10.0.1.0/24 path 4294967295']);
    const mp = `${base} 80 0e 16 0002 01 10 ${globalNextHop} 00 00`;
    expect(names(decode({ attributes: mp }, addPath).mpReach?.nlri)).toEqual(['::/0']);
  });

  it.each([
    ['nlri', '21 0a00000100'],
    ['nlri', '18 0a00'],
    ['nlri', '180a0001 20'],
    ['withdrawn', '21 0a00000100'],
    ['withdrawn', '08'],
    ['withdrawn', 'ff'],
  ] as const)('ends the session with 3/10 when %s is %s (RFC 7606 section 5.3)', (field, hex) => {
    expect(() => decode({ attributes: mandatory, [field]: hex })).toThrow(
      expect.objectContaining({ code: 3, subcode: 10 }),
    );
  });
});

describe('lengths (RFC 7606 sections 3 (b) and 4)', () => {
  it.each([
    ['Withdrawn Routes Length beyond the message', '0005 08 0a 0000'],
    ['Withdrawn Routes Length that leaves no room for the next one', '0002 08 0a'],
    ['Withdrawn Routes Length that leaves one octet', '0002 08 0a 00'],
    ['Total Path Attribute Length beyond the message', '0000 0005 40010100'],
    ['Total Path Attribute Length 65535', '0000 ffff'],
  ])('ends the session with 3/1 on %s', (_, body) => {
    expect(() => decodeBody(octets(body))).toThrow(expect.objectContaining({ code: 3, subcode: 1 }));
  });

  it.each([
    ['the last attribute passes the end', `${mandatory} 80 04 05 00000000`, 4, 5],
    ['the last attribute passes the end, with extended length', `${mandatory} 90 04 ffff 00000000`, 4, 5],
    ['one octet is left', `${mandatory} 80`, 0, 1],
    ['two octets are left', `${mandatory} 80 04`, 0, 1],
    ['three octets are left of an extended length', `${mandatory} 90 04 00`, 0, 1],
  ])('finds the routes and treats them as withdrawn when %s', (_, attributes, code, subcode) => {
    const update = decode({ attributes, nlri: '180a0001' });
    expect(update).toMatchObject({ treatAsWithdraw: true, faults: [{ code, subcode }] });
    expect(names(update.nlri)).toEqual(['10.0.1.0/24']);
  });

  it.each(['80 0e 20 0001', '80 0f 20 0001'])(
    'ends the session when the attribute that passes the end carries NLRI: %s (section 3 (j))',
    (attribute) => {
      expect(() => decode({ attributes: `${mandatory} ${attribute}`, nlri: '180a0001' })).toThrow(
        expect.objectContaining({ code: 3, subcode: 5 }),
      );
    },
  );

  it('accepts an Extended Length that was not needed, and ignores the low flag bits', () => {
    const update = decode({ attributes: `5f 01 0001 00 ${base.slice(12)} 40 03 04 0a000002`, nlri: '00' });
    expect(update).toMatchObject({ faults: [], attributes: { origin: 0 } });
  });
});

describe('missing NLRI (RFC 7606 section 5.2)', () => {
  it.each([
    ['an attribute and nothing else', { attributes: '40 01 01 09' }, 6, '40010109'],
    ['withdrawn routes', { withdrawn: '00', attributes: '80 04 03 000000' }, 5, '800403000000'],
    ['an MP_UNREACH_NLRI', { attributes: '80 0f 03 000201 40 01 01 09' }, 6, '40010109'],
    [
      'an MP_REACH_NLRI without NLRI',
      { attributes: `80 0e 09 0001 01 04 0a000001 00 40 01 01 09` },
      6,
      '40010109',
    ],
    ['broken framing', { attributes: '40 01 05 00' }, 5, '40010500'],
  ])('ends the session for a fault beside %s, with the attribute as data', (_, fields, subcode, data) => {
    expect(() => decode(fields)).toThrow(
      expect.objectContaining({ code: 3, subcode, data: Uint8Array.from(octets(data)) }),
    );
  });

  it('lives on when attributes are only discarded', () => {
    expect(decode({ attributes: '40 06 01 00' })).toMatchObject({
      treatAsWithdraw: false,
      faults: [{ code: 6 }],
    });
  });

  it('takes attributes without any route as a valid UPDATE (RFC 4271 section 6.3)', () => {
    expect(decode({ attributes: '40 01 01 02' })).toMatchObject({ faults: [], attributes: { origin: 2 } });
  });
});

describe('End-of-RIB and withdrawals', () => {
  it('has no attributes when empty', () => {
    expect(decode({})).toEqual({
      type: 'UPDATE',
      withdrawn: [],
      attributes: undefined,
      nlri: [],
      mpReach: undefined,
      mpUnreach: undefined,
      faults: [],
      treatAsWithdraw: false,
    });
  });

  it('has an MP_UNREACH_NLRI without routes and no other attribute, also with extended length as BIRD sends it', () => {
    const marker = { attributes: undefined, mpUnreach: { family: ipv6Unicast, nlri: [] }, faults: [] };
    expect(decode({ attributes: '80 0f 03 0002 01' })).toMatchObject(marker);
    expect(decode({ attributes: '90 0f 0003 0002 01' })).toMatchObject(marker);
  });

  it('needs no mandatory attribute to withdraw', () => {
    const update = decode({ attributes: `80 0f 08 0002 01 20 20010db8` });
    expect(names(update.mpUnreach?.nlri)).toEqual(['2001:db8::/32']);
    expect(update.faults).toEqual([]);
  });
});

describe('MP_REACH_NLRI and MP_UNREACH_NLRI (RFC 4760, RFC 2545)', () => {
  const reach = (nextHop: string, nlri: string, family = '0002 01'): string => {
    const value = octets(
      `${family} ${octets(nextHop).length.toString(16).padStart(2, '0')} ${nextHop} 00 ${nlri}`,
    );
    return `${base} 80 0e ${value.length.toString(16).padStart(2, '0')} ${value.toString('hex')}`;
  };

  it.each([
    ['a global address', globalNextHop, '2001:db8::1', undefined],
    ['a link-local address alone', linkLocal, 'fe80::1', undefined],
    ['both', globalNextHop + linkLocal, '2001:db8::1', 'fe80::1'],
    [':: and link-local, as BIRD sends', '00'.repeat(16) + linkLocal, 'fe80::1', 'fe80::1'],
    ['link-local twice, as FRR sends', linkLocal + linkLocal, 'fe80::1', 'fe80::1'],
  ])('reads an IPv6 next hop of %s', (_, hex, address, local) => {
    const { mpReach, attributes, faults } = decode({ attributes: reach(hex, '20 20010db8') });
    expect(faults).toEqual([]);
    expect(formatIpAddress(mpReach?.nextHop.address ?? fail())).toBe(address);
    expect(mpReach?.nextHop.linkLocal && formatIpAddress(mpReach.nextHop.linkLocal)).toBe(local);
    expect(attributes).toMatchObject({
      nextHop: mpReach?.nextHop.address,
      linkLocalNextHop: mpReach?.nextHop.linkLocal,
    });
  });

  it('reads IPv4 routes, and ignores a NEXT_HOP beside them (RFC 4760 section 3)', () => {
    const attributes = `${reach('0a000009', '180a0001', '0001 01')} 40 03 04 0a000002`;
    const update = decode({ attributes });
    expect(formatIpAddress(update.attributes?.nextHop ?? fail())).toBe('10.0.0.9');
    expect(names(update.mpReach?.nlri)).toEqual(['10.0.1.0/24']);
  });

  it('keeps NEXT_HOP for the NLRI field when both are there', () => {
    const update = decode({
      attributes: `${reach(globalNextHop, '00')} 40 03 04 0a000002`,
      nlri: '180a0001',
    });
    expect(formatIpAddress(update.attributes?.nextHop ?? fail())).toBe('10.0.0.2');
    expect(update.attributes?.linkLocalNextHop).toBeUndefined();
    expect(formatIpAddress(update.mpReach?.nextHop.address ?? fail())).toBe('2001:db8::1');
  });

  it.each([
    ['::', '00'.repeat(16)],
    ['::1', `${'00'.repeat(15)}01`],
    ['ff02::1', `ff02${'00'.repeat(13)}01`],
  ])('treats routes with next hop %s as withdrawn', (_, hex) => {
    expect(decode({ attributes: reach(hex, '00') })).toMatchObject({
      treatAsWithdraw: true,
      faults: [{ code: 14, subcode: 8 }],
    });
  });

  it.each([
    ['next hop of 9 octets', reach('00'.repeat(9), '')],
    ['next hop of 15 octets', reach('00'.repeat(15), '')],
    ['next hop of 4 octets for IPv6', reach('0a000001', '')],
    ['next hop of 16 octets for IPv4 (RFC 8950 was not negotiated)', reach(globalNextHop, '', '0001 01')],
    ['next hop that passes the end', `${base} 80 0e 08 0002 01 10 20010db8`],
    ['4 octets', `${base} 80 0e 04 0002 01 00`],
    ['nothing after the next hop', `${base} 80 0e 14 0002 01 10 ${globalNextHop}`],
    ['prefix length 129', reach(globalNextHop, `81 ${'00'.repeat(17)}`)],
    ['prefix length 33 for IPv4', reach('0a000001', '21 0a00000000', '0001 01')],
    ['a prefix that passes the end', reach(globalNextHop, '20 2001')],
    ['an MP_UNREACH_NLRI of 2 octets', '80 0f 02 0002'],
    ['an MP_UNREACH_NLRI with prefix length 129', `80 0f 15 0002 01 81 ${'00'.repeat(17)}`],
  ])('ends the session with 3/9 for %s (RFC 7606 sections 5.3, 7.11)', (_, attributes) => {
    expect(() => decode({ attributes })).toThrow(expect.objectContaining({ code: 3, subcode: 9 }));
  });

  it('says which next hop lengths a family allows', () => {
    expect(() => decode({ attributes: reach('00'.repeat(9), '') })).toThrow(
      'expected 16 or 32 for ipv6-unicast',
    );
    expect(() => decode({ attributes: reach(globalNextHop, '', '0001 01') })).toThrow(
      'expected 4 for ipv4-unicast',
    );
  });

  it.each(['c0 0e 05 0019410000', '40 0f 03 000201'])(
    'ends the session with 3/4 for wrong flags: %s',
    (attribute) => {
      expect(() => decode({ attributes: attribute })).toThrow(
        expect.objectContaining({ code: 3, subcode: 4 }),
      );
    },
  );

  it.each(['80 0f 03 000201 80 0f 03 000201', `${reach(globalNextHop, '00')} 80 0e 05 0019460000`])(
    'ends the session with 3/1 when one appears twice (section 3 (g)): %s',
    (attributes) => {
      expect(() => decode({ attributes })).toThrow(expect.objectContaining({ code: 3, subcode: 1 }));
    },
  );
});

describe('families that were not negotiated', () => {
  it.each([
    ['MP_REACH_NLRI of EVPN', '80 0e 0a 0019 46 04 0a000001 00 ff', 14],
    ['MP_UNREACH_NLRI of VPNv4', '80 0f 04 0001 80 ff', 15],
  ])('leaves out %s, says so, and goes on', (_, attribute, code) => {
    const update = decode({ attributes: `${mandatory} ${attribute}`, nlri: '180a0001' });
    expect(update).toMatchObject({ mpReach: undefined, mpUnreach: undefined, treatAsWithdraw: false });
    expect(update.faults).toMatchObject([{ code, action: 'attribute-discard' }]);
    expect(update.faults[0]?.reason).toMatch(/AFI \d+ SAFI \d+ was not negotiated/);
  });

  it('does not end the session for a fault beside such routes: there is nothing here to withdraw', () => {
    const update = decode({ attributes: '80 0e 0a 0019 46 04 0a000001 00 ff 40 01 01 09' });
    expect(update.treatAsWithdraw).toBe(true);
  });

  it('leaves out IPv4 routes where only IPv6 was negotiated, after reading them', () => {
    const ipv6Only = { ...context, families: [ipv6Unicast] };
    const update = decode({ withdrawn: '00', attributes: mandatory, nlri: '180a0001' }, ipv6Only);
    expect(update).toMatchObject({
      withdrawn: [],
      nlri: [],
      faults: [{ code: 0, action: 'attribute-discard' }],
    });
    expect(() => decode({ nlri: '21' }, ipv6Only)).toThrow(expect.objectContaining({ subcode: 10 }));
  });
});

function fail(): never {
  throw new Error('nothing was decoded');
}
