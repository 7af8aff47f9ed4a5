import { statSync } from 'node:fs';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange, get } from '../testing/raw-http.ts';
import { type RunningServer, runningServer } from '../testing/running-server.ts';
import { controlRequest } from './control-client.ts';
import { ControlError, ControlReply, type ControlRoute } from './control-route.ts';

let running: RunningServer | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

const ROUTES: readonly ControlRoute[] = [
  { method: 'GET', path: '/api/v1/status', handle: () => ({ asn: 64512 }) },
  { method: 'GET', path: '/api/v1/neighbors/:name', handle: ({ params, query }) => ({ params, query }) },
  { method: 'GET', path: '/api/v1/neighbors/all', handle: () => 'all' },
  { method: 'POST', path: '/api/v1/drain', handle: ({ body }) => Promise.resolve({ body }) },
  { method: 'GET', path: '/', handle: () => new ControlReply('text/html; charset=utf-8', '<p>') },
  {
    method: 'GET',
    path: '/refused',
    handle: () => {
      throw new ControlError(409, 'the pool would be empty');
    },
  },
  { method: 'GET', path: '/broken', handle: () => Promise.reject(new TypeError('x is undefined')) },
];

async function start(options: Parameters<typeof runningServer>[0] = {}): Promise<RunningServer> {
  running = await runningServer({ routes: ROUTES, ...options });
  return running;
}

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
}

describe('the control API', () => {
  it('answers JSON on both listeners', async () => {
    const { port, socketPath } = await start();
    for (const target of [port, socketPath]) {
      const answer = await exchange(target, get('/api/v1/status'));
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer).toMatch(/Content-Type: application\/json/);
      expect(answer).not.toMatch(/Access-Control/i);
      expect(bodyOf(answer)).toEqual({ asn: 64512 });
    }
  });

  it('keeps its socket for the owner', async () => {
    const { socketPath } = await start();
    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
  });

  it('decodes parameters and the query, and prefers literal paths', async () => {
    const { socketPath } = await start();
    expect(
      await controlRequest(socketPath, 'GET', '/api/v1/neighbors/2001%3Adb8%3A%3A1?a=1&b=x%20y'),
    ).toEqual({
      params: { name: '2001:db8::1' },
      query: { a: '1', b: 'x y' },
    });
    expect(await controlRequest(socketPath, 'GET', '/api/v1/neighbors/all')).toBe('all');
  });

  it('takes POST on the Unix socket only', async () => {
    const { port, socketPath } = await start();
    expect(await controlRequest(socketPath, 'POST', '/api/v1/drain', { member: 'm1' })).toEqual({
      body: { member: 'm1' },
    });
    const answer = await exchange(
      port,
      'POST /api/v1/drain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 405 .*\r\nAllow: GET, HEAD\r\n/);
  });

  it('answers HEAD like GET without a body', async () => {
    const { port } = await start();
    const answer = await exchange(port, get('/api/v1/status').replace('GET', 'HEAD'));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*Content-Length: 14\r\n[\s\S]*\r\n\r\n$/);
  });

  it.each([
    ['/nothing', 404, 'there is nothing at /nothing'],
    ['/api/v1/drain', 405, 'GET is not possible at /api/v1/drain'],
    ['/api/v1/neighbors/%ff', 404, 'there is nothing at /api/v1/neighbors/%ff'],
    ['/refused', 409, 'the pool would be empty'],
    ['/api/v1/events?since=x', 400, 'since is not a whole number; allowed: 0, 1, 2 ...'],
  ])('answers %s with %d as JSON', async (path, status, error) => {
    const { port } = await start();
    const answer = await exchange(port, get(path));
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(bodyOf(answer)).toEqual({ error });
  });

  it('answers 500 when a handler throws, logs it, and lives on', async () => {
    const { port, log } = await start();
    const answer = await exchange(port, get('/broken'));
    expect(answer).toMatch(/^HTTP\/1\.1 500 /);
    expect(bodyOf(answer)).toEqual({ error: 'x is undefined' });
    expect(log).toMatchObject([{ level: 50, msg: 'control API handler failed', url: '/broken' }]);
    expect(await exchange(port, get('/api/v1/status'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('serves pages with their own type', async () => {
    const { port } = await start();
    expect(await exchange(port, get('/'))).toMatch(/Content-Type: text\/html[\s\S]*<p>$/);
  });

  it('serves health, readiness and metrics', async () => {
    let ready = false;
    const metrics = new Registry();
    const { port } = await start({ metrics, readiness: () => ({ ready, reason: 'no session yet' }) });
    expect(await exchange(port, get('/healthz'))).toMatch(/^HTTP\/1\.1 200 [\s\S]*ok\n$/);
    const red = await exchange(port, get('/readyz'));
    expect(red).toMatch(/^HTTP\/1\.1 503 /);
    expect(bodyOf(red)).toEqual({ error: 'no session yet' });
    ready = true;
    expect(await exchange(port, get('/readyz'))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await exchange(port, get('/metrics'))).toMatch(/Content-Type: text\/plain; version=0\.0\.4/);
  });

  it('lists events, newest last, by sequence, count and type', async () => {
    const { socketPath, events } = await start();
    for (const type of ['a', 'b', 'a']) events.append(type);
    const sequences = async (query: string): Promise<unknown> => {
      const list = await controlRequest(socketPath, 'GET', `/api/v1/events${query}`);
      return Array.isArray(list) ? list.map((event: { sequence: number }) => event.sequence) : list;
    };
    expect(await sequences('')).toEqual([1, 2, 3]);
    expect(await sequences('?since=1')).toEqual([2, 3]);
    expect(await sequences('?limit=1')).toEqual([3]);
    expect(await sequences('?limit=0')).toEqual([]);
    expect(await sequences('?type=a')).toEqual([1, 3]);
  });
});

describe('the client', () => {
  it('says in words that no daemon runs', async () => {
    await expect(controlRequest('/nonexistent/x.sock', 'GET', '/')).rejects.toThrow(
      'the daemon does not run: nothing listens on /nonexistent/x.sock',
    );
  });

  it('passes on what the daemon answered', async () => {
    const { socketPath } = await start();
    await expect(controlRequest(socketPath, 'GET', '/refused')).rejects.toMatchObject({
      message: 'the pool would be empty',
      status: 409,
    });
  });
});
