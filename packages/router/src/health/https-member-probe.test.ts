import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HttpsMemberProbe, type HttpsMemberProbeOptions, verdictOf } from './https-member-probe.ts';

/** A socket to a host that answers no SYN. */
class SilentSocket extends Socket {
  override connect(): this {
    Object.defineProperty(this, 'connecting', { value: true });
    return this;
  }
}

let server: Server;
let accepted: Set<Socket>;

beforeEach(async () => {
  accepted = new Set();
  // Accepts, and does nothing more: what a machine does that is too busy to answer.
  server = createServer((socket) => accepted.add(socket.on('error', () => undefined)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(() => {
  for (const socket of accepted) socket.destroy();
  server.close();
});

function port(): number {
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

function through(options: Partial<HttpsMemberProbeOptions>): HttpsMemberProbe {
  return new HttpsMemberProbe({
    address: '127.0.0.1',
    port: port(),
    serverName: 'kubernetes',
    path: '/readyz',
    ca: () => undefined,
    timeoutMs: 100,
    lost: () => 0,
    ...options,
  });
}

/** A clock of lateness that goes on by so much with each look: a probe looks when it begins and when it ends. */
function lateBy(milliseconds: number): () => number {
  let lost = 0;
  return () => (lost += milliseconds);
}

describe('a probe through a member', () => {
  it('finds one slow, and not dead, whose connection is accepted and not answered in time', async () => {
    expect(await through({}).probe()).toMatchObject({
      verdict: 'slow',
      result: 'timeout',
      detail: 'accepted the connection, but gave no complete answer within 100 ms',
    });
  });

  it('finds one silent that accepts no connection', async () => {
    const { verdict, result } = await through({ open: () => new SilentSocket() }).probe();
    expect([verdict, result]).toEqual(['soft', 'timeout']);
  });

  it('begins each time without knowing what the one before found', async () => {
    const sockets = [new Socket(), new SilentSocket()];
    const probe = through({ open: () => sockets.shift() ?? new Socket() });
    expect([(await probe.probe()).verdict, (await probe.probe()).verdict]).toEqual(['slow', 'soft']);
  });

  it.each([
    ['accepted', () => new Socket()],
    ['silent', () => new SilentSocket()],
  ])(
    'proves nothing when this process was late itself, three times in a row at most: %s',
    async (_what, open) => {
      const probe = through({ open, lost: lateBy(25) });
      for (let n = 0; n < 3; n++) {
        expect(await probe.probe()).toMatchObject({
          verdict: undefined,
          result: 'late',
          detail: expect.stringMatching(/within 100 ms, while this process was 25 ms late itself$/),
        });
      }
      expect((await probe.probe()).verdict).toMatch(/slow|soft/);
    },
  );

  it('counts where this process was a little late only', async () => {
    expect((await through({ lost: lateBy(24) }).probe()).verdict).toBe('slow');
  });

  it('counts what was answered, however late this process was', async () => {
    server.on('connection', (socket) => socket.end());
    const { verdict, result } = await through({ timeoutMs: 20_000, lost: lateBy(20_000) }).probe();
    expect([verdict, result]).toEqual(['soft', 'error']);
  });
});

describe('a probe of a member in doubt, with a limit for its connection', () => {
  const doubted = { timeoutMs: 20_000, connectTimeoutMs: 50 };

  it('gives up a host that does not answer, long before the time for the whole probe', async () => {
    const probe = through({ ...doubted, open: () => new SilentSocket(), lost: lateBy(20_000) });
    const { result, verdict, tookMs } = await probe.probe();
    expect([result, verdict]).toEqual(['timeout', 'soft']);
    expect(tookMs).toBeLessThan(10_000);
  });

  it('says that its host accepts, however late this process was', async () => {
    const probe = through({ ...doubted, timeoutMs: 100, lost: lateBy(100) });
    expect((await probe.probe()).verdict).toBe('slow');
  });

  it('reads the answer that has waited while this process hung', async () => {
    server.on('connection', (socket) => socket.end());
    const open = (): Socket => {
      process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200));
      return new Socket();
    };
    const { result } = await through({ ...doubted, open }).probe();
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
    expect(verdictOf({ kind }, false)).toBe(verdict);
    expect(verdictOf({ kind }, true)).toBe(kind === 'timeout' ? 'slow' : verdict);
  });
});
