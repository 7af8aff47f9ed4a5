import { expect, it } from 'vitest';
import { endpointText, hostPrefix, ipVersion, isSameVersion } from './address-text.ts';

it.each([
  ['10.0.0.1', 4, '10.0.0.1/32', '10.0.0.1:179'],
  ['fd00::1', 6, 'fd00::1/128', '[fd00::1]:179'],
  ['fe80::1%eth0', 6, 'fe80::1%eth0/128', '[fe80::1%eth0]:179'],
])('%s is of version %i, the prefix %s and the endpoint %s', (address, version, prefix, endpoint) => {
  expect([ipVersion(address), ipVersion(prefix)]).toEqual([version, version]);
  expect([hostPrefix(address), endpointText(address, 179)]).toEqual([prefix, endpoint]);
});

it('writes the port of a name without brackets, and tells versions apart', () => {
  expect(endpointText('lb.example', 6443)).toBe('lb.example:6443');
  expect([isSameVersion('10.0.0.1', '10.100.0.1/32'), isSameVersion('10.0.0.1', 'fd00::1')]).toEqual([
    true,
    false,
  ]);
});
