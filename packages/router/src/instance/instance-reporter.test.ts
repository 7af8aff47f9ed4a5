import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StandInApiServer, servingCertificate } from '@bgp-lb/kubernetes/testing';
import { type Clock, systemClock } from '@bgp-lb/protocol/node';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RouterConfig } from '../config/router-config.ts';
import { routerSchema } from '../config/schema.ts';
import type { MemberView } from '../pool/member-view.ts';
import { instanceReports } from './instance-report.ts';
import { InstanceReporter } from './instance-reporter.ts';

const PATH = '/apis/bgp-lb.dev/v1alpha1/namespaces/lb/loadbalancerinstances';

let tls: { readonly key: string; readonly cert: string };
let folder: string;
let api: StandInApiServer;
let reporter: InstanceReporter | undefined;

/** Looks come at once; `passed` is what else has passed. */
let passed = 0;
const clock: Clock = {
  now: () => passed,
  after: (ms, fire) => systemClock.after(ms <= 1_000 ? 1 : ms, fire),
};

beforeAll(() => {
  tls = servingCertificate('IP:127.0.0.1,DNS:kubernetes');
});

beforeEach(async () => {
  [passed, reporter] = [0, undefined];
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-instance-'));
  writeFileSync(join(folder, 'ca.crt'), tls.cert);
  writeFileSync(join(folder, 'token'), 'word');
  api = new StandInApiServer(tls);
  api.define({
    group: 'bgp-lb.dev',
    version: 'v1alpha1',
    kind: 'LoadBalancerInstance',
    plural: 'loadbalancerinstances',
    hasStatus: true,
  });
  // What `bgp-lb-controller host-token` gives.
  const resources = ['loadbalancerinstances/status'];
  api.allowRules('word', [
    { apiGroups: ['bgp-lb.dev'], resources, resourceNames: ['lb-1'], verbs: ['patch'], namespace: 'lb' },
  ]);
  await api.listen();
});

afterEach(async () => {
  reporter?.close();
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

function config(
  vips: readonly object[] = [
    { address: '10.100.0.1', members: { configMap: { namespace: 'lb', name: 'bgp-lb-pool-prod' } } },
  ],
): RouterConfig {
  return routerSchema.parse({
    asn: 64512,
    neighbors: [{ name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 }],
    vips,
    kubernetes: {
      caFile: join(folder, 'ca.crt'),
      tokenFile: join(folder, 'token'),
      servers: [api.url],
      instance: { namespace: 'lb', name: 'lb-1' },
    },
  });
}

function member(name: string, address: string, more: Partial<MemberView> = {}): MemberView {
  return {
    ...{ name, nextHop: address, state: 'active', inPool: true, weight: 256, session: 'none', sources: [] },
    ...{ health: 'passing', reason: '', since: 0, exits: 0, gates: [] },
    ...more,
  };
}

describe('what an instance reports', () => {
  const free = (): undefined => undefined;

  it('is health, reason and drain of each member of the pools of its MachineLoadBalancers', () => {
    const pools = new Map([
      [
        '10.100.0.1/32',
        {
          members: () => [
            member('m1', '10.0.0.11'),
            member('m2', '10.0.0.12', { health: 'failing', state: 'out', reason: 'HTTP 500' }),
            member('m3', '10.0.0.13', { health: 'unknown', state: 'out' }),
            member('m4', '10.0.0.14', { state: 'draining' }),
          ],
        },
      ],
    ]);
    expect(instanceReports(config(), pools, undefined, free)).toEqual([
      {
        name: 'prod',
        answers: true,
        members: [
          { name: 'm1', address: '10.0.0.11', healthy: true, draining: false },
          { name: 'm2', address: '10.0.0.12', healthy: false, draining: false, reason: 'HTTP 500' },
          { name: 'm3', address: '10.0.0.13', healthy: false, draining: false, reason: 'not checked yet' },
          { name: 'm4', address: '10.0.0.14', healthy: true, draining: true },
        ],
      },
    ]);
    expect(instanceReports(config(), pools, 'no route', free)).toMatchObject([
      { answers: true, drift: 'no route' },
    ]);
  });

  it('is nothing of VIPs that are of no MachineLoadBalancer of its namespace', () => {
    const vips = [
      { address: '10.100.0.1' },
      { address: '10.100.0.2', members: { configMap: { namespace: 'lb', name: 'by-hand' } } },
      { address: '10.100.0.3', members: { configMap: { namespace: 'other', name: 'bgp-lb-pool-prod' } } },
    ];
    expect(instanceReports(config(vips), new Map(), undefined, free)).toEqual([]);
  });

  it('answers for a VIP unless something keeps it from that, which it says', () => {
    const pools = new Map(['10.100.0.1/32', '10.100.0.2/32'].map((vip) => [vip, { members: () => [] }]));
    const of = (address: string, name: string): object => ({
      address,
      members: { configMap: { namespace: 'lb', name: `bgp-lb-pool-${name}` } },
    });
    const drained = (vip: string): string | undefined => (vip === '10.100.0.2/32' ? 'a rule' : undefined);
    const vips = [of('10.100.0.1', 'prod'), of('10.100.0.2', 'users')];
    expect(instanceReports(config(vips), pools, 'no route', drained)).toEqual([
      { name: 'prod', answers: true, drift: 'no route', members: [] },
      { name: 'users', answers: false, drift: 'a rule', members: [] },
    ]);
    const both = [of('10.100.0.1', 'prod'), of('10.100.0.2', 'prod')];
    expect(instanceReports(config(both), pools, undefined, drained)).toEqual([
      { name: 'prod', answers: true, drift: 'a rule', members: [] },
    ]);
  });
});

describe('the reporter', () => {
  let members: MemberView[];
  let problems: string[];
  const statusOf = (): Record<string, unknown> =>
    (api.object(PATH, 'lb-1')?.['status'] ?? {}) as Record<string, unknown>;
  const taken = (): number => api.written.filter(({ path }) => path.endsWith('/status')).length;

  async function until(look: () => boolean): Promise<void> {
    const end = performance.now() + 10_000;
    while (!look()) {
      if (performance.now() > end)
        throw new Error(`${String(look)} is not so: ${JSON.stringify(statusOf())} ${problems}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  function start(now?: () => RouterConfig): void {
    const initial = config();
    [members, problems] = [[member('m1', '10.0.0.11')], []];
    const pools = new Map([['10.100.0.1/32', { members: () => members }]]);
    reporter = new InstanceReporter({
      ...{ config: now ?? (() => initial), pools, clock, version: '0.1.0', drift: () => undefined },
      hindrance: () => undefined,
      wallClock: () => 1_000_000 + passed,
      problem: (text) => problems.push(text),
    });
    reporter.start();
  }

  const create = (): void =>
    api.write('POST', PATH, {
      ...{ apiVersion: 'bgp-lb.dev/v1alpha1', kind: 'LoadBalancerInstance', spec: { providers: [] } },
      metadata: { namespace: 'lb', name: 'lb-1' },
    });

  it('writes a change at once, and a heartbeat every 10 s', async () => {
    create();
    start();
    await until(() => taken() === 1);
    await until(() => statusOf()['heartbeat'] === '1970-01-01T00:16:40.000Z');
    expect(statusOf()).toMatchObject({
      version: '0.1.0',
      loadBalancers: [{ name: 'prod', members: [{ name: 'm1', healthy: true }] }],
    });
    members = [member('m1', '10.0.0.11', { health: 'failing', reason: 'HTTP 500' })];
    await until(() => JSON.stringify(statusOf()).includes('HTTP 500'));
    expect(taken()).toBe(2);
    passed = 9_999;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken()).toBe(2);
    passed = 10_000;
    await until(() => statusOf()['heartbeat'] === '1970-01-01T00:16:50.000Z');
    expect([taken(), problems]).toEqual([3, []]);
  });

  it('says once that its object is missing, goes on, and says when it is there', async () => {
    start();
    await until(() => taken() >= 3);
    expect(problems).toEqual([expect.stringContaining('LoadBalancerInstance lb/lb-1 takes no report')]);
    create();
    await until(() => problems.length > 1);
    expect(problems[1]).toBe('LoadBalancerInstance lb/lb-1 takes reports again');
  });

  it('follows the configuration: nothing is reported without an instance', async () => {
    create();
    let current = { ...config(), kubernetes: undefined } as RouterConfig;
    start(() => current);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken()).toBe(0);
    current = config();
    await until(() => taken() === 1);
  });
});
