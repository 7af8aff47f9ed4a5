import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, openKubeconfig } from '@bgp-lb/kubernetes';
import { StandInApiServer, servingCertificate } from '@bgp-lb/kubernetes/testing';
import { type Clock, systemClock } from '@bgp-lb/protocol/node';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AnnotationWatch } from './annotation-watch.ts';
import { drainWishOf } from './drain-wish.ts';
import { annotationRbac } from './rbac.ts';
import { WishMemory } from './wish-memory.ts';

const NODES = '/api/v1/nodes';

let tls: { readonly key: string; readonly cert: string };
let folder: string;
let api: StandInApiServer;
let told: string[];
let wake: () => void;
let watch: AnnotationWatch;

/** Waits before a repetition are over at once; limits do not come. */
const clock: Clock = {
  now: () => systemClock.now(),
  after: (ms, fire) => systemClock.after(ms < 10_000 || !Number.isInteger(ms) ? 0 : ms, fire),
};

beforeAll(() => {
  tls = servingCertificate('IP:127.0.0.1');
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-annotation-'));
  [told, wake] = [[], () => undefined];
  api = new StandInApiServer(tls);
  await api.listen();
  api.allow('word', [{ path: NODES, name: 'master-1' }]);
  watch = newWatch();
});

afterEach(async () => {
  watch.close();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

function newWatch(): AnnotationWatch {
  const path = join(folder, 'kubeconfig');
  const data = Buffer.from(tls.cert).toString('base64');
  writeFileSync(
    path,
    `
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: "${api.url}", certificate-authority-data: ${data} } }]
users: [{ name: a, user: { token: word } }]
`,
  );
  return new AnnotationWatch({
    node: 'master-1',
    client: new ApiClient({ open: () => openKubeconfig(path), clock }),
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

/** Waits for what the watch tells or changes. */
async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

function putNode(drain?: string): void {
  const annotations = drain === undefined ? {} : { 'bgp-lb.dev/drain': drain };
  api.put(NODES, 'master-1', { kind: 'Node', apiVersion: 'v1', metadata: { annotations } });
}

const watching = (count = 1): Promise<unknown> =>
  api.until(() => api.asked.filter(({ kind }) => kind === 'watch').length >= count);

describe('the watch of the annotation', { timeout: 20_000 }, () => {
  it('follows the Node, keeps the last wish for what means nothing, and goes on after a dropped connection', async () => {
    putNode();
    watch.start();
    await watching();
    expect(watch.wish).toBe('none');
    putNode('true');
    await until(() => watch.wish === 'drain');
    putNode('maybe');
    await until(() => watch.status().error?.includes('"maybe"; allowed: true, false, force'));
    expect(watch.wish).toBe('drain');
    putNode('force');
    await until(() => watch.wish === 'force');
    api.delete(NODES, 'master-1');
    await until(() => watch.status().error === 'there is no Node master-1');
    api.endWatches('cut');
    await watching(2);
    expect(watch.wish).toBe('force');
    putNode();
    await until(() => watch.wish === 'none');
    expect(watch.status()).toMatchObject({ node: 'master-1', error: null });
    expect(told.at(-1)).toBe('the drain annotation of Node master-1 is known again');
  });

  it('keeps the last answer through 410, 403, 401, 500 and a closed port', async () => {
    putNode('true');
    watch.start();
    await watching();
    for (const code of [403, 401, 500]) {
      api.setMode(code);
      api.endWatches(410);
      await until(() => watch.status().error?.includes(`${code}`));
      api.setMode('good');
      const count = api.asked.filter(({ kind }) => kind === 'watch').length;
      await watching(count + 1);
    }
    await api.close();
    await until(() => watch.status().error?.includes('ECONNREFUSED'));
    expect(watch.wish).toBe('drain');
    expect(watch.status().succeededMs).toBeGreaterThan(0);
    // A restart meanwhile does not forget it.
    expect(new WishMemory(folder, 'master-1', fail).wish).toBe('drain');
    expect(new WishMemory(folder, 'another', fail).wish).toBe('none');
  });

  it('says that there is no such Node, where none is listed', async () => {
    watch.start();
    await until(() => watch.status().error === 'there is no Node master-1');
    expect(watch.wish).toBe('none');
  });

  it('does not keep the speaker from its start when its memory cannot be read, and says so', () => {
    mkdirSync(join(folder, 'drain-annotation.json'));
    const said: string[] = [];
    expect(new WishMemory(folder, 'master-1', (message) => said.push(message)).wish).toBe('none');
    expect(said).toEqual([expect.stringMatching(/drain-annotation\.json cannot be read.*it is a folder/)]);
  });
});

describe('the annotation', () => {
  it('drains with true or without text, forces with force, and means nothing else', () => {
    const texts = [undefined, 'false', 'true', '', 'force', 'yes'];
    expect(texts.map(drainWishOf)).toEqual(['none', 'none', 'drain', 'drain', 'force', undefined]);
  });

  it('needs the rights to list and watch its own Node, and no other', () => {
    const text = JSON.stringify(annotationRbac('master-1'));
    expect(text).toContain('"resources":["nodes"],"resourceNames":["master-1"],"verbs":["list","watch"]');
    expect(text.match(/"verbs"/g)).toHaveLength(1);
  });
});
