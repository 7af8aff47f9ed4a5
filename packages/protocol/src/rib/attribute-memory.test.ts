import { describe, expect, it, vi } from 'vitest';
import { asn } from '../types/asn.ts';
import { ipv4Unicast } from '../types/family.ts';
import { parseIpAddress } from '../types/ip-address.ts';
import { parsePrefix } from '../types/prefix.ts';
import { parseRouterId } from '../types/router-id.ts';
import type { CodecContext } from '../wire/context.ts';
import type { ReceivedUpdate } from '../wire/message.ts';
import { encodeMessage, readMessage } from '../wire/message-codec.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { Origin, pathAttributes, SegmentType } from '../wire/path-attributes.ts';
import { AdjRibIn } from './adj-rib-in.ts';
import { AttributeTable } from './attribute-table.ts';

const context: CodecContext = {
  asn4: true,
  isInternal: false,
  localAsn: asn(65000),
  peerAsn: asn(65001),
  maxReceiveLength: 4096,
  maxSendLength: 4096,
  families: [ipv4Unicast],
  addPathReceive: [],
  addPathSend: [],
};
const attributes: Partial<PathAttributes> = {
  origin: Origin.Igp,
  asPath: [{ type: SegmentType.AsSequence, asns: [asn(65001), asn(65100)] }],
  nextHop: parseIpAddress('10.0.0.1'),
};

/** The octets of an UPDATE that announces one prefix. */
function announcement(
  fields: Partial<PathAttributes> = {},
  prefix = '10.1.0.0/16',
  session = context,
): Uint8Array {
  const empty = { withdrawn: [], mpReach: undefined, mpUnreach: undefined };
  const nlri = [{ prefix: parsePrefix(prefix), pathId: undefined }];
  const message = { type: 'UPDATE' as const, attributes: pathAttributes({ ...attributes, ...fields }), nlri };
  return encodeMessage({ ...message, ...empty }, session);
}

/** The octets with one of them changed. */
function changed(bytes: Uint8Array, from: readonly number[], to: number): Uint8Array {
  const at = Buffer.from(bytes).indexOf(Uint8Array.from(from));
  if (at < 0) throw new Error('the octets to change are not there');
  const copy = Uint8Array.from(bytes);
  copy[at + from.length - 1] = to;
  return copy;
}

class Receiver {
  readonly table = new AttributeTable(7);
  readonly rib = new AdjRibIn({
    table: this.table,
    source: {
      name: 'm1',
      address: parseIpAddress('10.0.0.1'),
      routerId: parseRouterId('10.0.0.1'),
      asn: asn(65001),
      isInternal: false,
    },
  });

  read(bytes: Uint8Array, session: CodecContext = context): ReceivedUpdate {
    const update = readMessage({ type: 2, bytes }, session, this.table);
    if (update.type !== 'UPDATE') throw new Error(`${update.type} instead of an UPDATE`);
    return update;
  }

  take(bytes: Uint8Array): ReceivedUpdate {
    const update = this.read(bytes);
    this.rib.receive(update, 0, true);
    return update;
  }
}

describe('path attributes that come again octet by octet', () => {
  it('are the set that is held, without being read', () => {
    const receiver = new Receiver();
    receiver.take(announcement());
    const [path] = receiver.rib.paths();
    const again = receiver.read(announcement({}, '10.2.0.0/16'));
    expect(again.attributes).toBe(path?.attributes);
    expect(again).toMatchObject({ nlri: { length: 1 }, faults: [], treatAsWithdraw: false });
    receiver.rib.receive(again, 0, true);
    expect([receiver.rib.size, receiver.table.size]).toEqual([2, 1]);
  });

  it.each<[string, Partial<CodecContext>]>([
    ['AS numbers of another length', { asn4: false }],
    ['an internal peer', { isInternal: true }],
    ['a peer of another AS', { peerAsn: asn(65002) }],
    ['a route server', { enforceFirstAs: false }],
    ['IPv4 unicast not negotiated', { families: [] }],
  ])('are read anew on a session with %s', (_, difference) => {
    const receiver = new Receiver();
    receiver.take(announcement());
    const other = { ...context, ...difference };
    const { faults, attributes: read } = receiver.read(announcement(), other);
    expect(read).not.toBe([...receiver.rib.paths()][0]?.attributes);
    expect(faults).toEqual(new Receiver().read(announcement(), other).faults);
  });

  it('are recalled on another session of the same kind', () => {
    const receiver = new Receiver();
    receiver.take(announcement());
    const held = [...receiver.rib.paths()][0]?.attributes;
    expect(receiver.read(announcement(), { ...context, enforceFirstAs: true }).attributes).toBe(held);
  });

  it.each<[string, Uint8Array, number]>([
    ['treat-as-withdraw: ORIGIN 7', changed(announcement(), [0x40, 1, 1, 0], 7), 0],
    ['attribute discard: LOCAL_PREF of an external peer', withLocalPref(announcement()), 1],
  ])('have the same fault each time (RFC 7606), %s', (_, octets, routes) => {
    const receiver = new Receiver();
    const [first, second] = [receiver.take(octets), receiver.take(octets)];
    expect(first.faults).toHaveLength(1);
    expect(second.faults).toEqual(first.faults);
    expect(second.treatAsWithdraw).toBe(first.treatAsWithdraw);
    expect(receiver.rib.size).toBe(routes);
  });

  it('do not hide NLRI that cannot be parsed (RFC 7606 section 5.3)', () => {
    const receiver = new Receiver();
    receiver.take(announcement());
    const broken = changed(announcement(), [16, 10], 10).with(-3, 33);
    expect(() => receiver.read(broken)).toThrow(expect.objectContaining({ code: 3, subcode: 10 }));
  });

  it('are forgotten with the last route, and what takes their number is not mistaken for them', () => {
    const receiver = new Receiver();
    receiver.take(announcement());
    receiver.rib.clear();
    expect(receiver.table.size).toBe(0);
    receiver.take(announcement({ multiExitDisc: 5 }));
    const read = receiver.read(announcement());
    expect(read.attributes?.multiExitDisc).toBeUndefined();
    expect(read.field).toBeDefined();
  });

  it('are held while the UPDATE withdraws the last other route that has them', () => {
    const receiver = new Receiver();
    receiver.take(announcement());
    receiver.take(withWithdrawal(announcement({}, '10.2.0.0/16'), [16, 10, 1]));
    expect([...receiver.rib.paths()]).toMatchObject([{ prefix: parsePrefix('10.2.0.0/16'), attributes }]);
    receiver.rib.clear();
    expect(receiver.table.size).toBe(0);
  });

  it('become an object only for those who ask, and then one for all', () => {
    const receiver = new Receiver();
    const made = vi.spyOn(receiver.table, 'at');
    for (const prefix of ['10.1.0.0/16', '10.2.0.0/16']) {
      receiver.rib.receive(receiver.read(announcement({ multiExitDisc: 5 }, prefix)), 0, false);
      // Another set in between: what was read last is not at hand any more.
      receiver.rib.receive(receiver.read(announcement({ multiExitDisc: 6 }, '10.3.0.0/16')), 0, false);
    }
    expect(made).not.toHaveBeenCalled();
    const [first, other, second] = [...receiver.rib.paths()].map((path) => path.attributes);
    expect(first).toEqual(pathAttributes({ ...attributes, multiExitDisc: 5 }));
    expect(other).toEqual(pathAttributes({ ...attributes, multiExitDisc: 6 }));
    expect(second).toBe(first);
  });

  it('are the same later as when they were read, of a peer with 2-octet AS numbers too', () => {
    const old = { ...context, asn4: false };
    const asPath = [{ type: SegmentType.AsSequence, asns: [asn(65001), asn(4_200_000_000)] }];
    const octets = announcement({ asPath, communities: [3, 1, 2, 1] }, undefined, old);
    const receiver = new Receiver();
    receiver.rib.receive(receiver.read(octets, old), 0, false);
    receiver.rib.receive(receiver.read(announcement({}, '10.2.0.0/16')), 0, false);
    expect([...receiver.rib.paths()][0]?.attributes).toEqual(
      pathAttributes({ ...attributes, asPath, communities: [1, 2, 3] }),
    );
  });

  it('are looked through for loops by each Adj-RIB-In, and again when its address is another', () => {
    const receiver = new Receiver();
    const { table, rib } = receiver;
    const read = (octets: Uint8Array): ReceivedUpdate => receiver.read(octets);
    rib.receive(read(announcement()), 0, false);
    const other = new AdjRibIn({ table, source: rib.source, localAsn: asn(65100) });
    expect(other.receive(read(announcement()), 0, false).rejected).toMatchObject([
      { reason: expect.stringContaining('own AS 65100') },
    ]);
    expect(rib.receive(read(announcement()), 0, false).rejected).toEqual([]);
    rib.localAddress = parseIpAddress('10.0.0.1');
    expect(rib.receive(read(announcement()), 0, false).rejected).toMatchObject([
      { reason: expect.stringContaining('own address 10.0.0.1') },
    ]);
    expect([rib.size, table.size]).toEqual([0, 0]);
  });

  it('are not held for ever by policy that throws', () => {
    const receiver = new Receiver();
    const { table, rib } = receiver;
    receiver.take(announcement());
    const importPolicy = (): never => {
      throw new Error('of the application');
    };
    const other = new AdjRibIn({ table, source: rib.source, importPolicy });
    expect(() => other.receive(receiver.read(announcement()), 0, false)).toThrow('of the application');
    rib.clear();
    expect(table.size).toBe(0);
  });

  it('are remembered once for each set, in whatever forms a peer sends it', () => {
    const receiver = new Receiver();
    receiver.take(announcement({ communities: [1, 2] }));
    receiver.take(changed(announcement({ communities: [1, 2] }), [0xc0, 8, 8, 0, 0, 0, 1, 0, 0, 0, 2], 1));
    receiver.take(announcement({ communities: [1] }));
    expect(receiver.table.size).toBe(1);
    expect(receiver.read(announcement({ communities: [1] })).field).toBeDefined();
  });

  it('are not remembered when policy gives the routes others', () => {
    const table = new AttributeTable();
    const { rib } = new Receiver();
    const own = new AdjRibIn({
      table,
      source: rib.source,
      importPolicy: (_prefix, given) => ({ accept: true, attributes: { ...given, localPref: 7 } }),
    });
    const read = (): ReceivedUpdate => {
      const update = readMessage({ type: 2, bytes: announcement() }, context, table);
      if (update.type !== 'UPDATE') throw new Error(update.type);
      return update;
    };
    own.receive(read(), 0, true);
    expect(read().attributes?.localPref).toBeUndefined();
    own.receive(read(), 0, true);
    expect([...own.paths()].map((path) => path.attributes.localPref)).toEqual([7]);
  });
});

/** The same UPDATE with a LOCAL_PREF of 1 before its other attributes. */
function withLocalPref(bytes: Uint8Array): Uint8Array {
  const extra = [0x40, 5, 4, 0, 0, 0, 1];
  const view = Buffer.from([...bytes.subarray(0, 23), ...extra, ...bytes.subarray(23)]);
  view.writeUInt16BE(view.length, 16);
  view.writeUInt16BE(view.readUInt16BE(21) + extra.length, 21);
  return view;
}

/** The same UPDATE with a field of withdrawn routes. */
function withWithdrawal(bytes: Uint8Array, withdrawn: readonly number[]): Uint8Array {
  const longer = Buffer.from([...bytes.subarray(0, 21), ...withdrawn, ...bytes.subarray(21)]);
  longer.writeUInt16BE(longer.length, 16);
  longer.writeUInt16BE(withdrawn.length, 19);
  return longer;
}
