import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, tokenAccess } from './api-access.ts';
import { ApiClient } from './api-client.ts';
import { Reflector } from './reflector.ts';
import { HeldClock } from './testing/held-clock.ts';
import { servingCertificate } from './testing/serving-certificate.ts';
import { StandInApiServer } from './testing/stand-in-api-server.ts';

const PATH = '/api/v1/namespaces/lb/configmaps';
const ONE = { path: PATH, fieldSelector: 'metadata.name=pool' };
const POLL = 30_000;
const SILENCE = 90_000;

let tls: { readonly key: string; readonly cert: string };
let folder: string;
let api: StandInApiServer;
let clock: HeldClock;
let said: string[];
let thrown: unknown[];
let objects: Map<string, unknown>;
let wake: () => void;
let onSet: () => void;
let made: Reflector[];
let client: ApiClient;

beforeAll(() => {
  tls = servingCertificate('IP:127.0.0.1,DNS:kubernetes');
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-reflector-'));
  writeFileSync(join(folder, 'ca.crt'), tls.cert);
  writeFileSync(join(folder, 'token'), 'word\n');
  [clock, said, thrown, objects, made] = [new HeldClock(), [], [], new Map(), []];
  [wake, onSet] = [() => undefined, () => undefined];
  api = await newServer();
});

afterEach(async () => {
  for (const reflector of made) reflector.close();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function newServer(options: { readonly pageSize?: number } = {}): Promise<StandInApiServer> {
  const server = new StandInApiServer({ ...tls, ...options });
  server.allow('word', [{ path: PATH, name: 'pool' }]);
  await server.listen();
  return server;
}

function newReflector(
  selection: object = ONE,
  servers = [api.url],
  moreServers?: () => readonly ApiServer[],
): Reflector {
  const open = () =>
    tokenAccess({ servers, caFile: join(folder, 'ca.crt'), tokenFile: join(folder, 'token') });
  client = new ApiClient({ open, moreServers, clock });
  const reflector: Reflector = new Reflector({
    client,
    selection: { path: PATH, ...selection },
    pollInterval: POLL,
    clock,
    handlers: {
      set(object) {
        said.push(`set ${object.metadata.name}`);
        objects.set(object.metadata.name, object['data']);
        wake();
        onSet();
      },
      gone({ name }) {
        said.push(`gone ${name}`);
        objects.delete(name);
        wake();
      },
      status: () => wake(),
      failed: (error) => thrown.push(error),
    },
  });
  made.push(reflector);
  reflector.start();
  return reflector;
}

/** Resolves when a look at what was told succeeds. */
async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

const watching = (count = 1): Promise<unknown> =>
  api.until(() => api.asked.filter(({ kind }) => kind === 'watch').length >= count);
const data = (value: string): { data: { value: string } } => ({ data: { value } });

describe('the reflector', { timeout: 30_000 }, () => {
  it('lists, watches, and reports what appears, changes and goes', async () => {
    api.put(PATH, 'pool', data('1'));
    api.put(PATH, 'other', data('x'));
    const reflector = newReflector();
    await watching();
    expect([...objects]).toEqual([['pool', { value: '1' }]]);
    // What is not known is left out.
    api.sendRaw('{"type":"NEWS","object":{}}');
    api.put(PATH, 'pool', data('2'));
    api.put(PATH, 'other', data('y'));
    await until(() => (objects.get('pool') as { value: string }).value === '2');
    api.delete(PATH, 'pool');
    await until(() => objects.size === 0);
    expect(said).toEqual(['set pool', 'set pool', 'gone pool']);
    expect(reflector.status()).toMatchObject({ isSynced: true, error: undefined });
  });

  it('reads all pages of a list, and lists again when their version is compacted between two of them', async () => {
    await api.close();
    api = await newServer({ pageSize: 2 });
    api.allow('word', [{ path: PATH }]);
    for (const name of ['a', 'b', 'c', 'd', 'e']) api.put(PATH, name, data(name));
    newReflector({});
    await watching();
    expect([...objects.keys()]).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(api.asked.filter(({ kind }) => kind === 'list')).toHaveLength(3);
  });

  it.each(['an answer', 'an ERROR event'] as const)(
    'takes 410 as %s, lists again, and reports what is gone',
    async (how) => {
      api.allow('word', [{ path: PATH }]);
      for (const name of ['pool', 'second']) api.put(PATH, name, data('1'));
      newReflector({});
      await watching();
      // The watch is cut, so that it does not hear what follows.
      api.setMode(how === 'an answer' ? 'good' : 'mute');
      if (how === 'an answer') {
        api.setMode('hang');
        api.endWatches('cut');
      }
      api.delete(PATH, 'second');
      api.put(PATH, 'pool', data('2'));
      api.compact();
      api.setMode('good');
      if (how === 'an answer') clock.fire(10_000);
      else api.endWatches(410);
      await until(() => !objects.has('second') && (objects.get('pool') as { value: string }).value === '2');
      expect(said).toEqual(['set pool', 'set second', 'gone second', 'set pool']);
    },
  );

  it('goes on from the last version, a bookmark among them, after a watch that ended, in order or cut', async () => {
    api.put(PATH, 'pool', data('1'));
    newReflector();
    await watching();
    api.put(PATH, 'other', data('x'));
    api.bookmark();
    api.put(PATH, 'pool', data('2'));
    await until(() => said.length === 2);
    api.put(PATH, 'other', data('y'));
    api.bookmark();
    api.endWatches('cut');
    await watching(2);
    api.put(PATH, 'pool', data('3'));
    await until(() => said.length === 3);
    const [, second] = api.asked.filter(({ kind }) => kind === 'watch');
    expect(Number(second?.query['resourceVersion'])).toBeGreaterThanOrEqual(103);
    expect(api.asked.filter(({ kind }) => kind === 'list')).toHaveLength(1);
  });

  it('ends a watch that has been silent for 90 s, and a request without an answer after 10 s', async () => {
    api.put(PATH, 'pool', data('1'));
    const reflector = newReflector();
    await watching();
    await until(() => clock.held.includes(SILENCE));
    api.setMode('hang');
    clock.fire(SILENCE);
    await watching(2);
    expect(reflector.status().error).toContain('nothing heard for 90 s');
    api.put(PATH, 'pool', data('2'));
    clock.fire(10_000);
    await until(() => reflector.status().error?.includes('no answer within 10 s'));
    api.setMode('good');
    clock.fire(10_000);
    await until(() => said.length === 2);
    expect(reflector.status().error).toBeUndefined();
  });

  it('finds by the poll what a deaf watch has not told, and begins the watch again from there', async () => {
    api.put(PATH, 'pool', data('1'));
    newReflector();
    await watching();
    api.setMode('mute');
    api.put(PATH, 'pool', data('2'));
    api.setMode('good');
    clock.fire(POLL);
    await until(() => said.length === 2);
    await watching(2);
    expect(objects.get('pool')).toEqual({ value: '2' });
    // Nothing new: the watch is left alone.
    await until(() => clock.held.includes(POLL));
    clock.fire(POLL);
    await api.until(() => api.asked.filter(({ kind }) => kind === 'list').length === 3);
    api.put(PATH, 'pool', data('3'));
    await until(() => said.length === 3);
    expect(api.asked.filter(({ kind }) => kind === 'watch')).toHaveLength(2);
  });

  it('polls on while no watch can be had, and says why', async () => {
    api.put(PATH, 'pool', data('1'));
    api.setMode('no-watch');
    const reflector = newReflector();
    await watching();
    api.put(PATH, 'pool', data('2'));
    await until(() => clock.held.includes(POLL));
    clock.fire(POLL);
    await until(() => said.length === 2);
    expect(reflector.status().error).toMatch(/^watch: /);
    // A watch that is open and has nothing to tell is well.
    api.setMode('good');
    await until(() => reflector.status().error === undefined);
    expect(said).toHaveLength(2);
  });

  it('goes on when a handler throws', async () => {
    onSet = () => {
      throw new Error('no');
    };
    api.put(PATH, 'pool', data('1'));
    newReflector();
    await watching();
    api.put(PATH, 'pool', data('2'));
    await until(() => said.length === 2);
    api.delete(PATH, 'pool');
    await until(() => said.length === 3);
    expect(thrown.map(String)).toEqual(['Error: no', 'Error: no']);
  });

  it.each([
    ['no JSON', 'nonsense', /list is no JSON/],
    ['another kind of JSON', '[]', /malformed: expected metadata.resourceVersion/],
    ['no items', '{"metadata":{"resourceVersion":"1"}}', /has no items/],
    [
      'an item without a name',
      '{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{}}]}',
      /metadata.name/,
    ],
    ['more than 16 MiB', `{"a":"${'x'.repeat(17 << 20)}"}`, /more than 16777216 octets/],
  ])('keeps what it knows when a list has %s', async (_, body, reason) => {
    api.put(PATH, 'pool', data('1'));
    api.answerOnce(body);
    const reflector = newReflector();
    await until(() => reason.test(reflector.status().error ?? ''));
    await until(() => objects.has('pool'));
    await watching();
    expect(reflector.status().error).toBeUndefined();
  });

  it.each([
    ['no JSON', '{"type":'],
    ['an object without metadata', '{"type":"MODIFIED","object":{}}'],
    ['an ERROR of another kind', '{"type":"ERROR","object":{"code":500,"message":"etcd"}}'],
    ['more than 8 MiB in one event', `{"type":"${'x'.repeat(9 << 20)}`],
  ])('lists again when a watch sends %s', async (_, line) => {
    api.put(PATH, 'pool', data('1'));
    newReflector();
    await watching();
    api.sendRaw(line);
    await api.until(() => api.asked.filter(({ kind }) => kind === 'list').length === 2);
    api.put(PATH, 'pool', data('2'));
    await until(() => said.length === 2);
  });

  it('follows any order of changes, cuts, compactions and refusals, and ends with what is there', async () => {
    const step = fc.constantFrom(
      'put a',
      'put b',
      'delete',
      'end',
      'cut',
      'compact',
      '410',
      'poll',
      '500',
      'malformed',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await api.close();
        api = await newServer();
        api.allow('word', [{ path: PATH }]);
        [objects, clock, said] = [new Map(), new HeldClock(), []];
        const expected = new Map<string, unknown>();
        const reflector = newReflector({});
        for (const [index, name] of steps.entries()) {
          perform(name, index, expected);
          await new Promise((resolve) => setImmediate(resolve));
        }
        api.setMode('good');
        const last = steps.length;
        api.put(PATH, 'last', data(String(last)));
        expected.set('last', { value: String(last) });
        await until(() => objects.has('last'));
        expect(new Map([...objects].sort())).toEqual(new Map([...expected].sort()));
        reflector.close();
      }),
      { numRuns: 60 },
    );
  });

  function perform(step: string, index: number, expected: Map<string, unknown>): void {
    const value = { value: String(index) };
    const steps: Readonly<Record<string, () => void>> = {
      delete: () => void (expected.delete('a') && api.delete(PATH, 'a')),
      end: () => api.endWatches('end'),
      cut: () => api.endWatches('cut'),
      '410': () => api.endWatches(410),
      compact: () => api.compact(),
      poll: () => clock.fire(POLL),
      '500': () => api.setMode(api.asked.length % 2 === 0 ? 500 : 'good'),
      malformed: () => api.sendRaw('{'),
    };
    const put = (name: string) => (): void => {
      api.put(PATH, name, data(value.value));
      expected.set(name, value);
    };
    (steps[step] ?? put(step.slice(4)))();
  }
});

describe('the servers', { timeout: 30_000 }, () => {
  it.each([401, 403])('says so when it is refused with %i, and goes on when that ends', async (code) => {
    api.put(PATH, 'pool', data('1'));
    api.allow('word', code === 401 ? undefined : [{ path: PATH, name: 'another' }]);
    const reflector = newReflector();
    await until(() => reflector.status().error?.includes(`${code}: `));
    expect(reflector.status().isSynced).toBe(false);
    writeFileSync(join(folder, 'token'), 'renewed');
    api.allow('renewed', [{ path: PATH, name: 'pool' }]);
    await until(() => objects.has('pool'));
  });

  it('is refused a list of all with the rights of one object, which a field selector is allowed', async () => {
    const reflector = newReflector({ fieldSelector: undefined });
    await until(() => reflector.status().error?.includes('403: '));
  });

  it('does not speak to a server of another CA or another name', async () => {
    writeFileSync(join(folder, 'ca.crt'), servingCertificate('IP:127.0.0.1').cert);
    const reflector = newReflector();
    await until(() => /self-signed|unable to verify/.test(reflector.status().error ?? ''));
    writeFileSync(join(folder, 'ca.crt'), tls.cert);
    const other = newReflector(ONE, [], () => [{ url: api.url, serverName: 'another' }]);
    await until(() => other.status().error?.includes('another'));
  });

  it('that refuse do not keep from one that does not', async () => {
    const other = new StandInApiServer(tls);
    other.allow('another', [{ path: PATH }]);
    await other.listen();
    api.put(PATH, 'pool', data('1'));
    newReflector(ONE, [other.url, api.url]);
    await until(() => objects.has('pool'));
    expect(client.server).toBe(api.url);
    expect(other.asked.map(({ kind }) => kind)).toEqual(['list']);
    await other.close();
  });

  it('are tried in turn, those that become known later too, and the one that answers is kept', async () => {
    api.put(PATH, 'pool', data('1'));
    const more: ApiServer[] = [];
    const reflector = newReflector(
      ONE,
      ['https://127.0.0.1:1', 'http://127.0.0.1:2', 'nonsense'],
      () => more,
    );
    await until(() => /ECONNREFUSED.*only https.*not a URL/.test(reflector.status().error ?? ''));
    more.push({ url: api.url, serverName: 'kubernetes' });
    await until(() => objects.has('pool'));
    expect(client.server).toBe(api.url);
    const second = new StandInApiServer(tls);
    second.allow('word', [{ path: PATH, name: 'pool' }]);
    second.put(PATH, 'pool', data('2'));
    second.put(PATH, 'pool', data('of the second'));
    await second.listen();
    more.push({ url: second.url });
    await api.close();
    await until(() => (objects.get('pool') as { value: string }).value === 'of the second');
    await second.close();
  });
});
