import { afterEach, describe, expect, it } from 'vitest';
import { exchange, get, RawClient } from '../testing/raw-http.ts';
import { type RunningServer, runningServer } from '../testing/running-server.ts';
import { MAX_BODY_SIZE } from './body.ts';

let running: RunningServer | undefined;
const clients: RawClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await running?.close();
  running = undefined;
});

async function start(options: Parameters<typeof runningServer>[0] = {}): Promise<RunningServer> {
  const routes = [{ method: 'POST', path: '/echo', handle: ({ body }: { body: unknown }) => body }] as const;
  running = await runningServer({ routes, ...options });
  return running;
}

function client(target: number | string): RawClient {
  const made = new RawClient(target);
  clients.push(made);
  return made;
}

function post(body: string, length = body.length): string {
  return `POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

describe('the Host header', () => {
  it.each([
    'localhost',
    'localhost:9474',
    'LOCALHOST.',
    '127.0.0.1',
    '127.8.9.10:1',
    '[::1]:9474',
    'lb1.example',
  ])('may be %s', async (host) => {
    const { port } = await start({ allowedHosts: ['lb1.Example'] });
    expect(await exchange(port, get('/healthz', [`Host: ${host}`]))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    'localhost@evil',
    '[::1',
    '',
  ])('may not be %j, so that DNS rebinding does not work', async (host) => {
    const { port } = await start();
    expect(await exchange(port, get('/healthz', [`Host: ${host}`]))).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('must be there', async () => {
    const { port } = await start();
    expect(await exchange(port, get('/healthz', []))).toMatch(/^HTTP\/1\.1 400 /);
    expect(await exchange(port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  it('that is refused names the key of the configuration only where there is one', async () => {
    const refused = get('/healthz', ['Host: lb1.example']);
    const { port, close } = await start({ allowedHosts: [] });
    expect(await exchange(port, refused)).toContain('and the names in api.allowedHosts');
    await close();
    const without = await start();
    const answer = await exchange(without.port, refused);
    expect(answer).toContain('allowed: localhost, loopback addresses and the address that was connected to');
    expect(answer).not.toContain('api.allowedHosts');
  });

  it('does not matter on the Unix socket', async () => {
    const { socketPath } = await start();
    expect(await exchange(socketPath, get('/healthz', ['Host: whatever.example']))).toMatch(
      /^HTTP\/1\.1 200 /,
    );
  });
});

describe('a hostile client', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'headers above 8 KiB',
      get('/healthz', ['Host: localhost', `X: ${'x'.repeat(9000)}`]),
      /^HTTP\/1\.1 431 /,
    ],
    ['a path above 8 KiB', get(`/${'x'.repeat(9000)}`), /^HTTP\/1\.1 431 /],
    ['a path that is none', get('http://evil.example/healthz'), /^HTTP\/1\.1 400 /],
    [
      'two lengths',
      'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    ['a method of its own', get('/healthz').replace('GET', 'PROPFIND'), /^HTTP\/1\.1 405 /],
  ])('that sends %s is refused', async (_, request, expected) => {
    const { port } = await start();
    expect(await exchange(port, request)).toMatch(expected);
    expect(await exchange(port, get('/healthz'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('that sends headers slowly is cut off', async () => {
    const { port } = await start({ headersTimeoutMs: 500 });
    const slow = client(port).send('GET /healthz HTTP/1.1\r\nHost: localhost\r\n');
    const drip = setInterval(() => slow.send('X-Drip: 1\r\n'), 200);
    try {
      expect(await slow.closed()).toMatch(/^HTTP\/1\.1 408 /);
    } finally {
      clearInterval(drip);
    }
  });

  it('that sends a body slowly is cut off', async () => {
    const { socketPath } = await start({ headersTimeoutMs: 500, requestTimeoutMs: 500 });
    const slow = client(socketPath).send(post('{', 1000));
    const drip = setInterval(() => slow.send(' '), 100);
    try {
      expect(await slow.closed()).toMatch(/^HTTP\/1\.1 408 /);
    } finally {
      clearInterval(drip);
    }
  });

  it('that sends a body above the limit is refused before its end', async () => {
    const { socketPath } = await start();
    const large = client(socketPath).send(post('x'.repeat(MAX_BODY_SIZE + 1), 10_000_000));
    expect(await large.until('\r\n\r\n')).toMatch(/^HTTP\/1\.1 413 [\s\S]*Connection: close/);
  });

  it.each(['{', 'nonsense', '{"a":1}x'])('that sends %j as JSON is told so', async (body) => {
    const { socketPath } = await start();
    expect(await exchange(socketPath, post(body))).toMatch(/^HTTP\/1\.1 400 [\s\S]*the body is not JSON/);
  });

  it('that goes away within its request does no harm', async () => {
    const { socketPath, log } = await start();
    const gone = client(socketPath).send(post('{}', 1000));
    gone.socket.once('connect', () => gone.socket.end(() => gone.socket.destroy()));
    await gone.closed();
    expect(await exchange(socketPath, get('/healthz'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(log.filter((line) => Number(line['level']) >= 50)).toEqual([]);
  });
});
