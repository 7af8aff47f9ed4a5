import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StandInApiServer, servingCertificate } from '@bgp-lb/kubernetes/testing';
import { type Clock, systemClock } from '@bgp-lb/protocol/node';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import type { ListedMember } from '../pool/member-claims.ts';
import { ConfigMapMembership } from './config-map-membership.ts';
import { KeptAnswers } from './kept-answers.ts';
import type { MembershipEvent } from './membership-source.ts';
import type { SourceEvent } from './source-status.ts';
import { listConformance } from './testing/membership-conformance.ts';

const VIP = '10.100.0.1/32';
const PATH = '/api/v1/namespaces/lb/configmaps';
const DAY = 86_400;

let tls: { readonly key: string; readonly cert: string };
let folder: string;
let api: StandInApiServer;
let told: SourceEvent[];
let events: MembershipEvent[];
let looks: Set<() => void>;
let made: ConfigMapMembership[];
let wallClock: number;
let timers: { readonly ms: number; readonly fire: () => void }[];

/** Pauses between attempts are over at once; limits, polls and looks at the credentials come when the test says so. */
const clock: Clock = {
  now: () => systemClock.now(),
  after(ms, fire) {
    if (ms < 10_000 || !Number.isInteger(ms)) return systemClock.after(0, fire);
    const timer = { ms, fire };
    timers.push(timer);
    return () => {
      timers = timers.filter((one) => one !== timer);
    };
  },
};

function fire(ms: number): void {
  const due = timers.filter((one) => one.ms === ms);
  timers = timers.filter((one) => one.ms !== ms);
  for (const one of due) one.fire();
}

beforeAll(() => {
  tls = servingCertificate('IP:127.0.0.1,DNS:kubernetes');
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-configmap-'));
  writeFileSync(join(folder, 'ca.crt'), tls.cert);
  writeFileSync(join(folder, 'token'), 'word');
  [told, events, looks, made, timers, wallClock] = [[], [], new Set(), [], [], Date.now()];
  api = new StandInApiServer(tls);
  api.allow('word', [{ path: PATH, name: 'pool' }]);
  await api.listen();
});

afterEach(async () => {
  for (const source of made) await source.stop();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

function config(
  members: object = { configMap: { namespace: 'lb', name: 'pool' } },
  port?: string,
): RouterConfig {
  return routerSchema.parse({
    asn: 64512,
    neighbors: [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }],
    vips: [{ address: '10.100.0.1', members }],
    kubernetes: {
      caFile: join(folder, 'ca.crt'),
      tokenFile: join(folder, 'token'),
      servers: [port ?? api.url],
    },
  });
}

function newSource(initial = config(), knownServers: string[] = []): ConfigMapMembership {
  const source = new ConfigMapMembership({
    config: initial,
    clock,
    wallClock: () => wallClock,
    kept: new KeptAnswers(join(folder, 'lists.json'), (problem) => {
      throw new Error(problem);
    }),
    knownServers: () => knownServers.map((url) => ({ url, serverName: 'kubernetes' })),
    tell: (event) => {
      told.push(event);
      for (const look of looks) look();
    },
  });
  made.push(source);
  return source;
}

async function started(initial?: RouterConfig, knownServers?: string[]): Promise<ConfigMapMembership> {
  const source = newSource(initial, knownServers);
  await source.start((more) => {
    events.push(...more);
    for (const look of looks) look();
  });
  return source;
}

/** Resolves when a look at what was told or reported succeeds. */
function until(isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isSo()) return;
      looks.delete(look);
      resolve();
    };
    looks.add(look);
    look();
  });
}

const lists = (): string[] =>
  events.flatMap((event) => (event.type === 'listed' ? [event.members.map(({ name }) => name).join()] : []));

function pool(members: readonly object[], more = ''): string {
  return `apiVersion: bgp-lb.dev/v1alpha1\nkind: Pool\n${more}members: ${JSON.stringify(members)}\n`;
}

function put(text: string | undefined): void {
  api.put(PATH, 'pool', {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    data: text === undefined ? {} : { 'pool.yaml': text },
  });
}

const [m1, m2] = [
  { name: 'm1', address: '10.0.0.11' },
  { name: 'm2', address: '10.0.0.12' },
];

const watching = (count = 1): Promise<unknown> =>
  api.until(() => api.asked.filter(({ kind }) => kind === 'watch').length >= count);

function jwt(iat: number, exp: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ iat, exp })}.c2ln`;
}

listConformance('a ConfigMap', async () => {
  const source = newSource();
  let written = 0;
  return {
    source,
    vip: VIP,
    async write(members: readonly ListedMember[]) {
      await watching();
      written += 1;
      put(pool(members, `generation: ${written}\nallowEmpty: true\n`));
      // After a stop nothing is heard of any more.
      const taken = until(() => told.some(({ text }) => text.startsWith(`generation ${written},`)));
      await Promise.race([taken, api.until(() => api.watches === 0)]);
    },
    close: async () => undefined,
  };
});

describe('a list from a ConfigMap', { timeout: 20_000 }, () => {
  it('is followed by the watch, and by the poll where the watch is deaf', async () => {
    put(pool([m1]));
    await started();
    await watching();
    expect(lists()).toEqual(['m1']);
    put(pool([m1, m2]));
    await until(() => lists().at(-1) === 'm1,m2');
    api.setMode('mute');
    put(pool([m2]));
    fire(30_000);
    await until(() => lists().at(-1) === 'm2');
  });

  it('stays as it was when the object is malformed, empty, without the key or deleted: one event each', async () => {
    put(pool([m1]));
    const source = await started();
    await watching();
    told = [];
    const faults: [() => void, string][] = [
      [
        () => put(pool([])),
        'configMap lb/pool pool.yaml:3:10: members: is empty; allowed: at least one member',
      ],
      [() => put('members: ['), 'pool.yaml:1:'],
      [() => put(pool([{ ...m1, addres: 'x' }])), 'members.0.addres: is not a known key (address?)'],
      [() => put(''), 'pool.yaml: is empty'],
      [() => put(undefined), 'it has no key pool.yaml'],
      [() => api.delete(PATH, 'pool'), 'there is no such ConfigMap'],
    ];
    for (const [index, [change, text]] of faults.entries()) {
      change();
      await until(() => told.length === index + 1);
      expect(told.at(-1)).toMatchObject({ kind: 'configMap', name: 'lb/pool', isBad: true });
      expect(told.at(-1)?.text).toContain(`the last good list stays: `);
      expect(told.at(-1)?.text).toContain(text);
      expect(source.status()[0]).toMatchObject({ members: 1, problem: expect.stringContaining(text) });
      // The same again, by the poll, is no event.
      fire(30_000);
    }
    expect(lists()).toEqual(['m1']);
    put(pool([], 'allowEmpty: true\n'));
    await until(() => lists().length === 2);
    expect(lists()).toEqual(['m1', '']);
    expect(source.status()[0]).toMatchObject({ members: 0, problem: '' });
  });

  it.each([
    ['kernel', 7443, 'port 7443 of m2 is not used: the kernel leaves the port of a packet as it is'],
    ['kernel', 6443, ''],
    ['haproxy', 7443, ''],
  ])('says that the port of a member is not used where it is not: %s, %i', async (kind, port, ignored) => {
    put(pool([m1, { ...m2, port }]));
    const parsed = config();
    const { dataplane } = routerSchema.parse({
      ...{ asn: 1, vips: [{ address: '10.100.0.1' }], dataplane: { kind } },
      neighbors: [{ name: 'm', role: 'master', range: '10.0.0.0/24', asn: 1 }],
    });
    const source = await started({ ...parsed, dataplane });
    await until(() => lists().length === 1);
    expect(source.status()[0]?.ignored).toContain(ignored);
    expect(source.status()[0]?.ignored === '').toBe(ignored === '');
  });

  it('outlives a restart while the API is away, and is asked for from the members that it names', async () => {
    put(pool([m1, m2], 'generation: 7\n'));
    const first = await started();
    await watching();
    await first.stop();
    events = [];
    const second = await started(config(undefined, 'https://127.0.0.1:1'));
    // At once, and before any answer.
    expect(lists()).toEqual(['m1,m2']);
    await until(() => told.some(({ text }) => text.includes('ECONNREFUSED')));
    expect(second.status()[0]).toMatchObject({
      members: 2,
      detail: 'generation 7, as it was before the restart',
      problem: expect.stringContaining('ECONNREFUSED'),
    });
    await second.stop();
    events = [];
    const third = await started(config(undefined, 'https://127.0.0.1:1'), [api.url]);
    await watching(2);
    expect(third.status()[0]).toMatchObject({ problem: '', detail: `generation 7, from ${api.url}` });
    expect(lists()).toEqual(['m1,m2']);
  });

  it('is followed on with a token that was exchanged, whose end is known and told once', async () => {
    const now = wallClock / 1_000;
    const [old, renewed] = [jwt(now - 9 * DAY, now + DAY), jwt(now, now + 10 * DAY)];
    api.allow(old, [{ path: PATH, name: 'pool' }]);
    writeFileSync(join(folder, 'token'), old);
    put(pool([m1]));
    const source = await started();
    await watching();
    expect(source.status()[0]?.credential).toMatchObject({ kind: 'token', state: 'ending' });
    fire(10_000);
    fire(10_000);
    const credential = (): SourceEvent[] => told.filter(({ name }) => name === 'credential');
    expect(credential()).toEqual([
      expect.objectContaining({
        isBad: true,
        text: expect.stringMatching(/^the token ends at 20.*not renewed yet$/),
      }),
    ]);
    wallClock += 2 * DAY * 1_000;
    fire(10_000);
    expect(credential().at(-1)?.text).toMatch(/^the token has ended at 20/);
    api.allow(old, undefined);
    api.allow(renewed, [{ path: PATH, name: 'pool' }]);
    writeFileSync(join(folder, 'token'), renewed);
    api.endWatches('cut');
    await watching(2);
    put(pool([m1, m2]));
    await until(() => lists().at(-1) === 'm1,m2');
    fire(10_000);
    expect(credential().at(-1)).toMatchObject({
      isBad: false,
      text: expect.stringMatching(/^the token was renewed/),
    });
    expect(told.some(({ text }) => text.includes('401'))).toBe(false);
  });

  it('is no more when a reload takes the source away, and is there again with it; another API is asked at once', async () => {
    put(pool([m1]));
    const source = await started();
    await watching();
    source.configure(config({ static: [{ address: '10.0.0.99' }] }));
    expect(lists()).toEqual(['m1', '']);
    expect(source.status()).toEqual([]);
    source.configure(config());
    await until(() => lists().length === 3);
    const other = new StandInApiServer(tls);
    other.allow('word', [{ path: PATH, name: 'pool' }]);
    other.put(PATH, 'pool', { data: { 'pool.yaml': pool([m2]) } });
    await other.listen();
    source.configure(config(undefined, other.url));
    await until(() => lists().length === 4);
    expect(lists()).toEqual(['m1', '', 'm1', 'm2']);
    await other.close();
  });

  it('is for the VIPs of its families, and none of these is a member', async () => {
    put(pool([{ name: 'six', address: 'fd00::11' }]));
    await started();
    await watching();
    expect(lists()).toEqual([]);
    put(pool([{ name: 'vip', address: '10.100.0.1' }, m1]));
    await until(() => lists().length > 0);
    expect(lists()).toEqual(['m1']);
  });
});
