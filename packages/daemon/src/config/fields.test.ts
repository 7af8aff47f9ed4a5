import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { formatHostPort, hostPort, hostPrefix, ipAddress, neighborAddress } from './address.ts';
import { duration, formatDuration } from './duration.ts';
import { filePath } from './file-path.ts';
import { asNumber, port } from './number-field.ts';
import { percent } from './percent.ts';

function read(schema: z.ZodType, input: unknown): unknown {
  const result = schema.safeParse(input);
  return result.success ? result.data : result.error.issues[0]?.message;
}

describe('duration', () => {
  it.each([
    ['300ms', 300],
    ['1s', 1000],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['0.3s', 300],
    ['1.5m', 90_000],
    ['0s', 0],
  ])('reads %s as %d ms', (text, milliseconds) => {
    expect(read(duration(), text)).toBe(milliseconds);
  });

  it.each([
    [9, 'has no unit (9s? 9ms?)'],
    ['9', 'has no unit (9s? 9ms?)'],
    ['9 s', 'is not a duration'],
    ['-1s', 'is not a duration'],
    ['1d', 'is not a duration'],
    ['1h30m', 'is not a duration'],
    ['', 'is not a duration'],
    ['0.1ms', 'is finer than a millisecond'],
    ['600h', 'is too long'],
  ])('refuses %j', (input, message) => {
    expect(read(duration(), input)).toBe(message);
  });

  it('is written back in its shortest form', () => {
    expect([0, 300, 1500, 9000, 120_000, 3_600_000].map(formatDuration)).toEqual([
      '0s',
      '300ms',
      '1500ms',
      '9s',
      '2m',
      '1h',
    ]);
  });
});

describe('percent', () => {
  it.each([
    ['50%', 0.5],
    ['0%', 0],
    ['100%', 1],
    ['12.5%', 0.125],
    [50, 'has no percent sign (50%?)'],
    [0.5, 'has no percent sign (50%?)'],
    ['101%', 'is more than 100%'],
    ['50', 'is not a percentage'],
    ['-1%', 'is not a percentage'],
  ])('reads %j as %j', (input, expected) => {
    expect(read(percent(), input)).toBe(expected);
  });
});

describe('ipAddress', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['::', '::'],
    ['10.0.0.256', 'is not an IP address'],
    ['010.0.0.1', 'is not an IP address'],
    ['10.0.1', 'is not an IP address'],
    ['localhost', 'is not an IP address'],
    ['10.0.0.1/24', 'is a prefix, not one address'],
    ['fe80::1%eth0', 'has a zone'],
    ['FE80::1', 'is a link-local address, which means nothing without its link: take a global one'],
    ['febf::1', 'is a link-local address, which means nothing without its link: take a global one'],
    ['::ffff:10.0.0.1', 'is an IPv4-mapped address (10.0.0.1?)'],
  ])('reads %s as %s', (input, expected) => {
    expect(read(ipAddress(), input)).toBe(expected);
  });

  it('can be held to one version', () => {
    expect(read(ipAddress({ version: 4 }), '::1')).toBe('is an IPv6 address');
    expect(read(ipAddress({ version: 6 }), '10.0.0.1')).toBe('is an IPv4 address');
  });
});

describe('neighborAddress', () => {
  const noLink = 'is a link-local address, which means nothing without its link';
  const noName = 'has a zone that is not the name of an interface';
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['FE80:0::1%eth0', 'fe80::1%eth0'],
    ['febf::1%bond0.100', 'febf::1%bond0.100'],
    ['fe80::1', noLink],
    ['fe80::1%', noName],
    ['fe80::1%2', noName],
    ['fe80::1%..', noName],
    ['fe80::1%a b', noName],
    ['fe80::1%a/b', noName],
    ['fe80::1%a:1', noName],
    ['fe80::1%interface-name-x', noName],
    ['fe80::1%eth0%eth1', noName],
    ['2001:db8::1%eth0', 'has a zone, and is not link-local'],
    ['10.0.0.1%eth0', 'has a zone, and is not link-local'],
    ['fe80:::1%eth0', 'is not an IP address'],
    ['fe80::/64%eth0', 'is a prefix, not one address'],
  ])('reads %s as %s', (input, expected) => {
    expect(read(neighborAddress(), input)).toBe(expected);
  });
});

/** What is the address of no host, with what is said of it. */
const ofNoHost = [
  ['0.0.0.0', 'is the unspecified address'],
  ['0.1.2.3', 'is in 0.0.0.0/8, of which hosts have no address'],
  ['127.0.0.1', 'is a loopback address'],
  ['224.0.0.1', 'is a multicast address'],
  ['239.255.255.255', 'is a multicast address'],
  ['240.0.0.1', 'is in 240.0.0.0/4, which is reserved'],
  ['255.255.255.255', 'is the broadcast address'],
  ['::', 'is the unspecified address'],
  ['::1', 'is the loopback address'],
  ['ff02::1', 'is a multicast address'],
] as const;

describe('the address of a host', () => {
  it.each(ofNoHost)('is not %s, be it a neighbor or anything else', (address, message) => {
    expect(read(ipAddress({ use: 'host' }), address)).toBe(message);
    expect(read(neighborAddress(), address)).toBe(message);
  });

  it.each(['1.0.0.1', '126.0.0.1', '128.0.0.1', '223.255.255.254', '::2', '2001:db8::1', 'fd00::1'])(
    'is %s',
    (address) => {
      expect(read(ipAddress({ use: 'host' }), address)).toBe(address);
      expect(read(neighborAddress(), address)).toBe(address);
    },
  );

  it('is not what a socket may be bound to: loopback and wildcard too', () => {
    const fit = ofNoHost.filter(([address]) => read(ipAddress({ use: 'listener' }), address) === address);
    expect(fit.map(([address]) => address)).toEqual(['0.0.0.0', '127.0.0.1', '::', '::1']);
    expect(read(hostPort(), '224.0.0.1:9474')).toBe('is a multicast address');
  });
});

describe('hostPrefix', () => {
  it.each([
    ['10.0.0.0/24', '10.0.0.0/24'],
    ['0.0.0.0/0', 'contains 0.0.0.0/32, of which hosts have no address'],
    ['64.0.0.0/2', 'contains 127.0.0.0/8, of which hosts have no address'],
    ['224.0.0.0/4', 'lies in 224.0.0.0/4, of which hosts have no address'],
    ['127.8.0.0/16', 'lies in 127.0.0.0/8, of which hosts have no address'],
    ['::/0', 'contains ::/128, of which hosts have no address'],
    ['8000::/1', 'contains ff00::/8, of which hosts have no address'],
    ['ff02::/16', 'lies in ff00::/8, of which hosts have no address'],
    ['2000::/3', '2000::/3'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['10.0.0.1/32', '10.0.0.1/32'],
    ['10.0.0.1/31', 'has host bits set'],
    ['2001:db8::1/64', 'has host bits set'],
    ['10.0.0.0/33', 'is longer than 32 bits'],
    ['::/129', 'is longer than 128 bits'],
    ['10.0.0.1', 'has no length (10.0.0.1/32?)'],
    ['10.0.0.0/255.0.0.0', 'is not a prefix'],
    ['/24', 'is not an IP address'],
  ])('reads %s as %s', (input, expected) => {
    expect(read(hostPrefix(), input)).toBe(expected);
  });
});

describe('hostPort', () => {
  it.each([
    ['127.0.0.1:9474', { host: '127.0.0.1', port: 9474 }],
    ['[::1]:9474', { host: '::1', port: 9474 }],
    ['localhost:9474', 'is a name, not an address (127.0.0.1? [::1]?)'],
    ['::1', 'has no brackets around the IPv6 address'],
    ['127.0.0.1', 'has no port'],
    ['127.0.0.1:0', 'the port is not within 1 to 65535'],
    ['127.0.0.1:65536', 'the port is not within 1 to 65535'],
    [':9474', 'is not an IP address'],
    [9474, 'has no address (127.0.0.1:9474?)'],
  ])('reads %j', (input, expected) => {
    expect(read(hostPort(), input)).toEqual(expected);
  });

  it('is written back with brackets around IPv6', () => {
    expect(formatHostPort({ host: '::1', port: 1 })).toBe('[::1]:1');
  });
});

describe('asNumber', () => {
  it.each([
    [64512, 64512],
    ['64512', 64512],
    [4294967294, 4294967294],
    [4294967295, 'AS 4294967295 is reserved (RFC 7300)'],
    [65535, 'AS 65535 is reserved (RFC 7300)'],
    ['0.65535', 'AS 65535 is reserved (RFC 7300)'],
    ['1.10', 65546],
    ['65535.65534', 4294967294],
    [1.1, 'is a fraction (asdot needs quotes)'],
    [0, 'AS 0 is reserved (RFC 7607)'],
    [23456, 'AS 23456 is AS_TRANS (RFC 6793) and names no network'],
    [4294967296, 'is not an AS number'],
    [-1, 'is not an AS number'],
    ['1.65536', 'is not an AS number'],
    ['as1', 'is not an AS number'],
    [true, 'is not an AS number'],
  ])('reads %j as %j', (input, expected) => {
    expect(read(asNumber(), input)).toBe(expected);
  });
});

describe('port and filePath', () => {
  it('take what the kernel takes', () => {
    expect([1, 65535].map((value) => read(port(), value))).toEqual([1, 65535]);
    expect([0, 65536, 1.5, '80'].map((value) => port().safeParse(value).success)).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(read(filePath(), '/etc//bgp-lb/../x')).toBe('/etc/x');
    expect(read(filePath(), 'etc/x')).toBe('is a relative path');
    expect(read(filePath(), '')).toBe('is empty');
    expect(read(filePath(), '/a\0b')).toBe('contains a zero octet');
  });
});
