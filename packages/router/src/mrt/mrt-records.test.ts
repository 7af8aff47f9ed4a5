import {
  AS_TRANS,
  asn,
  type CodecContext,
  encodeMessage,
  ipv4Unicast,
  keepalive,
  Origin,
  openContext,
  parseIpAddress,
  parsePrefix,
  pathAttributes,
  readMrt,
} from '@bgp-lb/protocol';
import type { Traffic } from '@bgp-lb/protocol/node';
import { describe, expect, it } from 'vitest';
import { MessageRecorder, preciseWallClock } from './message-recorder.ts';
import { MrtWriter } from './mrt-records.ts';

const before = openContext(asn(64512));
const context: CodecContext = {
  ...before,
  asn4: true,
  peerAsn: asn(4_200_000_001),
  addPathSend: [ipv4Unicast],
};
const attributes = pathAttributes({
  origin: Origin.Igp,
  asPath: [],
  nextHop: parseIpAddress('10.0.0.10'),
  localPref: 100,
});

function update(addresses: readonly string[], over: Partial<CodecContext> = {}): Uint8Array {
  const nlri = addresses.map((address) => ({ prefix: parsePrefix(`${address}/32`), pathId: 7 }));
  const empty = { type: 'UPDATE', withdrawn: [], mpReach: undefined, mpUnreach: undefined } as const;
  return encodeMessage({ ...empty, attributes, nlri }, { ...context, isInternal: true, ...over });
}

function traffic(bytes: Uint8Array, over: Partial<Traffic> = {}): Traffic {
  return {
    isSent: false,
    bytes,
    context,
    localAddress: '10.0.0.10:179',
    remoteAddress: '10.0.0.11:40000',
    ...over,
  };
}

const peer = (n: number) => ({ name: `m${n}`, address: `10.0.0.${n}` });

/** A recorder whose clock counts the calls. */
function recorder(limits: { octetsPerNeighbor?: number; neighbors?: number } = {}): MessageRecorder {
  let time = 0;
  return new MessageRecorder({ wallClock: () => ++time, ...limits });
}

describe('the recorder', () => {
  it('keeps the newest messages of a neighbor within its octets, whatever another sends', () => {
    const message = update(['10.100.0.1']);
    const kept = recorder({ octetsPerNeighbor: 3 * (message.length + 256) });
    kept.record(peer(1), traffic(message));
    for (let n = 0; n < 1000; n++) kept.record(peer(2), traffic(message));
    expect(kept.kept().map(({ neighbor, time }) => [neighbor, time])).toEqual([
      ['m1', 1],
      ['m2', 999],
      ['m2', 1000],
      ['m2', 1001],
    ]);
  });

  it('keeps nothing of a message that is larger than all of it', () => {
    const kept = recorder({ octetsPerNeighbor: 30 });
    kept.record(peer(1), traffic(update(['10.100.0.1'])));
    expect(kept.kept()).toEqual([]);
  });

  it('forgets the neighbor that was silent for longest when there are too many', () => {
    const kept = recorder({ neighbors: 2 });
    for (const n of [1, 2, 1, 3]) kept.record(peer(n), traffic(update(['10.100.0.1'])));
    expect(kept.kept().map(({ neighbor }) => neighbor)).toEqual(['m1', 'm1', 'm3']);
  });

  it('has octets of its own of what was received', () => {
    const kept = recorder();
    const message = update(['10.100.0.1']);
    // As a socket hands it over: within a larger one.
    const chunk = Buffer.concat([message, Buffer.alloc(60_000)]);
    kept.record(peer(1), traffic(chunk.subarray(0, message.length)));
    chunk.fill(0);
    const bytes = kept.kept()[0]?.bytes;
    expect(bytes).toEqual(message);
    expect(bytes?.buffer.byteLength).toBe(message.length);
  });

  it('tells of KEEPALIVEs, and keeps none', () => {
    const kept = recorder();
    const bytes = encodeMessage(keepalive, context);
    const heard: number[] = [];
    kept.record(peer(1), traffic(bytes));
    const end = kept.listen((recorded) => heard.push(recorded.bytes.length));
    kept.record(peer(1), traffic(bytes));
    end();
    kept.record(peer(1), traffic(bytes));
    expect(heard).toEqual([19]);
    expect(kept.kept()).toEqual([]);
  });
});

describe('its records', () => {
  const written = (list: readonly Traffic[]): unknown[] => {
    const all = recorder();
    for (const one of list) all.record(peer(11), one);
    const writer = new MrtWriter();
    for (const one of all.kept()) writer.learn(one);
    return [...readMrt(Buffer.concat(all.kept().flatMap((one) => writer.records(one))))];
  };

  it('say between whom, who sent it, and how its NLRI are written', () => {
    const [received, sent] = [update(['10.100.0.1'], { addPathSend: [] }), update(['10.100.0.2'])];
    const ends = {
      kind: 'message',
      peerAsn: 4_200_000_001,
      localAsn: 64512,
      interfaceIndex: 0,
      peerAddress: parseIpAddress('10.0.0.11'),
      localAddress: parseIpAddress('10.0.0.10'),
      asn4: true,
    };
    expect(written([traffic(received), traffic(sent, { isSent: true })])).toEqual([
      { ...ends, time: 1, isLocal: false, addPath: false, message: received },
      { ...ends, time: 2, isLocal: true, addPath: true, message: sent },
    ]);
  });

  it('are one for each message of several that were sent in one piece', () => {
    const parts = ['10.100.0.1', '10.100.0.2', '10.100.0.3'].map((address) => update([address]));
    const records = written([traffic(Buffer.concat(parts), { isSent: true })]);
    expect(records.map((record) => (record as { message: Uint8Array }).message)).toEqual(parts);
  });

  it('of messages before the OPEN have the AS number that the same connection shows later', () => {
    const notification = { type: 'NOTIFICATION', code: 6, subcode: 2, data: new Uint8Array(0) } as const;
    const early = traffic(encodeMessage(notification, before), { context: before, isSent: true });
    expect(written([early])).toMatchObject([{ peerAsn: AS_TRANS }]);
    expect(written([early, traffic(update(['10.100.0.1']))])[0]).toMatchObject({ peerAsn: 4_200_000_001 });
  });

  it('are made of addresses with and without a zone, and of an end that is gone', () => {
    const bytes = update(['10.100.0.1']);
    const local = { localAddress: '[fe80::10%eth0]:179', remoteAddress: '[fe80::11%eth0]:40000' };
    expect(written([traffic(bytes, local)])).toMatchObject([
      { peerAddress: parseIpAddress('fe80::11'), localAddress: parseIpAddress('fe80::10') },
    ]);
    expect(written([traffic(bytes, { localAddress: undefined, remoteAddress: undefined })])).toMatchObject([
      { peerAddress: parseIpAddress('0.0.0.0'), localAddress: parseIpAddress('0.0.0.0') },
    ]);
  });
});

it('the clock is that of the day, and finer', () => {
  const clock = preciseWallClock();
  for (let n = 0; n < 100; n++) {
    const before = Date.now();
    const time = clock();
    // However long this process was kept waiting in between.
    expect(time).toBeGreaterThanOrEqual(before - 2);
    expect(time).toBeLessThanOrEqual(Date.now() + 2);
  }
});
