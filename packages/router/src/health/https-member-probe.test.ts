import { once } from 'node:events';
import { createServer, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HttpsMemberProbe, verdictOf } from './https-member-probe.ts';
import type { MemberProbe } from './member-probe.ts';

describe('a probe through a member, with a limit for its connection', () => {
  /** A socket to a host that answers no SYN. */
  class SilentSocket extends Socket {
    override connect(): this {
      Object.defineProperty(this, 'connecting', { value: true });
      return this;
    }
  }

  const through = (port: number, open: () => Socket): MemberProbe =>
    new HttpsMemberProbe({
      address: '127.0.0.1',
      port,
      serverName: 'kubernetes',
      path: '/readyz',
      ca: () => undefined,
      timeoutMs: 20_000,
      connectTimeoutMs: 50,
      open,
    });

  it('gives up a host that does not answer, long before the time for the whole probe', async () => {
    const { result, verdict, tookMs } = await through(1, () => new SilentSocket()).probe();
    expect([result, verdict]).toEqual(['timeout', 'soft']);
    expect(tookMs).toBeLessThan(10_000);
  });

  it('reads the answer that has waited while this process hung', async () => {
    const server = createServer((socket) => socket.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const open = (): Socket => {
      process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200));
      return new Socket();
    };
    const { result } = await through(typeof address === 'object' ? (address?.port ?? 0) : 0, open).probe();
    server.close();
    // It ends the connection within the handshake: that is what it is told for.
    expect(result).toBe('error');
  });
});

describe('the verdict on a probe', () => {
  it.each([
    ['ok', 'good'],
    ['unauthorized', 'good'],
    ['refused', 'refused'],
    ['unreachable', 'unreachable'],
    ['status', 'answered'],
    ['timeout', 'soft'],
    ['tls', 'soft'],
    ['error', 'soft'],
    ['shortage', undefined],
  ] as const)('of kind %s is %s', (kind, verdict) => {
    expect(verdictOf({ kind })).toBe(verdict);
  });
});
