import { describe, expect, it } from 'vitest';
import { asn, encodeMessage, openContext } from '../index.ts';
import { Connection, type Traffic } from './connection.ts';
import { ManualClock, settle } from './kit/manual-clock.ts';
import { MemorySocket } from './kit/memory-sockets.ts';

const context = openContext(asn(65001));
const keepalive = encodeMessage({ type: 'KEEPALIVE' }, context);

/** A connection whose every message takes a millisecond, and the peer's end of it. */
function busy(traffic?: (traffic: Traffic) => void): {
  peer: MemorySocket;
  connection: Connection;
  heard: string[];
  /** How often it was said that everything has left. */
  sent(): number;
  turn(): Promise<void>;
} {
  const [peer, own] = [new MemorySocket(), new MemorySocket()];
  MemorySocket.join(peer, own, { from: '10.0.0.2', to: '10.0.0.1', port: 179 });
  peer.on('error', () => undefined);
  const heard: string[] = [];
  let sent = 0;
  const clock = new ManualClock();
  const connection = new Connection(own, context, clock, {
    connected: () => undefined,
    message: ({ type }) => {
      clock.stall(1);
      heard.push(type);
    },
    fault: () => heard.push('fault'),
    failed: (cause) => heard.push(cause),
    sent: () => {
      sent += 1;
    },
    drained: () => undefined,
    gone: () => heard.push('gone'),
    traffic,
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { peer, connection, heard, sent: () => sent, turn };
}

const flood = (count: number): Uint8Array => Buffer.concat(Array.from({ length: count }, () => keepalive));

describe('a peer that sends faster than its messages are followed', () => {
  it('leaves the event loop to others every few milliseconds', async () => {
    const { peer, heard, turn } = busy();
    peer.write(flood(100));
    await turn();
    await turn();
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.length).toBeLessThan(20);
  });

  it('is heard to its last message, and its end after that', async () => {
    const { peer, heard } = busy();
    peer.end(flood(30));
    await settle();
    await settle();
    const told = heard.filter((what) => what !== 'gone');
    expect(told.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 'KEEPALIVE'));
    expect(told[30]).toBe('closed');
  });

  it('is slowed down: what it may send ahead has a bound', async () => {
    const { peer, turn } = busy();
    for (let chunk = 0; chunk < 64; chunk++) peer.write(flood(3000));
    await turn();
    await turn();
    expect(peer.writableLength).toBeGreaterThan(32 * 3000 * 19);
  });

  it('is not heard any more once its connection is closed, whose end still comes', async () => {
    const { peer, connection, heard, turn } = busy();
    peer.write(flood(100));
    await turn();
    await turn();
    const before = heard.length;
    connection.close();
    peer.end();
    await settle();
    expect(heard.slice(before)).toEqual(['gone']);
  });
});

describe('that messages have left for the kernel', () => {
  it('is told at once where there is room, for a batch once', () => {
    const { connection, sent } = busy();
    connection.send({ type: 'KEEPALIVE' });
    expect(sent()).toBe(1);
    connection.batch(() => {
      connection.send({ type: 'KEEPALIVE' });
      connection.send({ type: 'KEEPALIVE' });
      expect(sent()).toBe(1);
    });
    expect(sent()).toBe(2);
  });

  it('is not told of what waits, and of the last of it without another message', async () => {
    const { peer, connection, sent } = busy();
    peer.pause();
    for (let chunk = 0; chunk < 4; chunk++) connection.sendEncoded(flood(10_000));
    await settle();
    expect(sent()).toBe(0);
    peer.resume();
    await settle();
    expect(sent()).toBeGreaterThan(0);
    const before = sent();
    await settle();
    expect(sent()).toBe(before);
  });

  it('is not told of what is lost with the connection', async () => {
    const { peer, connection, sent } = busy();
    peer.pause();
    for (let chunk = 0; chunk < 4; chunk++) connection.sendEncoded(flood(10_000));
    peer.kill();
    await settle();
    expect(sent()).toBe(0);
  });
});

describe('who listens to the traffic of a connection', () => {
  it('hears each message as octets, sent and received, and a faulty one before it is refused', async () => {
    const octets: [boolean, string, string | undefined][] = [];
    const { peer, connection, heard } = busy(({ isSent, bytes, localAddress }) =>
      octets.push([isSent, Buffer.from(bytes).toString('hex'), localAddress]),
    );
    connection.send({ type: 'KEEPALIVE' });
    connection.sendEncoded(flood(2));
    // An UPDATE whose attributes are longer than it is: the header is good.
    const faulty = Buffer.from(`${'ff'.repeat(16)}00170200000010`, 'hex');
    peer.write(Buffer.concat([flood(2), faulty]));
    await settle();
    await settle();
    const one = Buffer.from(keepalive).toString('hex');
    const at = '10.0.0.1:179';
    expect(octets).toEqual([
      [true, one, at],
      [true, one + one, at],
      [false, one, at],
      [false, one, at],
      [false, faulty.toString('hex'), at],
    ]);
    expect(heard.slice(0, 3)).toEqual(['KEEPALIVE', 'KEEPALIVE', 'fault']);
  });
});
