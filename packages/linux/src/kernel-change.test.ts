import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { setAddressMessage } from './interface-address.ts';
import { parseChange } from './kernel-change.ts';
import { parseIpv4Conf, setIpv4Conf } from './link.ts';
import { parseNeighbor } from './neighbor.ts';
import { NetlinkFormatError } from './netlink-error.ts';
import { type MessageWriter, parseMessages } from './netlink-message.ts';
import { setNexthopGroupMessage, setNexthopMessage } from './nexthop.ts';
import { parseBucket } from './nexthop-bucket.ts';
import { parseDecision, setRouteMessage } from './route.ts';
import { addRuleMessage } from './rule.ts';

/** What we send to create an object has the form in which the kernel tells of it. */
const told = (writer: MessageWriter) =>
  parseMessages(writer.finish(1)).map((message) => parseChange(message));

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'));
const notification = (type: number, hex: string) =>
  parseChange({ type, flags: 0, sequence: 0, portId: 0, payload: bytes(hex) });

describe('a notification', () => {
  it('tells of an address', () => {
    const lease = { validLifetime: 90, preferredLifetime: 0, protocol: 84 };
    expect(told(setAddressMessage({ index: 1, address: '10.100.0.1', prefixLength: 32, ...lease }))).toEqual([
      {
        kind: 'address',
        action: 'set',
        object: { index: 1, address: '10.100.0.1', prefixLength: 32, scope: 'global', flags: 0, ...lease },
      },
    ]);
  });

  it('tells of our end of a point-to-point address', () => {
    const change = notification(20, '02 20 80 00 04000000  0800 0100 0a000002  0800 0200 0a000001');
    expect(change?.object).toMatchObject({ address: '10.0.0.1' });
  });

  it('tells of a route, its next hop and its table', () => {
    const route = { destination: '10.100.0.1/32', table: 1000, protocol: 84, nexthopId: 10, metric: 7 };
    expect(told(setRouteMessage(route))).toEqual([
      { kind: 'route', action: 'set', object: { ...route, type: 'unicast', scope: 'global' } },
    ]);
  });

  it('tells of an IPv6 gateway of an IPv4 route', () => {
    const route = { destination: '0.0.0.0/0', protocol: 84, gateway: 'fe80::1', interfaceIndex: 2 };
    expect(told(setRouteMessage(route))[0]?.object).toMatchObject(route);
  });

  it('tells of a resilient group', () => {
    const group = {
      id: 10,
      protocol: 84,
      members: [
        { id: 1, weight: 256 },
        { id: 2, weight: 1 },
      ],
      resilient: { buckets: 16_384, idleTimer: 120, unbalancedTimer: 0.25 },
    };
    expect(told(setNexthopGroupMessage(group))).toEqual([
      {
        kind: 'nexthop',
        action: 'set',
        object: {
          id: 10,
          protocol: 84,
          isBlackhole: false,
          flags: 0,
          group: group.members,
          resilient: group.resilient,
        },
      },
    ]);
  });

  it('tells of a weight above 256, which newer kernels have', () => {
    const change = notification(104, '00005400 00000000 0c00 0200 01000000 2b 01 0000');
    expect(change?.object).toMatchObject({ group: [{ id: 1, weight: 300 }] });
  });

  it('tells of a rule that is gone', () => {
    const [rule] = parseMessages(
      addRuleMessage({ version: 4, priority: 100, mark: 7, table: 1007, protocol: 84 }).finish(1),
    );
    const payload = rule?.payload ?? new Uint8Array(0);
    expect(parseChange({ type: 33, flags: 0, sequence: 0, portId: 0, payload })).toEqual({
      kind: 'rule',
      action: 'deleted',
      object: { version: 4, priority: 100, action: 'table', mark: 7, table: 1007, protocol: 84 },
    });
  });

  it('tells of a link that lost its carrier', () => {
    const change = notification(
      16,
      '0000 0100 03000000 03100000 ffffffff  0700 0300 763000 00  0500 1000 03 000000',
    );
    expect(change).toEqual({
      kind: 'link',
      action: 'set',
      object: {
        index: 3,
        name: 'v0',
        flags: 0x1003,
        isUp: true,
        hasCarrier: false,
        isLoopback: false,
        operState: 'lower-layer-down',
        mtu: 0,
      },
    });
  });

  it('tells whose forwarding was changed', () => {
    const forwarding = '0800 0200 00000000';
    expect(notification(80, `02000000 0800 0100 ffffffff ${forwarding}`)).toEqual({
      kind: 'netconf',
      action: 'set',
      object: { version: 4, index: -1 },
    });
    expect(notification(80, `0a000000 0800 0100 03000000 ${forwarding}`)?.object).toEqual({
      version: 6,
      index: 3,
    });
  });

  it.each([
    ['an address of another family', 20, '0c 00 00 00 01000000'],
    ['an IPv6 cache entry', 24, '0a 80 00 00 fe 02 00 01 00020000'],
    ['a multicast route', 24, '80 20 00 00 fe 02 00 01 00000000'],
    ['the settings of MPLS', 80, '1c000000 0800 0100 03000000'],
    ['a neighbor', 28, '02000000 01000000 02000000'],
  ])('is ignored when it is about %s', (_, type, hex) => {
    expect(notification(type, hex)).toBeUndefined();
  });

  it('refuses a multipath route whose hops pass their attribute', () => {
    const rtmsg = '02 18 00 00 fe 03 00 01 00000000';
    expect(() => notification(24, `${rtmsg} 0c00 0900 0900 00 00 02000000`)).toThrow(NetlinkFormatError);
    expect(() => notification(24, `${rtmsg} 0c00 0900 0000 00 00 02000000`)).toThrow(NetlinkFormatError);
  });

  it('refuses a group that ends within a member', () => {
    expect(() => notification(104, '00005400 00000000 0800 0200 01000000')).toThrow(NetlinkFormatError);
  });
});

describe('hostile bytes', () => {
  const samples: readonly MessageWriter[] = [
    setAddressMessage({ index: 1, address: '2001:db8::1', prefixLength: 128, validLifetime: 9 }),
    setRouteMessage({ destination: '10.0.0.0/8', protocol: 84, gateway: 'fe80::1', interfaceIndex: 2 }),
    setNexthopMessage({ id: 1, gateway: '10.0.0.1', interfaceIndex: 2, protocol: 84 }),
    setNexthopGroupMessage({
      id: 10,
      members: [{ id: 1, weight: 1 }],
      protocol: 84,
      resilient: { buckets: 32, idleTimer: 1, unbalancedTimer: 0 },
    }),
    addRuleMessage({ version: 6, priority: 1, mark: 2, table: 3 }),
    setIpv4Conf(1, { arpIgnore: 1 }),
  ];

  it('are answered with a value or a NetlinkFormatError by every parser', () => {
    const types = [16, 17, 20, 21, 24, 25, 32, 33, 80, 81, 104, 105];
    const parsers: readonly ((payload: Uint8Array, type: number) => unknown)[] = [
      (payload, type) => parseChange({ type, flags: 0, sequence: 0, portId: 0, payload }),
      parseIpv4Conf,
      parseDecision,
      parseBucket,
      parseNeighbor,
    ];
    const payloads = samples.flatMap((writer) =>
      parseMessages(writer.finish(1)).map(({ payload }) => payload),
    );
    const damage = fc.record({
      payload: fc.constantFrom(...payloads),
      cut: fc.nat({ max: 8 }),
      edits: fc.array(fc.tuple(fc.nat({ max: 120 }), fc.nat({ max: 255 })), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(damage, fc.constantFrom(...types), ({ payload, cut, edits }, type) => {
        const damaged = payload.slice(0, payload.length - cut);
        for (const [at, value] of edits) damaged[at % damaged.length] = value;
        for (const parse of parsers) {
          try {
            parse(damaged, type);
          } catch (error) {
            expect(error).toBeInstanceOf(NetlinkFormatError);
          }
        }
      }),
      { seed: 1, numRuns: 5000 },
    );
  });
});
