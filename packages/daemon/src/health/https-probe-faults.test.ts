import { createConnection, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProbeTarget, tcpTarget, tlsTarget } from '../testing/probe-target.ts';
import { makeAuthority, sign } from '../testing/test-certificates.ts';
import { HttpsProbe, type HttpsProbeOptions } from './https-probe.ts';
import { kindOfErrno } from './probe-result.ts';

const authority = makeAuthority('kubernetes');
const pair = sign(authority, { altNames: 'DNS:kubernetes' });

const open: { close(): unknown }[] = [];
const timers: NodeJS.Timeout[] = [];
afterEach(async () => {
  for (const timer of timers.splice(0)) clearInterval(timer);
  for (const one of open.splice(0)) await one.close();
});

function probeOf(port: number, options: Partial<HttpsProbeOptions> = {}): HttpsProbe {
  const probe = new HttpsProbe({
    address: '127.0.0.1',
    port,
    serverName: 'kubernetes',
    path: '/readyz',
    ca: () => authority.cert,
    timeoutMs: 5000,
    keepAlive: true,
    ...options,
  });
  open.push(probe);
  return probe;
}

async function keep(target: Promise<ProbeTarget>): Promise<ProbeTarget> {
  const made = await target;
  open.push(made);
  return made;
}

/** A TLS server that writes something to each connection, at once and then every 50 ms. */
function dripping(first: string, drip: string): Promise<ProbeTarget> {
  return keep(
    tlsTarget(pair, (socket) => {
      socket.once('data', () => {
        socket.write(first);
        timers.push(setInterval(() => socket.writable && socket.write(drip), 50));
      });
    }),
  );
}

/** A socket whose connection attempt fails with an errno. */
function failingSocket(code: string): Socket {
  const socket = new Socket();
  setImmediate(() => socket.destroy(Object.assign(new Error(`connect ${code}`), { code })));
  return socket;
}

describe('a server that cannot be reached', () => {
  it('with a closed port is refused', async () => {
    const target = await tcpTarget(() => undefined);
    await target.close();
    const result = await probeOf(target.port).probe();
    expect(result).toMatchObject({
      kind: 'refused',
      code: 'ECONNREFUSED',
      detail: 'connection refused',
      isVerified: false,
    });
  });

  it.each([
    ['EHOSTUNREACH', 'unreachable', 'no route to the host'],
    ['ENETUNREACH', 'unreachable', 'the network is unreachable'],
    ['ETIMEDOUT', 'timeout', 'the connection timed out'],
    ['ECONNREFUSED', 'refused', 'connection refused'],
    ['ECONNRESET', 'error', 'connection reset within the TLS handshake'],
  ])('with %s is %s', async (code, kind, detail) => {
    expect(await probeOf(1, { connect: () => failingSocket(code) }).probe()).toMatchObject({
      kind,
      code,
      detail,
    });
  });

  it('by a prohibit or blackhole route is unreachable', () => {
    expect(['EACCES', 'EINVAL'].map(kindOfErrno)).toEqual(['unreachable', 'unreachable']);
  });

  it.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL'])(
    'because of %s was not asked: this host is short of what it takes',
    async (code) => {
      expect(await probeOf(1, { connect: () => failingSocket(code) }).probe()).toMatchObject({
        kind: 'shortage',
        code,
        isVerified: false,
      });
      const connect = (): never => {
        throw Object.assign(new Error(`socket: ${code}`), { code });
      };
      expect(await probeOf(1, { connect }).probe()).toMatchObject({ kind: 'shortage', code });
    },
  );

  it('because a socket cannot be made is told with the reason', async () => {
    const connect = (): never => {
      throw Object.assign(new Error('setsockopt SO_MARK: EPERM'), { code: 'EPERM' });
    };
    expect(await probeOf(1, { connect }).probe()).toMatchObject({
      kind: 'error',
      code: 'EPERM',
      detail: 'setsockopt SO_MARK: EPERM',
    });
  });
});

describe('a server that accepts and does not do its part', () => {
  it.each([
    ['says nothing', () => undefined],
    ['reads and says nothing', (socket: Socket) => socket.resume()],
  ])('by TCP and %s is cut by the timeout', async (_, handle) => {
    const target = await keep(tcpTarget(handle));
    const result = await probeOf(target.port, { timeoutMs: 200 }).probe();
    expect(result).toMatchObject({ kind: 'timeout', detail: 'no complete answer within 200 ms' });
    expect(result.tookMs).toBeGreaterThanOrEqual(195);
    expect(result.tookMs).toBeLessThan(2000);
  });

  it.each([
    ['a status line', 'HTTP/1.1 200 O', 'K'],
    ['headers', 'HTTP/1.1 200 OK\r\n', 'X-Drip: 1\r\n'],
    ['informational answers', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['a body', 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', 'x'],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\nx\r\n'],
  ])('and drips %s is cut by the timeout', async (_, first, drip) => {
    const target = await dripping(first, drip);
    expect(await probeOf(target.port, { timeoutMs: 300 }).probe()).toMatchObject({ kind: 'timeout' });
  });

  it('by closing within the handshake is an error', async () => {
    const target = await keep(tcpTarget((socket) => socket.once('data', () => socket.end())));
    expect(await probeOf(target.port).probe()).toMatchObject({ kind: 'error', code: 'ECONNRESET' });
  });

  it('by a reset within the handshake is an error', async () => {
    const target = await keep(tcpTarget((socket) => socket.once('data', () => socket.resetAndDestroy())));
    expect(await probeOf(target.port).probe()).toMatchObject({ kind: 'error', code: 'ECONNRESET' });
  });

  it('by plain HTTP is a TLS fault', async () => {
    const target = await keep(tcpTarget((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect(await probeOf(target.port).probe()).toMatchObject({ kind: 'tls' });
  });

  it.each([
    [
      'a body above 64 KiB',
      `HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
      'EMSGSIZE',
    ],
    ['headers above 16 KiB', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
    ['no HTTP', 'hello\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ])('by %s is an error', async (_, answer, code) => {
    const target = await keep(tlsTarget(pair, (socket) => socket.once('data', () => socket.write(answer))));
    expect(await probeOf(target.port).probe()).toMatchObject({ kind: 'error', code });
  });

  it('by ending within the body is an error, though the status was 200', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok';
    const target = await keep(tlsTarget(pair, (socket) => socket.once('data', () => socket.end(answer))));
    expect(await probeOf(target.port).probe()).toMatchObject({
      kind: 'error',
      detail: 'the connection ended within the answer',
    });
  });

  it('leaves no connection behind after the timeout', async () => {
    const closed: Promise<unknown>[] = [];
    const target = await keep(
      tcpTarget((socket) => closed.push(new Promise((resolve) => socket.resume().once('close', resolve)))),
    );
    await probeOf(target.port, { timeoutMs: 100 }).probe();
    expect(closed).toHaveLength(1);
    await closed[0];
  });
});

describe('a probe', () => {
  it('that always fails keeps no listener or socket', async () => {
    const target = await tcpTarget(() => undefined);
    await target.close();
    const probe = probeOf(target.port);
    for (let index = 0; index < 50; index++) expect((await probe.probe()).kind).toBe('refused');
  });

  it('does not use a socket that the caller made and that failed before', async () => {
    const dead = createConnection(1, '127.0.0.1');
    await new Promise((resolve) => dead.once('error', resolve));
    expect((await probeOf(1, { connect: () => dead, timeoutMs: 500 }).probe()).kind).not.toBe('ok');
  });
});
