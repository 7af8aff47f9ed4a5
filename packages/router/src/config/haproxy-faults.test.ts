import { describe, expect, it } from 'vitest';
import { routerSchema } from './schema.ts';

/** What is wrong with a configuration, in words; empty where nothing is. */
function faultsOf(changes: Record<string, unknown>, kind: 'haproxy' | 'kernel' = 'haproxy'): string {
  const { dataplane, ...others } = changes;
  const { success, error } = routerSchema.safeParse({
    asn: 64512,
    vips: [{ address: 'fd00::100' }],
    neighbors: [{ name: 'm1', role: 'master', address: 'fd00::11', asn: 64512 }],
    ...others,
    dataplane: { kind, ...(dataplane as object | undefined) },
  });
  return success ? '' : error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join();
}

const master = (keys: object): Record<string, unknown> => ({
  neighbors: [{ name: 'm1', role: 'master', asn: 64512, ...keys }],
});

describe('with HAProxy', () => {
  it.each([
    [{}],
    [{ healthCheck: { serverName: 'api.prod.example.net', path: '/readyz?exclude=etcd&verbose' } }],
    [master({ address: 'fe80::11%eth0', memberAddress: 'fd00::11' })],
    [{ dataplane: { folder: '/srv/h-a_p/x', socket: '/run/h.sock', maxConnections: 250_000 } }],
  ])('%j is good', (changes) => {
    expect(faultsOf(changes)).toBe('');
  });

  it.each([
    ['healthCheck.serverName', { healthCheck: { serverName: '10.0.0.1' } }, 'is no host name'],
    ['healthCheck.serverName', { healthCheck: { serverName: 'fd00::1' } }, 'is no host name'],
    ['healthCheck.serverName', { healthCheck: { serverName: 'a b' } }, 'is no host name'],
    ['healthCheck.path', { healthCheck: { path: '/readyz#a' } }, 'has "#"'],
    ['healthCheck.path', { healthCheck: { path: '/a\\b' } }, 'haproxy.cfg'],
    ['dataplane.folder', { dataplane: { folder: '/srv/a b' } }, 'has " "'],
    ['dataplane.folder', { dataplane: { folder: '/srv/a\nb' } }, 'haproxy.cfg'],
    ['dataplane.socket', { dataplane: { socket: '/run/"h.sock' } }, 'haproxy.cfg'],
    ['dataplane.socket', { dataplane: { socket: '/run/a,b' } }, 'has ","'],
    ['dataplane.masterSocket', { dataplane: { masterSocket: "/run/a'b" } }, 'haproxy.cfg'],
    ['dataplane.maxConnections', { dataplane: { maxConnections: 250_001 } }, '250000'],
    ['neighbors.0.address', master({ address: 'fe80::11%eth0' }), 'is link-local'],
  ])('%s refuses %j', (place, changes, words) => {
    const found = faultsOf(changes);
    expect(found).toContain(`${place}: `);
    expect(found).toContain(words);
  });

  it.each([
    [{ healthCheck: { serverName: '10.0.0.1', path: '/readyz#a' } }],
    [master({ address: 'fe80::11%eth0' })],
  ])('and only with it: the kernel takes %j', (changes) => {
    expect(faultsOf(changes, 'kernel')).toBe('');
  });
});
