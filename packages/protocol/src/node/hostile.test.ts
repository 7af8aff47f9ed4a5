import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { remoteOpen } from '../fsm/kit/samples.ts';
import { asn, encodeMessage, openContext, parseRouterId } from '../index.ts';
import { failureOf } from './connection.ts';
import { ManualClock } from './kit/manual-clock.ts';
import { MemoryNetwork } from './kit/memory-sockets.ts';
import type { Peer } from './peer.ts';
import { BgpSpeaker } from './speaker.ts';

const header = Array.from({ length: 16 }, () => 0xff);
const context = openContext(asn(65002));
const open = encodeMessage(remoteOpen(), context);
const keepalive = encodeMessage({ type: 'KEEPALIVE' }, context);

let clock: ManualClock;
let network: MemoryNetwork;
let speaker: BgpSpeaker;
let peer: Peer;
let neighbor: Peer;

beforeEach(async () => {
  clock = new ManualClock();
  network = new MemoryNetwork();
  speaker = new BgpSpeaker({
    asn: asn(65001),
    routerId: parseRouterId('10.0.0.1'),
    sockets: network.host('10.0.0.1'),
    clock,
  });
  await speaker.listen({ address: '10.0.0.1' });
  peer = speaker.addPeer({ name: 'hostile', address: '10.0.0.2', remoteAsn: [asn(65002)], passive: true });
  neighbor = speaker.addPeer({ name: 'other', address: '10.0.0.3', remoteAsn: [asn(65003)], passive: true });
  const other = new BgpSpeaker({
    asn: asn(65003),
    routerId: parseRouterId('10.0.0.3'),
    sockets: network.host('10.0.0.3'),
    clock,
  });
  other.addPeer({ name: 'speaker', address: '10.0.0.1', remoteAsn: [asn(65001)] });
  await clock.advance(100);
});

/** Connects as 10.0.0.2, sends the octets, and collects what comes back. */
async function send(...messages: readonly (Uint8Array | readonly number[])[]): Promise<{
  readonly socket: Socket;
  readonly received: readonly number[];
}> {
  const socket = network.host('10.0.0.2').open('10.0.0.1', {});
  const received: number[] = [];
  socket.on('data', (chunk: Uint8Array) => received.push(...chunk));
  socket.on('error', () => undefined);
  socket.connect(179, '10.0.0.1');
  await clock.advance(10);
  for (const message of messages) {
    socket.write(Uint8Array.from(message));
    await clock.advance(10);
  }
  return { socket, received };
}

/** Code, subcode and data of a NOTIFICATION that is the last message received. */
function lastNotification(received: readonly number[]): readonly number[] | undefined {
  let at = 0;
  let last: readonly number[] = [];
  while (at < received.length) {
    const length = (received[at + 16] ?? 0) * 256 + (received[at + 17] ?? 0);
    last = received.slice(at, at + length);
    at += length;
  }
  return last[18] === 3 ? last.slice(19) : undefined;
}

describe('a hostile peer', () => {
  it.each([
    ['a broken marker', [[0, ...header.slice(1), 0, 19, 4]], [1, 1]],
    ['a length of 18', [[...header, 0, 18, 4]], [1, 2, 0, 18]],
    ['an unknown type', [[...header, 0, 19, 9]], [1, 3, 9]],
    ['KEEPALIVE before OPEN', [keepalive], [5, 1, 4]],
    ['UPDATE before OPEN', [[...header, 0, 23, 2, 0, 0, 0, 0]], [5, 1, 2]],
    ['a second OPEN before its KEEPALIVE', [open, open], [5, 2, 1]],
    ['an OPEN in the middle of the session', [open, keepalive, open], [5, 3, 1]],
    ['an UPDATE whose lengths do not fit', [open, keepalive, [...header, 0, 23, 2, 0, 9, 0, 0]], [3, 1]],
  ])(
    'that sends %s is told so, and the session of another is not touched',
    async (_title, messages, expected) => {
      const { socket, received } = await send(...messages);
      expect(lastNotification(received)).toEqual(expected);
      expect(socket.destroyed).toBe(true);
      expect(neighbor.state).toBe('Established');
      expect(neighbor.status().establishedCount).toBe(1);
    },
  );

  it.each([
    ['OpenSent', []],
    ['OpenConfirm', [open]],
    ['Established', [open, keepalive]],
  ] as const)('that sends NOTIFICATION in %s gets no answer but the end of TCP', async (state, before) => {
    const { socket, received } = await send(...before);
    expect(peer.state).toBe(state);
    socket.write(Uint8Array.from([...header, 0, 21, 3, 6, 4]));
    await clock.advance(10);
    expect(lastNotification(received)).toBeUndefined();
    expect(socket.destroyed).toBe(true);
  });

  it('is understood octet by octet', async () => {
    await send(...[...open, ...keepalive].map((octet) => [octet]));
    expect(peer.state).toBe('Established');
  });

  it('is understood when all comes at once', async () => {
    await send([...open, ...keepalive, ...keepalive]);
    expect(peer.state).toBe('Established');
    expect(peer.status().messages.received).toMatchObject({ OPEN: 1, KEEPALIVE: 2 });
  });
});

describe('the error of a socket', () => {
  it.each([
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'reset'],
    ['EPIPE', 'reset'],
    ['ETIMEDOUT', 'timeout'],
    ['EHOSTUNREACH', 'timeout'],
    ['ENETUNREACH', 'timeout'],
    ['EADDRNOTAVAIL', 'failed'],
  ])('%s is %s', (code, cause) => {
    expect(failureOf(Object.assign(new Error(code), { code }))).toBe(cause);
  });
});
