import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bgp-lb/protocol/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunTimeClient } from '../dataplane/haproxy/run-time-client.ts';
import { haproxyWatch } from './haproxy-watch.ts';

/** How long an answer may take (ms). */
const LIMIT = 200;

describe('the watch of HAProxy', () => {
  let folder: string;
  let server: Server;
  let watch: ReturnType<typeof haproxyWatch>;
  /** What each question gets, the last one for all that follow. */
  let answers: ('answer' | 'silence')[];
  let open: Socket[];
  /** The fault as each question found it. */
  let faults: (string | undefined)[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-watch-'));
    [faults, open] = [[], []];
    server = createServer({ allowHalfOpen: true }, (socket) => {
      open.push(socket);
      socket.on('error', () => undefined);
      faults.push(watch.fault);
      const what = answers.length > 1 ? answers.shift() : answers[0];
      socket.resume().on('end', () => what === 'answer' && socket.end('2.6.12\n'));
    });
  });
  afterEach(async () => {
    watch.stop();
    for (const socket of open) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  });

  const begin = async (...will: ('answer' | 'silence')[]): Promise<void> => {
    answers = will;
    const path = join(folder, 'haproxy.sock');
    await new Promise<void>((resolve) => server.listen(path, resolve));
    watch = haproxyWatch(new RunTimeClient(path, LIMIT), systemClock);
  };
  const fault = () => expect.poll(() => watch.fault, { timeout: 10_000, interval: 5 });

  it('passes over one question without an answer, and again over one after an answer', async () => {
    await begin('answer', 'silence', 'answer', 'silence', 'answer');
    await expect.poll(() => faults.length, { timeout: 10_000 }).toBeGreaterThan(5);
    expect(faults[0]).toBe('HAProxy was not asked yet');
    expect(new Set(faults.slice(1))).toEqual(new Set([undefined]));
  });

  it('finds one that is silent twice in a row, until it answers', async () => {
    await begin('answer', 'silence', 'silence', 'answer');
    await fault().toContain('no answer within');
    expect(faults).toEqual(['HAProxy was not asked yet', undefined, undefined]);
    await fault().toBeUndefined();
  });

  it('finds one that is gone with the first question', async () => {
    await begin('answer');
    await fault().toBeUndefined();
    const asked = faults.length;
    server.close();
    await fault().toContain('nothing listens there');
    expect(faults.length - asked).toBeLessThan(3);
  });
});
