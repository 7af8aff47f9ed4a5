import { describe, expect, it } from 'vitest';
import { routerSchema } from './schema.ts';

/** What is wrong with a configuration, in words; empty where nothing is. */
function faultsOf(vrrp: object, more: Record<string, unknown> = {}): string {
  const { success, error } = routerSchema.safeParse({
    asn: 64512,
    vips: [{ address: '10.0.0.100' }, { address: 'fd00::100' }],
    neighbors: ['10.0.0.0/24', 'fd00::/64'].map((range, i) => ({
      name: `m${i}`,
      role: 'master',
      range,
      asn: 64512,
    })),
    vrrp: { interface: 'eth0', peers: ['10.0.0.3'], ...vrrp },
    ...more,
  });
  return success ? '' : error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join();
}

const kernel = (keys: object): Record<string, unknown> => ({ dataplane: { kind: 'kernel', ...keys } });

describe('with VRRP', () => {
  it.each([
    [{}, {}],
    [{ vrid: 255, priority: 254, advertInterval: '50ms', missedAdverts: 2, preemptDelay: '0s' }, {}],
    [{ peers: ['10.0.0.3', '10.0.0.4'], address: '10.0.0.2', trackInterfaces: ['eth1', 'eth2'] }, {}],
    [{ peers: ['fd00::3'] }, { dataplane: { kind: 'haproxy' } }],
    [{}, kernel({ proxyInterfaces: ['eth0'] })],
  ])('%j is good', (vrrp, more) => {
    expect(faultsOf(vrrp, more)).toBe('');
  });

  it.each([
    ['vrrp.vrid', { vrid: 0 }, ''],
    ['vrrp.vrid', { vrid: 256 }, ''],
    ['vrrp.peers', { peers: [] }, ''],
    ['vrrp.peers.1', { peers: ['10.0.0.3', '10.0.0.3'] }, 'is there twice'],
    ['vrrp.peers.1', { peers: ['10.0.0.3', 'fd00::3'] }, 'another family'],
    ['vrrp.peers.0', { peers: ['10.0.0.100'] }, 'is a VIP'],
    ['vrrp.peers.0', { peers: ['10.0.0.3'], address: '10.0.0.3' }, 'is this host itself'],
    ['vrrp.peers.0', { peers: ['fe80::3'] }, 'link-local'],
    ['vrrp.address', { address: 'fd00::2' }, 'not IPv4'],
    ['vrrp.address', { address: '10.0.0.100' }, 'is a VIP'],
    ['vrrp.priority', { priority: 255 }, ''],
    ['vrrp.advertInterval', { advertInterval: '205ms' }, 'multiple of 10 ms'],
    ['vrrp.advertInterval', { advertInterval: '41s' }, ''],
    ['vrrp.trackInterfaces.1', { trackInterfaces: ['eth1', 'eth1'] }, 'is there twice'],
    ['vrrp.folder', { folder: '/srv/a b' }, 'has " "'],
    ['vrrp.runFolder', { runFolder: '/run/$x' }, 'has "$"'],
  ])('%s refuses %j', (place, vrrp, words) => {
    const found = faultsOf(vrrp);
    expect(found).toContain(`${place}: `);
    expect(found).toContain(words);
  });

  it('refuses peers of a family that no VIP is of', () => {
    expect(faultsOf({}, { vips: [{ address: 'fd00::100' }] })).toContain(
      'vrrp.peers: are IPv4, and no VIP is',
    );
  });

  it.each([
    ['dataplane.proxyMode', { proxyMode: 'macvlan', proxyInterfaces: ['eth0'] }, 'goes on answering'],
    ['dataplane.proxyInterfaces', { proxyInterfaces: ['eth1'] }, 'on eth0 alone'],
  ])('%s of the kernel refuses %j', (place, keys, words) => {
    const found = faultsOf({}, kernel(keys));
    expect(found).toContain(`${place}: `);
    expect(found).toContain(words);
  });
});
