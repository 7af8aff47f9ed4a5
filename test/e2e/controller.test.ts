/** The controller and a router, each with the rights that it is given in a cluster: from a Machine to a client's request and back to the status. */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { servingCertificate } from '@bgp-lb/kubernetes/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import { startListedMasters } from '../kit/listed-masters.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';

const PORT = 6444;
const program = resolve(import.meta.dirname, '../../dist/bgp-lb-controller.mjs');
const eventually = { timeout: 30_000, interval: 50 };

describe('a MachineLoadBalancer with a real router', { timeout: 120_000 }, () => {
  let lab: Lab;
  let api: NamespaceProcess<typeof import('../kit/fleet-api.ts')>;
  const replicas = new Map<string, HostProcess>();

  /** Runs a command of the program on the host of the API server. */
  const command = (...argv: string[]): Promise<string> =>
    lab.upstream.exec([process.execPath, program, ...argv]);

  beforeAll(async () => {
    lab = await startListedMasters({ masters: 3 });
    const { upstream } = lab;
    const host = upstream.addressOf(0);
    const url = `https://${host}:${PORT}`;
    const tls = servingCertificate(`IP:${host}`);
    writeFileSync(upstream.path('ca.crt'), tls.cert);
    api = await NamespaceProcess.start(
      ['ip', 'netns', 'exec', upstream.namespace],
      new URL('../kit/fleet-api.ts', import.meta.url),
    );
    await api.run((server, options) => server.start(options), { ...tls, host, port: PORT });
    const objects = parseAllDocuments(await command('manifests')).map((one) => one.toJS() as object);
    await api.run((server, all) => server.apply(all), objects);
    const credentials = (token: string): string =>
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': upstream.path('ca.crt') } }],
        users: [{ name: 'u', user: { token } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      });
    writeFileSync(upstream.path('admin'), credentials('admin'));
    const answer = await upstream.exec([
      ...[
        'curl',
        '-sS',
        '--cacert',
        upstream.path('ca.crt'),
        '-XPOST',
        '-H',
        'Authorization: Bearer admin',
        '-d',
        '{}',
      ],
      `${url}/api/v1/namespaces/bgp-lb-system/serviceaccounts/bgp-lb-controller/token`,
    ]);
    const { token } = (JSON.parse(answer) as { status: { token: string } }).status;
    writeFileSync(upstream.path('controller'), credentials(token));
    for (const master of lab.masters) {
      await api.run((server, one) => server.machine(one), { name: master.name, address: master.address });
    }
    await api.run((server, vip) => server.loadBalancer(vip), vipAddress);
    const kubeconfig = await command(
      ...[
        'host-token',
        'lb-1',
        '--namespace',
        'fleet',
        '--provider',
        'BGPLoadBalancer/prod',
        '--load-balancer',
        'prod',
      ],
      ...['--server', url, '--ca-file', upstream.path('ca.crt'), '--kubeconfig', upstream.path('admin')],
    );
    writeFileSync(lab.lb.path('etc/kubeconfig'), kubeconfig);
    lab.lb.writeConfig({
      neighbors: [],
      vips: [
        {
          address: vipAddress,
          members: { bgp: false, configMap: { namespace: 'fleet', name: 'bgp-lb-pool-prod' } },
        },
      ],
      kubernetes: {
        kubeconfig: lab.lb.path('etc/kubeconfig'),
        instance: { namespace: 'fleet', name: 'lb-1' },
      },
    });
    await lab.lb.router.start();
    startReplica('one', 9_476);
  }, 120_000);

  afterAll(async () => {
    for (const replica of replicas.values()) await replica.stop();
    await api?.stop();
    await lab?.destroy();
  });

  function startReplica(name: string, port: number): void {
    const { upstream } = lab;
    const replica = upstream.spawn(`controller-${name}`, [
      ...[process.execPath, program, 'run', `--kubeconfig=${upstream.path('controller')}`],
      ...[`--lease.identity=${name}`, `--api.socket=${upstream.path(`${name}.sock`)}`],
      `--api.listen=127.0.0.1:${port}`,
    ]);
    replicas.set(name, replica);
  }

  const health = async (): Promise<unknown> => (await api.run((server) => server.status()))['status'];
  const holder = (): Promise<unknown> => api.run((server) => server.holder());
  const addresses = (): string[] => lab.masters.map(({ address }) => address);

  it('gives its machines to the router, whose clients they serve, and says that all are healthy', async () => {
    await lab.lb.waitForPool(addresses(), 30_000);
    expect(await lab.client.request({ host: vipAddress, timeout: 5_000 })).toMatchObject({ ok: true });
    await expect.poll(health, eventually).toBe('3 of 3 members healthy');
    expect(await api.run((server) => server.status())).toMatchObject({
      endpoint: `https://${vipAddress}:6443`,
      ready: true,
    });
    const shown = await command('status', '--namespace', 'fleet', '--kubeconfig', lab.upstream.path('admin'));
    expect(shown).toContain('3 of 3 members healthy');
  });

  it('says which machine fails, and why, and that it serves again', async () => {
    const [, second] = lab.masters;
    await second?.setApiServer('not-ready', ['etcd']);
    await expect.poll(health, eventually).toBe('2 of 3 members healthy');
    await expect
      .poll(() => api.run((server) => server.events('MemberUnhealthy')), eventually)
      .toHaveLength(1);
    const [text] = await api.run((server) => server.events('MemberUnhealthy'));
    expect(text).toContain(`${second?.name}: healthy at 0 of 1 LB hosts; lb-1: `);
    await second?.setApiServer('ready');
    await expect.poll(health, eventually).toBe('3 of 3 members healthy');
  });

  it('drains a machine by a label, and gives it back', async () => {
    const [first] = lab.masters;
    const draining = async (): Promise<string[]> => {
      const { vips } = (await lab.lb.router.status()) as unknown as {
        vips: { members: { name: string; state: string }[] }[];
      };
      return vips.flatMap(({ members }) =>
        members.filter(({ state }) => state === 'draining').map(({ name }) => name),
      );
    };
    const name = first?.name ?? '';
    await api.run((server, one) => server.label(one), { name, value: '' });
    await expect.poll(draining, eventually).toEqual([name]);
    await api.run((server, one) => server.label(one), { name, value: null });
    await expect.poll(draining, eventually).toEqual([]);
  });

  it('goes on with the other replica when the leader stops', async () => {
    expect(await holder()).toBe('one');
    startReplica('two', 9_477);
    await replicas.get('two')?.ready(async () => {
      const ready = ['curl', '-sSf', 'http://127.0.0.1:9477/readyz'];
      return lab.upstream.exec(ready).then(
        () => true,
        () => false,
      );
    }, 20_000);
    expect(await holder()).toBe('one');
    expect((await replicas.get('one')?.stop())?.code).toBe(0);
    await expect.poll(holder, { timeout: 5_000, interval: 50 }).toBe('two');
    await lab.masters[2]?.setApiServer('not-ready', ['etcd']);
    await expect.poll(health, eventually).toBe('2 of 3 members healthy');
    await lab.masters[2]?.setApiServer('ready');
    await expect.poll(health, eventually).toBe('3 of 3 members healthy');
  });
});
