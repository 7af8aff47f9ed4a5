/** Members from a ConfigMap, with the kernel data plane and without any speaker: edits, faults, an API that is away, tokens. */
import { renameSync, writeFileSync } from 'node:fs';
import { servingCertificate } from '@bgp-lb/kubernetes/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startListedMasters } from '../kit/listed-masters.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';
import { eventsSince } from '../kit/router-view.ts';

const eventually = { timeout: 60_000, interval: 100 };
const PORT = 6444;
const HOUR = 3_600;

function token(issuedAt: number, expiresAt: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ iat: Math.round(issuedAt), exp: Math.round(expiresAt) })}.c2ln`;
}

interface SourceStatus {
  readonly members: number;
  readonly problem: string;
  readonly detail: string;
  readonly credential: { readonly state: string } | null;
}

describe('members from a ConfigMap', { timeout: 200_000 }, () => {
  let lab: Lab;
  let api: NamespaceProcess<typeof import('../kit/pool-api.ts')>;
  const now = Date.now() / 1_000;
  const [ending, renewed] = [token(now - 9 * HOUR, now + HOUR), token(now, now + 10 * HOUR)];

  beforeAll(async () => {
    lab = await startListedMasters({ masters: 3 });
    // On a host that is no member, so that it may be away while these serve.
    const { namespace } = lab.upstream;
    const host = lab.upstream.addressOf(0);
    const tls = servingCertificate(`IP:${host}`);
    writeFileSync(lab.lb.path('etc/api-ca.crt'), tls.cert);
    setToken(ending);
    api = await NamespaceProcess.start(
      ['ip', 'netns', 'exec', namespace],
      new URL('../kit/pool-api.ts', import.meta.url),
    );
    await api.run((server, options) => server.start(options), { ...tls, host, port: PORT });
    await api.run((server, good) => server.allow({ good }), ending);
    await put(list(1, 2));
    lab.lb.writeConfig({
      neighbors: [],
      vips: [{ address: vipAddress, members: { bgp: false, configMap: { namespace: 'lb', name: 'pool' } } }],
      kubernetes: {
        caFile: lab.lb.path('etc/api-ca.crt'),
        tokenFile: lab.lb.path('etc/token'),
        servers: [`https://${host}:${PORT}`],
      },
    });
    await lab.lb.router.start();
  }, 120_000);

  afterAll(async () => {
    await api?.stop();
    await lab?.destroy();
  });

  /** As what renews tokens does it: whole, by a rename. */
  function setToken(text: string): void {
    writeFileSync(lab.lb.path('etc/token.new'), text);
    renameSync(lab.lb.path('etc/token.new'), lab.lb.path('etc/token'));
  }

  function list(...numbers: readonly number[]): string {
    const members = numbers.map((number) => ({ name: `m${number}`, address: lab.master(number).address }));
    return `apiVersion: bgp-lb.dev/v1alpha1\nkind: Pool\nmembers: ${JSON.stringify(members)}\n`;
  }

  const put = (text: string): Promise<void> => api.run((server, value) => server.put(value), text);
  const addresses = (...numbers: readonly number[]): string[] =>
    numbers.map((number) => lab.master(number).address);

  async function source(): Promise<SourceStatus> {
    const { memberSources } = (await lab.lb.router.status()) as unknown as { memberSources: SourceStatus[] };
    const [one] = memberSources;
    if (one === undefined) throw new Error('the router has no list');
    return one;
  }

  /** Members that the list has as the pool knows it, whatever their health. */
  async function known(): Promise<string[]> {
    const { vips } = (await lab.lb.router.status()) as unknown as {
      vips: { members: { name: string; sources: { says: string }[] }[] }[];
    };
    const members = vips.flatMap((vip) => vip.members);
    return members
      .filter(({ sources }) => sources.some(({ says }) => says === 'listed'))
      .map(({ name }) => name);
  }

  async function events(): Promise<string[]> {
    const all = await eventsSince(lab, 0);
    return all.filter(({ type }) => type === 'member-source').map(({ text }) => String(text));
  }

  it('are served', async () => {
    await lab.lb.waitForPool(addresses(1, 2), 20_000);
    expect(await lab.client.request({ host: vipAddress, timeout: 5_000 })).toMatchObject({ ok: true });
  });

  it('change with an edit within two seconds', async () => {
    await put(list(1, 2, 3));
    const began = performance.now();
    await expect.poll(known, { timeout: 10_000, interval: 20 }).toEqual(['m1', 'm2', 'm3']);
    expect(performance.now() - began).toBeLessThan(2_000);
    await lab.lb.waitForPool(addresses(1, 2, 3), 20_000);
  });

  it('change within the poll where no watch can be had, which is said', async () => {
    await api.run((server) => server.setMode('no-watch'));
    await expect.poll(async () => (await source()).problem, eventually).toMatch(/^watch: /);
    const began = performance.now();
    await put(list(1, 3));
    await lab.lb.waitForPool(addresses(1, 3), 60_000);
    expect(performance.now() - began).toBeLessThan(40_000);
    await api.run((server) => server.setMode('good'));
    await expect.poll(async () => (await source()).problem, eventually).toBe('');
  });

  it('stay when the object is malformed or empty, each with one event that has line and column', async () => {
    const before = (await events()).length;
    await put('apiVersion: bgp-lb.dev/v1alpha1\nkind: Pool\nmembers:\n  - { name: m1, adress: 10.0.0.11 }\n');
    await expect.poll(async () => (await source()).problem, eventually).toContain('adress');
    await put('apiVersion: bgp-lb.dev/v1alpha1\nkind: Pool\nmembers: []\n');
    await expect.poll(async () => (await source()).problem, eventually).toContain('is empty');
    const told = (await events()).slice(before);
    expect(told).toEqual([
      expect.stringMatching(/pool\.yaml:4:17: members\.0\.adress: is not a known key \(address\?\)/),
      expect.stringMatching(/pool\.yaml:3:10: members: is empty/),
    ]);
    expect(await known()).toEqual(['m1', 'm3']);
    await lab.lb.waitForPool(addresses(1, 3), 5_000);
    const { stdout, code } = await lab.lb.router.query(['explain', vipAddress]);
    expect([code, stdout]).toEqual([expect.any(Number), expect.stringContaining('is empty')]);
    await put(list(1, 2));
    await lab.lb.waitForPool(addresses(1, 2), 20_000);
    expect((await source()).problem).toBe('');
  });

  it('are followed on with a token that was exchanged, and one that ends soon is said', async () => {
    await expect.poll(async () => (await source()).credential?.state, eventually).toBe('ending');
    await expect
      .poll(events, eventually)
      .toContainEqual(expect.stringMatching(/^the token ends at .* and was not renewed yet$/));
    await api.run((server, tokens) => server.allow(tokens), { good: renewed, bad: ending });
    setToken(renewed);
    await api.run((server) => server.cutWatches());
    await put(list(1, 2, 3));
    await lab.lb.waitForPool(addresses(1, 2, 3), 20_000);
    await expect.poll(async () => (await source()).credential?.state, eventually).toBe('good');
    expect((await events()).filter((text) => text.includes('401'))).toEqual([]);
  });

  it('stay while the API is away for a minute, over a start of the router', async () => {
    await api.run((server) => server.stop());
    await expect.poll(async () => (await source()).problem, eventually).toContain('ECONNREFUSED');
    await lab.lb.router.stop();
    await lab.lb.router.start();
    const began = performance.now();
    await lab.lb.waitForPool(addresses(1, 2, 3), 20_000);
    expect((await source()).detail).toBe('as it was before the restart');
    while (performance.now() - began < 60_000) {
      expect(await lab.client.request({ host: vipAddress, timeout: 5_000 })).toMatchObject({ ok: true });
      await lab.lb.waitForPool(addresses(1, 2, 3), 100);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  });
});
