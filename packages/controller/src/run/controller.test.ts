import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerLab, PATHS } from '../testing/controller-lab.ts';

let lab: ControllerLab;

beforeEach(async () => {
  lab = new ControllerLab();
  await lab.start();
});

afterEach(async () => {
  await lab.close();
});

/** Five machines, an LB host that finds them healthy, and a controller that has said so. */
async function five(spec = {}): Promise<void> {
  for (const number of [1, 2, 3, 4, 5]) lab.machine(number);
  lab.loadBalancer('prod', spec);
  lab.controller();
  await lab.until(() => lab.members() === 'm1,m2,m3,m4,m5');
  lab.host('lb-1');
  await lab.until(() => lab.status().status === '5 of 5 members healthy');
}

describe('a controller', () => {
  it('says endpoint, readiness and health of five machines', async () => {
    await five();
    expect(lab.status()).toMatchObject({ endpoint: 'https://10.0.0.100:6443', ready: true });
    expect(lab.status().conditions).toHaveLength(7);
    expect(lab.failures).toEqual([]);
  });

  it('says which member fails and why, in one event, and Ready stays as it was', async () => {
    await five();
    const before = lab.condition('Ready');
    lab.host('lb-1', { 3: 'HTTP 500: etcd failed' });
    await lab.until(() => lab.status().status === '4 of 5 members healthy');
    await lab.until(() => lab.events().some(({ reason }) => reason === 'MemberUnhealthy'));
    expect(lab.condition('MembersHealthy')?.message).toContain('m3');
    expect(lab.condition('MembersHealthy')?.message).toContain('HTTP 500: etcd failed');
    expect(lab.condition('Ready')?.lastTransitionTime).toBe(before?.lastTransitionTime);
    expect(lab.events().filter(({ reason }) => reason === 'MemberUnhealthy')).toHaveLength(1);
    lab.host('lb-1', { 1: 'x', 2: 'x', 3: 'x', 4: 'x', 5: 'x' });
    await lab.until(() => lab.status().ready === false);
    expect(lab.condition('Ready')?.reason).toBe('NoHealthyMember');
  });

  it('takes away what nothing selects any more, and the pool with its load balancer', async () => {
    await five();
    lab.patch(PATHS.machines, 'm5', { metadata: { labels: { 'cluster.x-k8s.io/control-plane': null } } });
    await lab.until(() => lab.members() === 'm1,m2,m3,m4');
    lab.api.write('DELETE', `${PATHS.loadBalancers}/prod`);
    await lab.until(() => lab.pool().length === 0);
    expect(lab.failures).toEqual([]);
  });

  it('serves two load balancers on the same machines, one of one zone, and one over two clusters', async () => {
    lab.machine(1, 'a');
    lab.machine(2, 'b');
    lab.machine(3, 'b', 'second');
    lab.loadBalancer('prod', { clusterNames: ['prod'] });
    lab.loadBalancer('users', { vip: '10.0.0.101', port: { port: 443 }, clusterNames: ['prod'] });
    lab.loadBalancer('zone-b', { vip: '10.0.0.102', zones: { mode: 'Only', name: 'b' } });
    lab.loadBalancer('both', { vip: '10.0.0.103', clusterNames: ['prod', 'second'] });
    lab.controller();
    const all = (): string => ['prod', 'users', 'zone-b', 'both'].map((name) => lab.members(name)).join(' ');
    await lab.until(() => all() === 'm1,m2 m1,m2 m2,m3 m1,m2,m3');
    await lab.until(() => lab.status('users').endpoint === 'https://10.0.0.101:443');
    lab.api.write('PATCH', `${PATHS.machines}/m1/status`, { status: { failureDomain: 'b' } });
    await lab.until(() => lab.members('zone-b') === 'm1,m2,m3');
  });

  it('prefers a zone while a member in it can be used', async () => {
    lab.machine(1, 'a');
    lab.machine(2, 'b');
    lab.loadBalancer('prod', { zones: { mode: 'Prefer', name: 'a' } });
    lab.controller();
    await lab.until(() => lab.members() === 'm1');
    lab.host('lb-1', { 1: 'down' });
    await lab.until(() => lab.members() === 'm1,m2');
    lab.host('lb-1');
    await lab.until(() => lab.members() === 'm1');
  });

  it('drains by a label, and gives the member back', async () => {
    await five();
    const draining = (): string =>
      lab
        .pool()
        .filter((one) => one.draining)
        .map((one) => one.name)
        .join();
    lab.patch(PATHS.machines, 'm2', { metadata: { labels: { 'bgp-lb.dev/drain': '' } } });
    await lab.until(() => draining() === 'm2');
    await lab.until(() => lab.status().members?.[1]?.reason === 'draining: it has bgp-lb.dev/drain');
    lab.patch(PATHS.machines, 'm2', { metadata: { labels: { 'bgp-lb.dev/drain': null } } });
    await lab.until(() => draining() === '');
    // What the proposal of 2019 had in mind has two slashes.
    const old = { 'cluster.x-k8s.io/control-plane/selected-for-upgrade': '' };
    expect(() => lab.patch(PATHS.machines, 'm2', { metadata: { labels: old } })).toThrow('qualified name');
  });

  it('leaves a ConfigMap alone that has the name of the pool and was made by hand', async () => {
    lab.machine(1);
    const data = { 'pool.yaml': 'members: [{ name: by-hand, address: 10.0.0.99 }]' };
    lab.create(PATHS.pools, 'ConfigMap', 'bgp-lb-pool-prod', { data });
    lab.loadBalancer();
    lab.controller();
    await lab.until(() => lab.condition('Ready')?.reason === 'PoolNotOurs');
    lab.host('lb-1');
    await lab.until(() => lab.condition('ProviderReady')?.reason === 'Serving');
    expect(lab.status().ready).toBe(false);
    const kept = lab.api.object(PATHS.pools, 'bgp-lb-pool-prod') as { data: object; metadata: object };
    expect(kept.data).toEqual(data);
    expect(kept.metadata).not.toHaveProperty('labels');
    expect(lab.failures).toEqual([]);
    lab.api.write('DELETE', `${PATHS.pools}/bgp-lb-pool-prod`);
    lab.patch(PATHS.machines, 'm1', { metadata: { annotations: { 'example.net/note': 'x' } } });
    await lab.until(() => lab.members() === 'm1' && lab.condition('Ready')?.reason !== 'PoolNotOurs');
  });

  it('writes a pool that was deleted and made again as another object only when it is ours', async () => {
    await five();
    lab.api.write('DELETE', `${PATHS.pools}/bgp-lb-pool-prod`);
    await lab.until(() => lab.members() === 'm1,m2,m3,m4,m5');
    const labels = { 'bgp-lb.dev/pool': '' };
    lab.api.write('DELETE', `${PATHS.pools}/bgp-lb-pool-prod`);
    await lab.until(() => lab.members() === 'm1,m2,m3,m4,m5');
    lab.patch(PATHS.pools, 'bgp-lb-pool-prod', {
      metadata: { labels },
      data: { 'pool.yaml': 'members: []' },
    });
    await lab.until(() => lab.members() === 'm1,m2,m3,m4,m5');
  });

  it('is not disturbed by fields of others, nor disturbs them', async () => {
    await five();
    lab.patch(PATHS.machines, 'm1', { metadata: { annotations: { 'example.net/note': 'kept' } } });
    lab.patch(PATHS.loadBalancers, 'prod', { metadata: { annotations: { 'example.net/note': 'kept' } } });
    lab.patch(PATHS.pools, 'bgp-lb-pool-prod', { data: { note: 'kept' } });
    for (let round = 0; round < 100; round += 1) {
      lab.host('lb-1', { 1: `round ${round}` });
      await lab.until(() => lab.condition('MembersHealthy')?.message.includes(`round ${round}`) === true);
    }
    const note = (path: string, name: string): unknown =>
      (lab.api.object(path, name) as { metadata: { annotations?: Record<string, string> } }).metadata
        .annotations?.['example.net/note'];
    expect(note(PATHS.machines, 'm1')).toBe('kept');
    expect(note(PATHS.loadBalancers, 'prod')).toBe('kept');
    expect((lab.api.object(PATHS.pools, 'bgp-lb-pool-prod') as { data: object }).data).toHaveProperty(
      'note',
      'kept',
    );
  });

  it('writes nothing while nothing changes, whatever heartbeats, lists and restarts there are', async () => {
    await five();
    await lab.until(() => lab.events().length > 0);
    lab.host('lb-1');
    const before = lab.writes();
    for (let beat = 0; beat < 30; beat += 1) lab.host('lb-1');
    lab.api.endWatches('end');
    await lab.until(() => lab.api.watches === 0);
    // A list with an object that is new shows that all before it was taken.
    lab.loadBalancer('last', { vip: '10.0.0.109' });
    await lab.until(() => lab.status('last').ready !== undefined);
    await lab.until(() => lab.members('last') !== '');
    const others = lab.api.written
      .filter(({ token, path }) => token === 'controller' && !path.startsWith(PATHS.lease))
      .slice(before)
      .filter(({ path }) => !path.includes('last') && !path.startsWith(PATHS.events));
    // The pool of the new one.
    const [pool, ...rest] = others;
    expect([pool?.kind, pool?.path, rest]).toEqual(['create', PATHS.pools, []]);
  });
});
