import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@bgp-lb/protocol/node';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { AnnotationWatch } from './annotation-watch.ts';
import { kubernetesNode } from './kubernetes-node.ts';
import { WishMemory } from './wish-memory.ts';

/** A request that has come and waits for the test's answer. */
interface Asked {
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

let ca: TestCa;
let tls: { readonly key: string; readonly cert: string };
let folder: string;
let server: Server;
let asked: Asked[];
let wake: () => void;
let told: string[];
let limits: { readonly ms: number; readonly fire: () => void }[];
let stream: ServerResponse;
let watch: AnnotationWatch;

/** Waits before a repetition are over at once; limits of requests come when the test says so. */
const clock: Clock = {
  now: () => systemClock.now(),
  after(ms, fire) {
    if (ms < 10_000) return systemClock.after(0, fire);
    const limit = { ms, fire };
    limits.push(limit);
    return () => {
      limits = limits.filter((one) => one !== limit);
    };
  },
};

beforeAll(() => {
  ca = new TestCa();
  const { key, cert } = ca.serving(['IP:127.0.0.1']);
  tls = { key, cert };
  return () => rmSync(ca.folder, { recursive: true, force: true });
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-annotation-'));
  [asked, told, limits, wake] = [[], [], [], () => undefined];
  server = createServer({ key: readFileSync(tls.key), cert: readFileSync(tls.cert) }, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'https://x');
    expect([pathname, request.headers.authorization]).toEqual(['/api/v1/nodes', 'Bearer word']);
    expect(searchParams.get('fieldSelector')).toBe('metadata.name=master-1');
    asked.push({ query: searchParams, response });
    wake();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  watch = newWatch();
});

afterEach(async () => {
  watch.close();
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

function newKubeconfig(text: string): string {
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, text);
  return path;
}

function newWatch(): AnnotationWatch {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const data = Buffer.from(ca.certificate).toString('base64');
  const path = newKubeconfig(`
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: "https://127.0.0.1:${port}", certificate-authority-data: ${data} } }]
users: [{ name: a, user: { token: word } }]
`);
  return new AnnotationWatch({
    node: 'master-1',
    open: async () => kubernetesNode(path, 'master-1'),
    memory: new WishMemory(folder, 'master-1', fail),
    clock,
    tell: (message) => {
      told.push(message);
      wake();
    },
    changed: () => wake(),
  });
}

function fail(message: string): never {
  throw new Error(message);
}

/** Waits for what the watch asks, tells or changes. */
async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

async function next(kind: 'list' | 'watch'): Promise<Asked> {
  const one = await until(() => asked.shift());
  expect(one.query.get('watch') === 'true' ? 'watch' : 'list').toBe(kind);
  return one;
}

function nodeObject(resourceVersion: string, drain?: string): object {
  const annotations = drain === undefined ? {} : { 'bgp-lb.dev/drain': drain };
  return { kind: 'Node', apiVersion: 'v1', metadata: { name: 'master-1', resourceVersion, annotations } };
}

async function answerList(resourceVersion: string, ...items: readonly object[]): Promise<void> {
  const { response } = await next('list');
  const list = { kind: 'NodeList', apiVersion: 'v1', metadata: { resourceVersion }, items };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(list));
}

async function answerWatch(from: string): Promise<(type: string, object: object) => void> {
  const { query, response } = await next('watch');
  expect(query.get('resourceVersion')).toBe(from);
  expect(query.get('allowWatchBookmarks')).toBe('true');
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  stream = response;
  return (type, object) => response.write(`${JSON.stringify({ type, object })}\n`);
}

async function refuse(kind: 'list' | 'watch', code: number): Promise<void> {
  const { response } = await next(kind);
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message: 'no' };
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(status));
}

describe('the watch of the annotation', { timeout: 20_000 }, () => {
  it('follows the Node by list, watch and bookmarks, and goes on from the last version after a dropped connection', async () => {
    watch.start();
    await answerList('10', nodeObject('5'));
    const send = await answerWatch('10');
    expect(watch.wish).toBe('none');
    send('MODIFIED', nodeObject('11', 'true'));
    await until(() => watch.wish === 'drain');
    send('MODIFIED', nodeObject('12', 'maybe'));
    await until(() => watch.status().error?.includes('"maybe"; allowed: true, false, force'));
    expect(watch.wish).toBe('drain');
    send('MODIFIED', nodeObject('13', 'force'));
    await until(() => watch.wish === 'force');
    send('BOOKMARK', nodeObject('40'));
    // On the same connection after the bookmark, so that this is known to have been read.
    send('DELETED', nodeObject('41', 'force'));
    await until(() => watch.status().error === 'there is no Node master-1');
    stream.destroy();
    const again = await answerWatch('41');
    expect(watch.wish).toBe('force');
    again('ADDED', nodeObject('42'));
    await until(() => watch.wish === 'none');
    expect(watch.status()).toMatchObject({ node: 'master-1', error: null });
    expect(told.at(-1)).toBe('the drain annotation of Node master-1 is known again');
  });

  it('lists again after 410 in the stream, and keeps the last answer through 401, 403, 500 and a closed port', async () => {
    watch.start();
    await answerList('10', nodeObject('5', 'true'));
    (await answerWatch('10'))('ERROR', { kind: 'Status', code: 410, reason: 'Expired' });
    await refuse('list', 403);
    await until(() => watch.status().error?.includes('403'));
    await refuse('list', 401);
    await refuse('list', 500);
    server.close();
    server.closeAllConnections();
    await until(() => watch.status().error?.includes('ECONNREFUSED'));
    expect(watch.wish).toBe('drain');
    expect(watch.status().succeededMs).toBeGreaterThan(0);
    // A restart meanwhile does not forget it.
    expect(new WishMemory(folder, 'master-1', fail).wish).toBe('drain');
    expect(new WishMemory(folder, 'another', fail).wish).toBe('none');
  });

  it('does not keep the speaker from its start when its memory cannot be read, and says so', () => {
    mkdirSync(join(folder, 'drain-annotation.json'));
    const said: string[] = [];
    expect(new WishMemory(folder, 'master-1', (message) => said.push(message)).wish).toBe('none');
    expect(said).toEqual([expect.stringMatching(/drain-annotation\.json cannot be read.*EISDIR/)]);
  });

  it('asks for an end of each watch, and gives up a connection that is half open', async () => {
    watch.start();
    await answerList('10', nodeObject('5', 'true'));
    // Never answered.
    const { query } = await next('watch');
    expect(query.get('timeoutSeconds')).toBe('25');
    expect(limits.map(({ ms }) => ms)).toEqual([30_000]);
    limits[0]?.fire();
    await until(() => watch.status().error?.includes('the connection is dead'));
    // Answered, and silent from then on.
    await answerWatch('10');
    limits[0]?.fire();
    await answerWatch('10');
    expect(watch.wish).toBe('drain');
  });

  it('does not hurry where each watch is ended at once, and says what a kubeconfig lacks', async () => {
    watch.start();
    await answerList('10', nodeObject('5'));
    await answerWatch('10');
    stream.end();
    await answerList('12', nodeObject('5'));
    expect(told.join()).toContain('ended the watch at once');
    watch.close();
    const path = newKubeconfig('{}');
    expect(() => kubernetesNode(path, 'master-1')).toThrow(/kubeconfig/);
    expect(() => kubernetesNode(join(folder, 'absent'), 'master-1')).toThrow(/ENOENT/);
  });
});
