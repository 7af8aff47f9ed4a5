import { describe, expect, it } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast, ipv6Unicast } from '../types/family.ts';
import { formatIpAddress } from '../types/ip-address.ts';
import { formatPrefix } from '../types/prefix.ts';
import { formatRouterId } from '../types/router-id.ts';
import type { CodecContext } from './context.ts';
import { openContext } from './context.ts';
import { Framer } from './framer.ts';
import type { DecodedMessage, DecodedUpdate } from './message.ts';
import { decodeMessage, encodeMessage } from './message-codec.ts';
import type { Nlri } from './nlri.ts';

/**
 * Messages that routers sent. Source, unless said otherwise: the captures of packetlife.net as kept in
 * github.com/epiecs/packetlife-backup, pcaps/, named in each test.
 */

const old: CodecContext = {
  ...openContext(asn(65000)),
  families: [ipv4Unicast, ipv6Unicast],
  enforceFirstAs: false,
};

function decode(afterMarker: string, context: CodecContext): DecodedMessage {
  const framer = new Framer(4096);
  framer.push(Buffer.from('ff'.repeat(16) + afterMarker, 'hex'));
  const frame = framer.next();
  if (frame === undefined) throw new Error('the message is incomplete');
  return decodeMessage(frame, context);
}

function decodeUpdate(afterMarker: string, context: CodecContext): DecodedUpdate {
  const message = decode(afterMarker, context);
  if (message.type !== 'UPDATE') throw new Error(`${message.type} came out`);
  return message;
}

const octetsOf = (message: DecodedMessage, context: CodecContext): string =>
  Buffer.from(encodeMessage(message, context).subarray(16)).toString('hex');
const names = (list: readonly Nlri[] | undefined): string[] =>
  (list ?? []).map(
    ({ prefix, pathId }) => formatPrefix(prefix) + (pathId === undefined ? '' : ` path ${pathId}`),
  );

describe('captured messages', () => {
  it('BGP_AS_set.cap: a sequence and a set in two octets, with AGGREGATOR', () => {
    const hex =
      '004302000000284001010240020a0201001e0102000a00144003040a00000980040400000000c00706001e0a00000915ac1000';
    const update = decodeUpdate(hex, { ...old, peerAsn: asn(30) });
    expect(update.attributes).toMatchObject({
      origin: 2,
      asPath: [
        { type: 2, asns: [30] },
        { type: 1, asns: [10, 20] },
      ],
      multiExitDisc: 0,
      aggregator: { asn: 30 },
    });
    expect(names(update.nlri)).toEqual(['172.16.0.0/21']);
    expect(octetsOf(update, old)).toBe(hex);
  });

  it('BGP_MP_NLRI.cap: IPv6 routes with a global and a link-local next hop', () => {
    const update = decodeUpdate(
      '006c0200000055400101004002040201fde980040400000000800e400002012020010db8000000000000000000000001fe800000' +
        '00000000c0010bfffe7e0000004020010db8000100024020010db8000100014020010db800010000',
      { ...old, peerAsn: asn(65001), enforceFirstAs: true },
    );
    expect(update.faults).toEqual([]);
    expect(formatIpAddress(update.mpReach?.nextHop.address ?? fail())).toBe('2001:db8::1');
    expect(formatIpAddress(update.mpReach?.nextHop.linkLocal ?? fail())).toBe('fe80::c001:bff:fe7e:0');
    expect(names(update.mpReach?.nlri)).toEqual([
      '2001:db8:1:2::/64',
      '2001:db8:1:1::/64',
      '2001:db8:1::/64',
    ]);
  });

  it('IBGP_adjacency.cap: routes and a withdrawal of an internal peer', () => {
    const internal = { ...old, isInternal: true, peerAsn: asn(65000) };
    const hex =
      '00450200000022400101004002060202feb0fe4c400304020202028004040000000040050400000064180a0a03180a0a02180a0a01';
    const update = decodeUpdate(hex, internal);
    expect(update).toMatchObject({
      faults: [],
      attributes: { localPref: 100, asPath: [{ asns: [65200, 65100] }] },
    });
    expect(names(update.nlri)).toEqual(['10.10.3.0/24', '10.10.2.0/24', '10.10.1.0/24']);
    expect(octetsOf(update, internal)).toBe(hex);
    expect(names(decodeUpdate('001c0200051eac1000040000', internal).withdrawn)).toEqual(['172.16.0.4/30']);
  });

  it('bgp-add-path.cap: a reflected route in two paths', () => {
    const context = { ...old, asn4: true, isInternal: true, addPathReceive: [ipv4Unicast] };
    const update = decodeUpdate(
      '005902000000304001010040020602010000fbff4003040a000e018004040000000040050400000064800a040a0022048009040a00' +
        '0f010000000120050505050000000120c0a80105',
      context,
    );
    expect(update.faults).toEqual([]);
    expect(names(update.nlri)).toEqual(['5.5.5.5/32 path 1', '192.168.1.5/32 path 1']);
    expect(update.attributes?.clusterList?.map(formatRouterId)).toEqual(['10.0.34.4']);
    expect(formatRouterId(update.attributes?.originatorId ?? fail())).toBe('10.0.15.1');
  });

  it('bgp-add-path.cap: an OPEN of six parameters, the route refresh of before the standard among them', () => {
    const open = decode(
      '00410104fc0000b40a0022042402060104000100010202800002020200020246000206450400010103020641040000fc00',
      old,
    );
    expect(open).toMatchObject({
      myAs: 64512,
      holdTime: 180,
      capabilities: [
        { name: 'multiprotocol', afi: 1, safi: 1 },
        { name: 'unknown', code: 128 },
        { name: 'route-refresh' },
        { name: 'enhanced-route-refresh' },
        { name: 'add-path', families: [{ afi: 1, safi: 1, mode: 3 }] },
        { name: 'four-octet-as', asn: 64512 },
      ],
    });
  });

  it('BGP_notification.cap: Bad Peer AS with the AS that was received', () => {
    expect(decode('0017030202feb0', old)).toEqual({
      type: 'NOTIFICATION',
      code: 2,
      subcode: 2,
      data: Uint8Array.of(0xfe, 0xb0),
    });
  });

  it('bgplu.cap: an End-of-RIB of a family that was not negotiated does no harm', () => {
    const update = decodeUpdate('001e0200000007900f0003000104', old);
    expect(update).toMatchObject({ mpUnreach: undefined, attributes: undefined, treatAsWithdraw: false });
    expect(update.faults).toMatchObject([{ code: 15, reason: 'AFI 1 SAFI 4 was not negotiated' }]);
  });

  it('an OPEN of a neighbor that holo was measured with (holo-routing/holo, holo-bgp/benches/msg_decoding.rs)', () => {
    const open = decode(
      '003d0104000100b401010101200206010400010001020601040002000102020200020641040001000e02024600',
      old,
    );
    expect(open).toMatchObject({
      myAs: 1,
      capabilities: [{ afi: 1 }, { afi: 2 }, {}, { asn: 65550 }, { name: 'enhanced-route-refresh' }],
    });
  });
});

function fail(): never {
  throw new Error('nothing was decoded');
}
