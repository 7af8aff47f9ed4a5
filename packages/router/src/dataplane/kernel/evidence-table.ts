import { ipVersion } from '@bgp-lb/protocol';
import {
  addressIs,
  EVIDENCE_TABLE,
  type FilteredVip,
  match,
  type NftJson,
  type NftTable,
  RAW_PRIORITY,
} from './nft-table.ts';

/** What is counted, each in a set whose elements have a counter. */
export const evidenceSets = {
  /** SYNs before anything is done with them, by VIP and interface. */
  arrived: 'arrived',
  /** SYNs that were forwarded, by VIP, interface, and the interface and next hop that they left by. */
  sent: 'sent',
  /** Connections that are followed: their first SYN, by VIP and member. */
  followed: 'followed',
  /** Of those, whose client has sent an ACK, by VIP and member: the member's SYN-ACK has reached it. */
  established: 'established',
} as const;

/** Connections whose first ACK is waited for. */
const PENDING = 'pending';
/** How long it is waited for (s): longer than a SYN that was sent again twice (RFC 6298: 1 s and 2 s). */
const PENDING_TIME = 10;
/** New connections per second and VIP of which the first ACK is waited for. The others are counted and not followed. */
const FOLLOWED_RATE = 500;
/** What that rate fills in that time, and room for another VIP. What does not fit is not followed. */
const PENDING_SIZE = 8192;
/** Members by interfaces; an element that no packet has touched for so long (s) goes. */
const COUNTERS_SIZE = 4096;
const COUNTERS_TIME = 24 * 3600;
/** In `forward`, behind every chain that may drop: what is counted here leaves. */
const LATE_PRIORITY = 300;

/**
 * Counts what clients send to the VIPs, since a health check only proves packets that this host makes: SYNs that arrive, SYNs that leave
 * towards each member, and first ACKs that leave towards it, which a client sends only when the member's SYN-ACK has reached it. The route
 * of the packet itself names the member. There is no state for a flow but between the SYN of one that is followed and its first ACK.
 */
export function evidenceTable(version: 4 | 6, vips: readonly FilteredVip[]): NftTable {
  const own = vips.filter(({ address }) => ipVersion(address) === version);
  const ip = version === 4 ? 'ip' : 'ip6';
  const address = version === 4 ? 'ipv4_addr' : 'ipv6_addr';
  const counters = (name: string, type: readonly string[]) => ({
    name,
    type,
    size: COUNTERS_SIZE,
    timeout: COUNTERS_TIME,
  });
  const toMember = [address, 'iface_index', address];
  return {
    family: ip,
    name: EVIDENCE_TABLE,
    sets: [
      counters(evidenceSets.arrived, [address, 'iface_index']),
      counters(evidenceSets.sent, [address, 'iface_index', 'iface_index', address]),
      counters(evidenceSets.followed, toMember),
      counters(evidenceSets.established, toMember),
      { name: PENDING, type: [address, 'inet_service', address], size: PENDING_SIZE, timeout: PENDING_TIME },
    ],
    chains: [
      {
        name: 'arrivals',
        hook: 'prerouting',
        priority: RAW_PRIORITY - 1,
        rules: own.map((vip) => ({ expression: arrival(vip, ip) })),
      },
      {
        name: 'departures',
        hook: 'forward',
        priority: LATE_PRIORITY,
        rules: own.flatMap((vip) => departures(vip, ip)).map((expression) => ({ expression })),
      },
    ],
  };
}

const field = (protocol: string, name: string): NftJson => ({ payload: { protocol, field: name } });
const meta = (key: string): NftJson => ({ meta: { key } });

/** One whose TTL ends here is answered, and never forwarded. */
function arrival(vip: FilteredVip, ip: 'ip' | 'ip6'): NftJson[] {
  const ttl = field(ip, ip === 'ip' ? 'ttl' : 'hoplimit');
  return [
    ...toVip(vip),
    isSyn,
    { match: { op: '>', left: ttl, right: 1 } },
    count(evidenceSets.arrived, [field(ip, 'daddr'), meta('iif')]),
  ];
}

function departures(vip: FilteredVip, ip: 'ip' | 'ip6'): NftJson[][] {
  const daddr = field(ip, 'daddr');
  const member = [meta('oif'), { rt: { key: 'nexthop', family: ip } }];
  const connection = { concat: [field(ip, 'saddr'), field('tcp', 'sport'), daddr] };
  const change = (op: 'add' | 'delete'): NftJson => ({ set: { op, elem: connection, set: `@${PENDING}` } });
  return [
    // First what most packets are. Two ACKs of one connection at the same time may both count: the judge takes no more than were followed.
    [
      ...toVip(vip),
      hasFlags([SYN, RST, ACK], ACK),
      match(connection, `@${PENDING}`),
      change('delete'),
      count(evidenceSets.established, [daddr, ...member]),
    ],
    [...toVip(vip), isSyn, count(evidenceSets.sent, [daddr, meta('iif'), ...member])],
    [
      ...toVip(vip),
      isSyn,
      // One that is sent again is no other connection.
      match(connection, `@${PENDING}`, '!='),
      { limit: { rate: FOLLOWED_RATE, burst: FOLLOWED_RATE, per: 'second' } },
      // Where there is no room the rule ends here.
      change('add'),
      count(evidenceSets.followed, [daddr, ...member]),
    ],
  ];
}

const SYN = 'syn';
const RST = 'rst';
const ACK = 'ack';
const isSyn: NftJson = hasFlags([SYN, ACK], SYN);

function toVip(vip: FilteredVip): NftJson[] {
  return [addressIs(vip, 'daddr'), match(field('tcp', 'dport'), vip.port)];
}

/** Of these flags it has this one alone. nft 1.0 takes two operands at a time. */
function hasFlags([first = SYN, ...others]: readonly string[], flag: string): NftJson {
  const mask = others.reduce<NftJson | string>((all, one) => ({ '|': [all, one] }), first);
  return match({ '&': [field('tcp', 'flags'), mask] }, flag);
}

function count(set: string, key: readonly NftJson[]): NftJson {
  return { set: { op: 'update', elem: { concat: key }, set: `@${set}`, stmt: [{ counter: null }] } };
}
