import { describe, expect, it } from 'vitest';
import { capabilityFaults } from './capability-faults.ts';
import { routerSchema } from './schema.ts';

const masters = { name: 'masters', role: 'master', range: '10.0.0.0/24', asn: 64512 };
const tor = { name: 'tor', role: 'upstream', address: '10.0.1.1', asn: 65001 };

/** What is wrong with one neighbor more, in words; undefined where nothing is. */
function faultOf(neighbor: Record<string, unknown>): string | undefined {
  const { success, error } = routerSchema.safeParse({
    asn: 64512,
    vips: [{ address: '10.100.0.1' }],
    neighbors: [masters, neighbor],
  });
  return success
    ? undefined
    : error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join();
}

describe('capabilities that a neighbor is left without', () => {
  const without = { withoutCapabilities: ['route-refresh', 'multiprotocol'] };

  it.each([
    ['a range', { ...masters, name: 'six', range: 'fd00::/64' }],
    ['a master', { name: 'm', role: 'master', address: 'fd00::11', asn: 64512 }],
    ['an upstream', { ...tor, address: 'fd00:1::1', otherNextHop: '10.0.1.10' }],
    ['the other family of an upstream', { ...tor, otherNextHop: 'fd00:1::10' }],
    ['an internal router', { name: 'i', role: 'internal', address: 'fd00::20', asn: 64512 }],
  ])('multiprotocol with IPv6 of %s is refused', (_, neighbor) => {
    expect(faultOf({ ...neighbor, ...without })).toMatch(
      /^neighbors\.1\.withoutCapabilities\.1: .*is needed for IPv6/,
    );
  });

  it.each([
    ['multiprotocol over IPv4', { ...tor, ...without }],
    ['graceful restart', { ...tor, withoutCapabilities: ['graceful-restart'] }],
    [
      'graceful restart, said twice',
      { ...tor, withoutCapabilities: ['graceful-restart'], gracefulRestart: false },
    ],
  ])('%s is fine', (_, neighbor) => {
    expect(faultOf(neighbor)).toBeUndefined();
  });

  it('graceful restart that is asked for too is refused', () => {
    const neighbor = { ...tor, withoutCapabilities: ['graceful-restart'], gracefulRestart: true };
    expect(faultOf(neighbor)).toContain('contradicts gracefulRestart true');
  });

  it('are none of a configuration without the key', () => {
    expect(capabilityFaults({ neighbors: [] })).toEqual([]);
  });
});
