import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiClient, type ObjectRequest } from '@bgp-lb/kubernetes';
import { definitionOf, StandInApiServer, servingCertificate } from '@bgp-lb/kubernetes/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { controllerCommandLine } from '../cli.ts';
import { customResourceDefinitions } from '../crd/custom-resources.ts';
import { systemClock } from '../run/system-clock.ts';

const tls = servingCertificate('IP:127.0.0.1,DNS:kubernetes');
const OWN = '/apis/bgp-lb.dev/v1alpha1/namespaces/fleet';
const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

let folder: string;
let api: StandInApiServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-host-token-'));
  api = new StandInApiServer(tls);
  for (const crd of customResourceDefinitions()) api.define(definitionOf(crd));
  api.allowRules('admin', everything);
  await api.listen();
  writeFileSync(join(folder, 'ca.crt'), tls.cert);
  writeFileSync(
    join(folder, 'admin'),
    stringify({
      clusters: [{ name: 'c', cluster: { server: api.url, 'certificate-authority': 'ca.crt' } }],
      users: [{ name: 'u', user: { token: 'admin' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
});

afterEach(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function command(...argv: string[]): Promise<{ code: number; out: string; said: string }> {
  let [out, said] = ['', ''];
  const code = await controllerCommandLine(argv, {
    stdout: { write: (text) => (out += String(text)) },
    stderr: { write: (text) => (said += String(text)) },
  });
  return { code, out, said };
}

const hostToken = (...more: string[]): ReturnType<typeof command> =>
  command(
    ...['host-token', 'lb-1', '--namespace', 'fleet', '--kubeconfig', join(folder, 'admin')],
    ...['--server', api.url, '--ca-file', join(folder, 'ca.crt'), '--load-balancer', 'prod'],
    ...(more.length === 0 ? ['--provider', 'BGPLoadBalancer/prod'] : more),
  );

describe('host-token', () => {
  it('gives an LB host its pool and its own object, and no other verb, name or kind', async () => {
    const { code, out, said } = await hostToken();
    expect([code, said]).toEqual([0, expect.stringContaining('the token ends at')]);
    const { users } = parse(out) as { users: [{ user: { token: string } }] };
    const client = new ApiClient({
      open: () => ({
        servers: [{ url: api.url }],
        tls: { ca: tls.cert },
        headers: { authorization: `Bearer ${users[0].user.token}` },
        credential: { kind: 'token' },
      }),
      clock: systemClock,
    });
    const answerOf = async (request: ObjectRequest): Promise<string> =>
      client.send(request, AbortSignal.timeout(5_000)).then(
        () => 'good',
        (error: { status?: number }) => String(error.status),
      );
    const list = (path: string, name?: string): ObjectRequest => ({
      method: 'GET',
      path,
      query: { limit: '500', ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }) },
    });
    const patch = (path: string): ObjectRequest => ({
      ...{
        method: 'PATCH',
        path,
        body: { status: { version: '1' } },
        contentType: 'application/merge-patch+json',
      },
    });
    const pools = '/api/v1/namespaces/fleet/configmaps';
    const instances = `${OWN}/loadbalancerinstances`;
    const account = '/api/v1/namespaces/fleet/serviceaccounts';
    const allowed = [list(pools, 'bgp-lb-pool-prod'), patch(`${instances}/lb-1/status`)];
    for (const request of allowed) expect(await answerOf(request), request.path).toBe('good');
    const refused: readonly ObjectRequest[] = [
      list(pools),
      list(pools, 'bgp-lb-pool-other'),
      list('/api/v1/namespaces/other/configmaps', 'bgp-lb-pool-prod'),
      list('/api/v1/namespaces/fleet/secrets', 'bgp-lb-pool-prod'),
      { method: 'GET', path: `${pools}/bgp-lb-pool-prod` },
      { method: 'DELETE', path: `${pools}/bgp-lb-pool-prod` },
      { method: 'PUT', path: `${pools}/bgp-lb-pool-prod`, body: {} },
      { method: 'POST', path: pools, body: { metadata: { name: 'x' } } },
      patch(`${pools}/bgp-lb-pool-prod`),
      patch(`${instances}/lb-1`),
      patch(`${instances}/lb-2/status`),
      { method: 'DELETE', path: `${instances}/lb-1` },
      { method: 'GET', path: `${instances}/lb-1` },
      list(`${OWN}/machineloadbalancers`),
      patch(`${OWN}/machineloadbalancers/prod/status`),
      { method: 'POST', path: `${account}/bgp-lb-host-lb-1/token`, body: {} },
      { method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/namespaces/fleet/roles', body: {} },
    ];
    for (const request of refused)
      expect(await answerOf(request), `${request.method} ${request.path}`).toBe('403');
    client.close();
  });

  it('may be run again, for a new token', async () => {
    await hostToken();
    expect((await hostToken()).code).toBe(0);
    expect(api.object(`${OWN}/loadbalancerinstances`, 'lb-1')?.['spec']).toEqual({
      providers: [{ kind: 'BGPLoadBalancer', name: 'prod' }],
    });
  });

  it.each([
    [['--provider', 'F5/prod'], 'BGPLoadBalancer/NAME or HAProxyLoadBalancer/NAME'],
    [['--provider', 'BGPLoadBalancer/prod', '--hours', '0'], '--hours 0'],
  ])('%j is refused, with what is allowed', async (flags, sentence) => {
    const { code, said } = await hostToken(...flags);
    expect([code, said]).toEqual([2, expect.stringContaining(sentence)]);
    expect(api.written).toEqual([]);
  });
});

describe('status and explain', () => {
  it('show what is there, and why each member is in or out', async () => {
    api.write('POST', `${OWN}/machineloadbalancers`, {
      ...{
        apiVersion: 'bgp-lb.dev/v1alpha1',
        kind: 'MachineLoadBalancer',
        metadata: { namespace: 'fleet', name: 'prod' },
      },
      spec: {
        vip: '10.0.0.100',
        machineSelector: {},
        providerRef: { apiGroup: 'bgp-lb.dev', kind: 'BGPLoadBalancer', name: 'prod' },
      },
    });
    const status = {
      endpoint: 'https://10.0.0.100:6443',
      ready: true,
      status: '1 of 2 members healthy',
      members: [{ name: 'm1', address: '10.0.0.11', healthy: true, draining: false, reason: 'healthy' }],
      conditions: [
        {
          ...{ type: 'MembersHealthy', status: 'False', reason: 'SomeNotHealthy', message: 'm2: refused' },
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    };
    api.write('PATCH', `${OWN}/machineloadbalancers/prod/status`, { status });
    await hostToken();
    const members = [
      { name: 'm1', address: '10.0.0.11', healthy: true },
      { name: 'm9', address: '10.0.0.19', healthy: false, reason: 'refused' },
    ];
    const report = {
      heartbeat: '2026-01-01T00:00:00Z',
      loadBalancers: [{ name: 'prod', answers: true, members }],
    };
    api.write('PATCH', `${OWN}/loadbalancerinstances/lb-1/status`, { status: report });
    const options = ['--namespace', 'fleet', '--kubeconfig', join(folder, 'admin')];
    const shown = await command('status', ...options);
    expect(shown.out).toMatch(
      /prod +https:\/\/10\.0\.0\.100:6443 +yes +1 of 2 members healthy +BGPLoadBalancer\/prod +MembersHealthy: SomeNotHealthy/,
    );
    const why = await command('explain', 'prod', ...options);
    expect(why.out).toMatch(/m1 +10\.0\.0\.11 +- +healthy +healthy/);
    expect(why.out).toMatch(
      /m9 +10\.0\.0\.19 +- +an LB host has it, and the spec does not select it +refused/,
    );
    expect((await command('explain', 'none', ...options)).code).toBe(1);
  });
});
