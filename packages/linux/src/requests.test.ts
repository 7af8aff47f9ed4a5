import { describe, expect, it } from 'vitest';
import { deleteAddressMessage, setAddressMessage } from './interface-address.ts';
import { setIpv4Conf } from './link.ts';
import type { MessageWriter } from './netlink-message.ts';
import { setNexthopGroupMessage, setNexthopMessage } from './nexthop.ts';
import { deleteRouteMessage, routeToMessage, setRouteMessage } from './route.ts';
import { addRuleMessage } from './rule.ts';

/** Each row is a structure or attribute as include/uapi/linux has it. */
const rows = (...lines: readonly string[]): string => lines.join('').replaceAll(' ', '');
const sent = (writer: MessageWriter): string => Buffer.from(writer.finish(1)).toString('hex');

describe('requests byte for byte', () => {
  it('leases an IPv4 address', () => {
    const lease = { validLifetime: 90, preferredLifetime: 0, protocol: 84 };
    expect(sent(setAddressMessage({ index: 1, address: '10.100.0.1', prefixLength: 32, ...lease }))).toBe(
      rows(
        '44000000 1400 0505 01000000 00000000', // RTM_NEWADDR, REQUEST ACK CREATE REPLACE
        '02 20 00 00 01000000', // AF_INET, /32, flags, universe, interface 1
        '0800 0200 0a640001', // IFA_LOCAL
        '0800 0100 0a640001', // IFA_ADDRESS
        '0500 0b00 54 000000', // IFA_PROTO 84
        '1400 0600 00000000 5a000000 00000000 00000000', // IFA_CACHEINFO: preferred 0, valid 90
      ),
    );
  });

  it('adds an IPv6 address for ever without duplicate address detection', () => {
    const address = { index: 1, address: '2001:db8::1', prefixLength: 128, noDad: true };
    expect(sent(setAddressMessage(address))).toBe(
      rows(
        '5c000000 1400 0505 01000000 00000000',
        '0a 80 00 00 01000000',
        '1400 0200 20010db8 00000000 00000000 00000001',
        '1400 0100 20010db8 00000000 00000000 00000001',
        '0800 0800 02000000', // IFA_FLAGS: IFA_F_NODAD
        '1400 0600 ffffffff ffffffff 00000000 00000000',
      ),
    );
  });

  it('deletes an address', () => {
    expect(sent(deleteAddressMessage({ index: 3, address: '10.100.0.1', prefixLength: 32 }))).toBe(
      rows(
        '28000000 1500 0500 01000000 00000000',
        '02 20 00 00 03000000',
        '0800 0200 0a640001',
        '0800 0100 0a640001',
      ),
    );
  });

  it('sets a route by next hop group in a table above 255', () => {
    const route = { destination: '10.100.0.1/32', table: 1000, protocol: 84, nexthopId: 10 };
    expect(sent(setRouteMessage(route))).toBe(
      rows(
        '34000000 1800 0505 01000000 00000000', // RTM_NEWROUTE
        '02 20 00 00 00 54 00 01 00000000', // rtmsg: table unspecified, protocol 84, universe, unicast
        '0800 0100 0a640001', // RTA_DST
        '0800 0f00 e8030000', // RTA_TABLE 1000
        '0800 1e00 0a000000', // RTA_NH_ID 10
      ),
    );
  });

  it('sets an unreachable route with a metric that needs all 32 bits', () => {
    const floor = {
      destination: '10.100.0.1/32',
      protocol: 84,
      type: 'unreachable',
      metric: 4_000_000_000,
    } as const;
    expect(sent(setRouteMessage(floor))).toBe(
      rows(
        '34000000 1800 0505 01000000 00000000',
        '02 20 00 00 fe 54 00 07 00000000', // table main, RTN_UNREACHABLE
        '0800 0100 0a640001',
        '0800 0f00 fe000000',
        '0800 0600 00286bee', // RTA_PRIORITY
      ),
    );
  });

  it('writes an IPv6 gateway of an IPv4 route as RTA_VIA', () => {
    const route = { destination: '10.100.0.1/32', protocol: 84, gateway: 'fe80::1', interfaceIndex: 2 };
    expect(sent(setRouteMessage(route))).toContain(
      rows('1600 1200 0a00 fe80 000000000000 0000000000000001 0000'),
    );
  });

  it('gives a route without gateway link scope, and a local one host scope', () => {
    const scopeOf = (route: { gateway?: string; type?: 'local' }): string =>
      sent(setRouteMessage({ destination: '10.0.0.0/24', protocol: 84, interfaceIndex: 2, ...route })).slice(
        44,
        46,
      );
    expect([scopeOf({}), scopeOf({ type: 'local' }), scopeOf({ gateway: '10.1.0.1' })]).toEqual([
      'fd',
      'fe',
      '00',
    ]);
  });

  it('deletes a route of any scope', () => {
    expect(sent(deleteRouteMessage({ destination: '10.100.0.1/32', protocol: 84 }))).toBe(
      rows(
        '2c000000 1900 0500 01000000 00000000',
        '02 20 00 00 fe 54 ff 00 00000000', // RT_SCOPE_NOWHERE matches all
        '0800 0100 0a640001',
        '0800 0f00 fe000000',
      ),
    );
  });

  it('asks for the route of a marked packet and for the table it is found in', () => {
    expect(sent(routeToMessage('10.100.0.1', 7))).toBe(
      rows(
        '2c000000 1a00 0500 01000000 00000000',
        '02 20 00 00 00 00 00 00 00100000', // RTM_F_LOOKUP_TABLE
        '0800 0100 0a640001',
        '0800 1000 07000000', // RTA_MARK
      ),
    );
  });

  it('adds a rule by mark with its protocol', () => {
    expect(sent(addRuleMessage({ version: 4, priority: 1000, mark: 7, table: 1007, protocol: 84 }))).toBe(
      rows(
        '3c000000 2000 0506 01000000 00000000', // RTM_NEWRULE, CREATE EXCL
        '02 00 00 00 00 00 00 01 00000000', // FR_ACT_TO_TBL
        '0800 0600 e8030000', // FRA_PRIORITY
        '0800 0a00 07000000', // FRA_FWMARK
        '0800 0f00 ef030000', // FRA_TABLE
        '0500 1500 54 000000', // FRA_PROTOCOL
      ),
    );
  });

  it('sets a next hop on the link', () => {
    const nexthop = { id: 1, gateway: '10.0.0.11', interfaceIndex: 2, protocol: 84, onLink: true };
    expect(sent(setNexthopMessage(nexthop))).toBe(
      rows(
        '30000000 6800 0505 01000000 00000000', // RTM_NEWNEXTHOP
        '02 00 54 00 04000000', // nhmsg: protocol 84, RTNH_F_ONLINK
        '0800 0100 01000000', // NHA_ID
        '0800 0500 02000000', // NHA_OIF
        '0800 0600 0a00000b', // NHA_GATEWAY
      ),
    );
  });

  it('sets a resilient group with its timers in hundredths of a second', () => {
    const members = [
      { id: 1, weight: 256 },
      { id: 2, weight: 1 },
    ];
    const resilient = { buckets: 16_384, idleTimer: 120, unbalancedTimer: 0.5 };
    expect(sent(setNexthopGroupMessage({ id: 10, members, protocol: 84, resilient }))).toBe(
      rows(
        '58000000 6800 0505 01000000 00000000',
        '00 00 54 00 00000000',
        '0800 0100 0a000000',
        '1400 0200 01000000 ff 00 0000 02000000 00 00 0000', // NHA_GROUP: id, weight less 1
        '0600 0300 0100 0000', // NHA_GROUP_TYPE: resilient
        '1c00 0c80', // NHA_RES_GROUP
        '0600 0100 0040 0000',
        '0800 0200 e02e0000',
        '0800 0300 32000000',
      ),
    );
  });

  it('sets ARP settings of an interface', () => {
    expect(sent(setIpv4Conf(2, { arpIgnore: 1, arpAnnounce: 2 }))).toBe(
      rows(
        '3c000000 1300 0500 01000000 00000000', // RTM_SETLINK
        '00 00 0000 02000000 00000000 00000000', // ifinfomsg
        '1c00 1a80', // IFLA_AF_SPEC
        '1800 0280', // AF_INET
        '1400 0180', // IFLA_INET_CONF
        '0800 1300 01000000', // IPV4_DEVCONF_ARP_IGNORE
        '0800 1200 02000000', // IPV4_DEVCONF_ARP_ANNOUNCE
      ),
    );
  });
});

describe('requests that cannot be', () => {
  const group = (weight: number, buckets: number, idleTimer: number) => () =>
    setNexthopGroupMessage({
      id: 10,
      members: [{ id: 1, weight }],
      protocol: 84,
      resilient: { buckets, idleTimer, unbalancedTimer: 0 },
    });

  it.each([
    ['weight of next hop 1 in group 10: 0; allowed are 1 to 256', group(0, 32, 1)],
    ['buckets of group 10: 65536; allowed are 1 to 65535', group(1, 65_536, 1)],
    ['idle timer of group 10: -1 s; allowed are 0 to 42949672', group(1, 32, -1)],
    ['the length must be 0 to 32', () => setRouteMessage({ destination: '10.0.0.0/33', protocol: 84 })],
    ['not an IPv4 or IPv6 address: "10.0.0"', () => routeToMessage('10.0.0')],
    ['valid lifetime of 10.0.0.1: 0 s', () => lease(0)],
    ['valid lifetime of 10.0.0.1: 1.5 s', () => lease(1.5)],
  ])('say %s', (message, make) => {
    expect(make).toThrow(RangeError);
    expect(make).toThrow(message);
  });

  const lease = (validLifetime: number) =>
    setAddressMessage({ index: 1, address: '10.0.0.1', prefixLength: 32, validLifetime });
});
