import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exchange, get } from '../testing/raw-http.ts';
import { type RunningServer, runningServer } from '../testing/running-server.ts';
import { ControlClientError, controlBytes } from './control-client.ts';
import { type ControlRoute, ControlStream } from './control-route.ts';

let running: RunningServer;
/** What the open streams are written by. */
let writers: ((bytes: Uint8Array) => void)[];
let ended: number;
let begun: () => void;

const route: ControlRoute = {
  method: 'GET',
  path: '/octets',
  handle: () =>
    new ControlStream('application/octet-stream', (write) => {
      writers.push(write);
      begun();
      return () => {
        ended += 1;
      };
    }),
};

beforeEach(async () => {
  writers = [];
  ended = 0;
  begun = () => undefined;
  running = await runningServer({ routes: [route], maxStreams: 2 });
});
afterEach(() => running.close());

/** Begins a stream; `done` settles when it has ended. */
async function follow(
  onBytes: (bytes: Uint8Array) => void,
): Promise<{ done: Promise<void>; stop: () => void }> {
  const started = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const end = new AbortController();
  const done = controlBytes(running.socketPath, '/octets', onBytes, end.signal);
  await Promise.race([started, done]);
  return { done, stop: () => end.abort() };
}

describe('a stream of octets', () => {
  it('arrives as it is written, and is ended when the client leaves', async () => {
    const received: number[] = [];
    let arrived: () => void = () => undefined;
    const all = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { done, stop } = await follow((bytes) => {
      received.push(...bytes);
      if (received.length === 4) arrived();
    });
    writers[0]?.(Uint8Array.of(0, 255));
    writers[0]?.(Uint8Array.of(13, 10));
    await all;
    expect(received).toEqual([0, 255, 13, 10]);
    stop();
    await done;
    await expect.poll(() => ended).toBe(1);
  });

  it('is given to a bounded number of clients', async () => {
    const streams = [await follow(() => undefined), await follow(() => undefined)];
    await expect(controlBytes(running.socketPath, '/octets', () => undefined)).rejects.toThrow(
      'there are 2 streams of this kind already',
    );
    for (const { stop, done } of streams) {
      stop();
      await done;
    }
  });

  it('whose client does not read is cut off at a bound', async () => {
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const client = connect(running.socketPath);
    client.pause();
    client.write(get('/octets'));
    await started;
    const block = new Uint8Array(64 * 1024);
    for (let n = 0; n < 64 && ended === 0; n++) {
      writers[0]?.(block);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => ended).toBe(1);
    expect(running.log).toMatchObject([{ msg: 'a stream was cut off: its client reads too slowly' }]);
    client.destroy();
  });

  it('has no head alone', async () => {
    expect(await exchange(running.port, get('/octets').replace('GET', 'HEAD'))).toMatch(/^HTTP\/1.1 405 /);
    expect(writers).toEqual([]);
  });

  it('that is refused says why', async () => {
    const refused = controlBytes(running.socketPath, '/nothing', () => undefined);
    await expect(refused).rejects.toThrow(ControlClientError);
    await expect(refused).rejects.toThrow('there is nothing at /nothing');
  });
});
