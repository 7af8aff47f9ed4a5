import type { ServerResponse } from 'node:http';
import { createConnection } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { httpsTarget, type ProbeTarget, tlsTarget } from '../testing/probe-target.ts';
import { makeAuthority, sign } from '../testing/test-certificates.ts';
import { HttpsProbe, type HttpsProbeOptions } from './https-probe.ts';
import { failingChecks } from './probe-result.ts';

const authority = makeAuthority('kubernetes');
const pair = sign(authority, { altNames: 'DNS:kubernetes' });

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function keep<T extends { close(): unknown }>(one: T): T {
  open.push(one);
  return one;
}

async function answering(handle: (response: ServerResponse, count: number) => void): Promise<ProbeTarget> {
  let count = 0;
  return keep(
    await httpsTarget(pair, (_, response) => {
      count += 1;
      handle(response, count);
    }),
  );
}

function probeOf(target: ProbeTarget, options: Partial<HttpsProbeOptions> = {}): HttpsProbe {
  return keep(
    new HttpsProbe({
      address: '127.0.0.1',
      port: target.port,
      serverName: 'kubernetes',
      path: '/readyz',
      ca: () => authority.cert,
      timeoutMs: 5000,
      keepAlive: true,
      ...options,
    }),
  );
}

/** An answer of kube-apiserver with `?verbose` or a failing check. */
const RED =
  '[+]ping ok\n[-]etcd failed: reason withheld\n[+]poststarthook/x ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n';

describe('the outcome of a probe', () => {
  it.each([
    [200, 'ok', undefined, 'answered 200'],
    [500, 'status', '[-]shutdown failed\n', 'answered 500: shutdown'],
    [500, 'status', RED, 'answered 500: etcd, shutdown'],
    [500, 'status', '', 'answered 500'],
    [401, 'unauthorized', '', 'answered 401'],
    [403, 'unauthorized', '', 'answered 403'],
    [404, 'status', '', 'answered 404'],
    [429, 'status', '', 'answered 429'],
  ] as const)('for status %d is %s', async (status, kind, body, detail) => {
    const target = await answering((response) => response.writeHead(status).end(body));
    const result = await probeOf(target).probe();
    expect(result).toMatchObject({ kind, status, detail, isVerified: true, warnings: [] });
    expect(result.tookMs).toBeGreaterThan(0);
    expect(result.failing).toEqual(
      body === RED ? ['etcd', 'shutdown'] : body?.includes('[-]') === true ? ['shutdown'] : undefined,
    );
  });

  it('for a redirect is its status: it is not followed', async () => {
    const target = await answering((response, count) => {
      if (count === 1) response.writeHead(302, { Location: '/other' }).end();
      else response.writeHead(200).end();
    });
    expect(await probeOf(target).probe()).toMatchObject({ kind: 'status', status: 302 });
  });

  it('for an informational answer is that of the final one', async () => {
    const target = await answering((response) => {
      response.writeProcessing();
      response.writeHead(200).end();
    });
    expect(await probeOf(target).probe()).toMatchObject({ kind: 'ok' });
  });

  it('shows words of the server without control characters', async () => {
    const target = await answering((response) => response.writeHead(500).end('[-]a\u001b[31m failed\n'));
    expect((await probeOf(target).probe()).detail).toBe('answered 500: a\\u001b[31m');
  });
});

describe('failingChecks', () => {
  it('takes only lines of the form that an API server writes, and not without end', () => {
    expect(failingChecks('[-]etcd failed: x\n [-]no failed\n[-]also\n[+]fine failed\n')).toEqual(['etcd']);
    expect(failingChecks('[-]a failed\n'.repeat(1000))).toHaveLength(64);
    expect(failingChecks(`[-]${'a'.repeat(129)} failed\n`)).toEqual([]);
  });
});

describe('the connection of a probe', () => {
  it('is kept for the next one', async () => {
    const target = await answering((response) => response.end('ok'));
    const probe = probeOf(target);
    for (let index = 0; index < 3; index++) expect((await probe.probe()).kind).toBe('ok');
    expect(target.connections()).toBe(1);
  });

  it('is new each time without keepAlive', async () => {
    const target = await answering((response) => response.end('ok'));
    const probe = probeOf(target, { keepAlive: false });
    for (let index = 0; index < 3; index++) expect((await probe.probe()).kind).toBe('ok');
    expect(target.connections()).toBe(3);
  });

  it('is used by one probe at a time: a second call joins the first', async () => {
    let requests = 0;
    const target = await answering((response) => {
      requests += 1;
      setImmediate(() => response.end('ok'));
    });
    const probe = probeOf(target);
    const first = probe.probe();
    const second = probe.probe();
    expect(second).toBe(first);
    await first;
    expect(requests).toBe(1);
    expect(probe.probe()).not.toBe(first);
  });

  it('that the server closed while idle is replaced, and the probe made again on the fresh one', async () => {
    // Each connection answers once and is reset when it is asked again: what a probe sees of a close that crossed its request.
    const target = keep(
      await tlsTarget(pair, (socket) => {
        let asked = 0;
        socket.on('data', () => {
          asked += 1;
          if (asked === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
          else socket.destroy();
        });
      }),
    );
    const probe = probeOf(target);
    expect((await probe.probe()).kind).toBe('ok');
    expect((await probe.probe()).kind).toBe('ok');
    expect(target.connections()).toBe(2);
  });

  it('that the server has half closed after its answer is replaced without a failed probe', async () => {
    const target = keep(
      await tlsTarget(pair, (socket) => {
        socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
      }),
    );
    const probe = probeOf(target);
    for (let index = 0; index < 5; index++) expect((await probe.probe()).kind).toBe('ok');
    expect(target.connections()).toBe(5);
  });

  it('that is fresh and fails is a failure: nothing is tried twice', async () => {
    const target = keep(await tlsTarget(pair, (socket) => socket.once('data', () => socket.destroy())));
    expect(await probeOf(target).probe()).toMatchObject({ kind: 'error', code: 'ECONNRESET' });
    expect(target.connections()).toBe(1);
  });

  it('is replaced after a probe that timed out', async () => {
    const target = await answering((response, count) => {
      if (count !== 2) response.end('ok');
    });
    const probe = probeOf(target, { timeoutMs: 300 });
    expect([(await probe.probe()).kind, (await probe.probe()).kind, (await probe.probe()).kind]).toEqual([
      'ok',
      'timeout',
      'ok',
    ]);
    expect(target.connections()).toBe(2);
  });

  it('may be made by the caller', async () => {
    const target = await answering((response) => response.end('ok'));
    let made = 0;
    const connect = (): ReturnType<typeof createConnection> => {
      made += 1;
      return createConnection(target.port, '127.0.0.1');
    };
    expect((await probeOf(target, { address: '192.0.2.1', connect }).probe()).kind).toBe('ok');
    expect(made).toBe(1);
  });

  it('made by the caller may be connected already', async () => {
    const target = await answering((response) => response.end('ok'));
    const socket = createConnection(target.port, '127.0.0.1');
    await new Promise((resolve) => socket.once('connect', resolve));
    expect((await probeOf(target, { connect: () => socket }).probe()).kind).toBe('ok');
  });

  it('ends with close, and the probe that runs with it', async () => {
    const target = await answering(() => undefined);
    const probe = probeOf(target);
    const running = probe.probe();
    await expect.poll(() => target.connections()).toBe(1);
    probe.close();
    expect(await running).toMatchObject({ kind: 'error', detail: 'the probe was closed' });
    expect(await probe.probe()).toMatchObject({ kind: 'error', detail: 'the probe was closed' });
  });
});
