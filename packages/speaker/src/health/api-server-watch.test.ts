import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bgp-lb/protocol/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { ApiServerWatch, type ApiServerWatchOptions } from './api-server-watch.ts';

let folder: string;
let ca: TestCa;
let server: Server;
const open = new Set<object>();
let mostOpen = 0;
let connections = 0;
let status = 0;
const watches: ApiServerWatch[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-watch-'));
  ca = new TestCa(folder);
  const { key, cert } = ca.serving(['DNS:m1']);
  mostOpen = 0;
  connections = 0;
  // 0 never answers.
  server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
    if (status !== 0) response.writeHead(status).end();
  });
  server.on('connection', (socket) => {
    open.add(socket);
    connections += 1;
    mostOpen = Math.max(mostOpen, open.size);
    socket.once('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  for (const watch of watches.splice(0)) watch.close();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  rmSync(folder, { recursive: true, force: true });
});

/** A watch, and a promise of its state once it has made so many probes. */
function watch(
  probes: number,
  options: Partial<ApiServerWatchOptions> = {},
): { readonly watch: ApiServerWatch; readonly done: Promise<void> } {
  let made = 0;
  let finish: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const one = new ApiServerWatch({
    address: '127.0.0.1',
    // A server of node:net that listens on TCP has such an address.
    port: (server.address() as AddressInfo).port,
    serverName: 'm1',
    path: '/readyz',
    ca: () => ca.certificate,
    interval: 50,
    timeout: 200,
    rise: 2,
    fall: 3,
    unauthenticated: 'reject',
    clock: systemClock,
    probed: () => {
      made += 1;
      if (made === probes) finish();
    },
    ...options,
  });
  watches.push(one);
  return { watch: one, done };
}

describe('the probes of the API server', () => {
  it('never pile up at one that does not answer, however often and impatiently they are asked for', async () => {
    status = 0;
    const { watch: hasty, done } = watch(4);
    const hurry = setInterval(() => hasty.probeNow(), 5);
    for (let index = 0; index < 100; index += 1) hasty.probeNow();
    await done.finally(() => clearInterval(hurry));
    expect(hasty.readiness.level).toBe('soft');
    // The one that timed out may still be closing when the next one opens.
    expect(mostOpen).toBeLessThanOrEqual(2);
    expect(connections).toBeLessThanOrEqual(5);
  });

  it('take 401 for ready only where that is configured', async () => {
    status = 401;
    const [reject, accept] = [watch(3), watch(3, { unauthenticated: 'accept' })];
    for (const each of [reject, accept]) each.watch.probeNow();
    await Promise.all([reject.done, accept.done]);
    expect([reject.watch.readiness.level, accept.watch.readiness.level]).toEqual(['unauthorized', 'ready']);
  });

  it('take a certificate without the name for hard failure before the first advertisement, and warn after it', async () => {
    status = 200;
    const before = watch(3, { serverName: 'kubernetes' });
    const after = watch(3, { serverName: 'kubernetes', isNameOptional: () => true });
    for (const each of [before, after]) each.watch.probeNow();
    await Promise.all([before.done, after.done]);
    expect(before.watch.readiness.level).toBe('hard');
    expect(after.watch.readiness).toMatchObject({
      level: 'ready',
      detail: 'the API server is ready; the certificate does not name kubernetes',
    });
  });
});
