import { afterEach, describe, expect, it } from 'vitest';
import { exchange, get, RawClient } from '../testing/raw-http.ts';
import { type RunningServer, runningServer } from '../testing/running-server.ts';
import { ControlReply } from './control-route.ts';
import type { ControlServerOptions } from './control-server.ts';

const keepAlive = (path: string): string => get(path).replace('Connection: close\r\n', '');
const clients: RawClient[] = [];
let running: RunningServer | undefined;

afterEach(async () => {
  for (const { socket } of clients.splice(0)) socket.destroy();
  await running?.close();
});

async function start(options: Partial<ControlServerOptions> = {}): Promise<RunningServer> {
  running = await runningServer(options);
  return running;
}

function client(port: number): RawClient {
  const one = new RawClient(port);
  clients.push(one);
  return one;
}

const connected = (one: RawClient): Promise<void> =>
  new Promise((resolve) => {
    if (!one.socket.connecting) resolve();
    else one.socket.once('connect', () => resolve());
  });

/** What the kubelet asks, again and again, on connections of its own. */
async function probes(port: number): Promise<void> {
  for (const path of ['/healthz', '/readyz', '/healthz', '/readyz']) {
    expect(await exchange(port, get(path))).toMatch(/^HTTP\/1\.1 200 /);
  }
}

describe('probes are answered', () => {
  it('beside 80 connections that say nothing', async () => {
    const { port } = await start();
    await Promise.all(Array.from({ length: 80 }, () => connected(client(port))));
    await probes(port);
  });

  it('beside connections that begin a request and never end it', async () => {
    const { port } = await start();
    await Promise.all(
      Array.from({ length: 80 }, () => connected(client(port).send('GET /metrics HTTP/1.1\r\nHost: loc'))),
    );
    await probes(port);
  });

  it('beside connections that are kept open after an answer, the oldest of which go', async () => {
    const { port } = await start({ maxConnections: 4 });
    const kept: RawClient[] = [];
    for (let n = 0; n < 4; n++) {
      const one = client(port).send(keepAlive('/healthz'));
      await one.until('ok\n');
      kept.push(one);
    }
    await probes(port);
    expect(await kept[0]?.closed()).toContain('ok\n');
    // One that was used of late has its place.
    expect(kept[3]?.isClosed).toBe(false);
  });

  it('beside clients that do not read a large answer', async () => {
    const large = new ControlReply('text/plain', 'x'.repeat(16_000_000));
    const { port } = await start({
      maxConnections: 8,
      routes: [{ method: 'GET', path: '/large', handle: () => large }],
    });
    const slow = Array.from({ length: 12 }, () => client(port));
    for (const one of slow) {
      one.socket.pause();
      one.send(keepAlive('/large'));
    }
    await Promise.all(slow.map(connected));
    await probes(port);
  });

  it('beside streams, none of which has to go', async () => {
    const { port } = await start({ maxConnections: 8, maxStreams: 4 });
    const streams = Array.from({ length: 4 }, () =>
      client(port).send(
        keepAlive('/api/v1/events').replace('\r\n\r\n', '\r\nAccept: text/event-stream\r\n\r\n'),
      ),
    );
    await Promise.all(streams.map((one) => one.until('text/event-stream')));
    await Promise.all(Array.from({ length: 20 }, () => connected(client(port))));
    await probes(port);
    expect(streams.filter(({ isClosed }) => isClosed)).toEqual([]);
  });
});

describe('a listener', () => {
  it('has no more connections than it may, beside those that are being closed', async () => {
    const { port } = await start({ maxConnections: 4 });
    const many = Array.from({ length: 40 }, () => client(port));
    await Promise.all(many.map(connected));
    await expect.poll(() => many.filter(({ isClosed }) => !isClosed).length).toBeLessThanOrEqual(4);
  });
});
