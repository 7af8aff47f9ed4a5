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

it.each(['haproxy', 'kernel'] as const)('UDP is refused in one sentence, with %s', (kind) => {
  expect(faultsOf({ vips: [{ address: 'fd00::100', protocol: 'udp' }] }, kind)).toBe(
    'vips.0.protocol: cannot be carried: HAProxy balances no UDP, and with the kernel as data plane nothing but TCP to `port` passes',
  );
  expect(faultsOf({ vips: [{ address: 'fd00::100', protocol: 'tcp' }] }, kind)).toBe('');
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

describe('with either, as members show', () => {
  const faults = (dataplane: object, changes: object = {}): string =>
    (
      routerSchema.safeParse({
        asn: 64512,
        vips: [{ address: 'fd00::100' }],
        ...changes,
        dataplane: { kind: 'auto', ...dataplane },
      }).error?.issues ?? []
    )
      .map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join();

  it('has the settings of both, each with its defaults', () => {
    const { dataplane } = routerSchema.parse({
      asn: 64512,
      vips: [{ address: 'fd00::100', members: { static: [{ address: 'fd00::11' }] } }],
      dataplane: { kind: 'auto', kernel: { buckets: 64 } },
    });
    expect(dataplane).toMatchObject({
      kind: 'auto',
      kernel: { buckets: 64, protocol: 84 },
      haproxy: { maxConnections: 8000 },
    });
  });

  it.each([
    ['dataplane.kernel.protocol', { kernel: { protocol: 186 } }, 'another routing daemon'],
    ['dataplane.haproxy.folder', { haproxy: { folder: '/srv/a b' } }, 'has " "'],
    ['dataplane', { buckets: 64 }, 'buckets'],
  ])('%s refuses %j', (place, dataplane, words) => {
    expect(faults(dataplane)).toContain(`${place}: `);
    expect(faults(dataplane)).toContain(words);
  });

  it('is not decided where keepalived is to be told which it is', () => {
    const vrrp = { interface: 'eth1', peers: ['10.0.1.9'] };
    expect(faults({}, { vrrp })).toContain('dataplane.kind: cannot be decided by itself with vrrp');
  });

  it('takes no health check that HAProxy cannot make', () => {
    expect(faults({}, { healthCheck: { serverName: '10.0.0.1' } })).toContain('healthCheck.serverName: ');
  });
});
