import {
  asNumber,
  bfdSection,
  community,
  configName,
  duration,
  hostPrefix,
  ipAddress,
  neighborAddress,
  port,
  sessionKeys,
} from '@bgp-lb/daemon';
import * as z from 'zod';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const bfd = bfdSection(
  'neighbor',
  'Nothing is done with the neighbor until BFD is Up; only with `address`. Otherwise one without BFD is taken as it is.',
);

const neighborBase = {
  name: configName().describe('Name in logs, metrics and commands.'),
  asn: z
    .union([asNumber(), z.array(asNumber()).min(1).max(64), z.literal('external')])
    .describe(
      'The AS number of the neighbor, a list of those that are taken, or `external` for any but ours.',
    ),
  ...sessionKeys,
  addPath: z
    .boolean()
    .default(true)
    .describe(
      'Offer path identifiers (RFC 7911), so that it gets every member and not only the best one. Nothing changes for a neighbor that does not know them.',
    ),
};

const masters = z.strictObject({
  role: z
    .literal('master')
    .describe('Kubernetes masters: only the VIPs are imported, with the peer itself as next hop.'),
  ...neighborBase,
  range: hostPrefix()
    .optional()
    .describe('A peer that connects from this prefix is such a neighbor. This or `address`.'),
  address: neighborAddress()
    .optional()
    .describe(
      'One master. This or `range`. A link-local address has its interface with it, `fe80::11%eth0`: packets go to it there.',
    ),
  ttlSecurityHops: z
    .int()
    .min(0)
    .max(254)
    .default(1)
    .describe('How many hops away the master may be (GTSM, RFC 5082). 0 turns it off.'),
  memberAddress: z
    .union([z.literal('peer'), ipAddress({ use: 'host' })])
    .default('peer')
    .describe(
      'Where packets for it go. `peer`: the address of its session, and no other next hop is taken from it. An address, only with `address`: that one, for a session by a management network; the peer and that address are taken as next hop.',
    ),
  maxSessions: z.int().min(1).max(1000).default(16).describe('The most sessions of a range at a time.'),
  maxPrefixes: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(1000)
    .describe(
      'The most prefixes that it may announce, those counted that are refused. More end its session with Cease/Maximum Number of Prefixes Reached (RFC 4486).',
    ),
  maxPrefixesRestart: z
    .union([z.literal('never'), duration({ min: SECOND, max: 24 * 60 * MINUTE })])
    .prefault('5m')
    .describe('How long it is left alone after that, less up to a quarter. `never`: until `reset`.'),
  bfd: z
    .union([z.literal(false), bfd])
    .prefault({})
    .describe(
      'Bidirectional Forwarding Detection (RFC 5880), with the masters that have it too. `false`: none.',
    ),
});

const degraded = z
  .strictObject({
    below: z.int().min(1).max(1000).describe('How many members the pool of a VIP should have.'),
    prepend: z
      .int()
      .min(0)
      .max(16)
      .default(1)
      .describe('How often our AS number stands in the AS_PATH then, more than `prepend` says.'),
    med: z.int().min(0).max(0xffff_ffff).optional().describe('MULTI_EXIT_DISC then. Default: as ever.'),
  })
  .describe(
    'What it is told while the pool has fewer members than it should, so that it prefers another load balancer that has them all, and uses this one when there is none.',
  );

const upstream = z.strictObject({
  role: z
    .literal('upstream')
    .describe('A router towards the clients: it gets the VIPs, and nothing is imported from it.'),
  ...neighborBase,
  address: neighborAddress().describe(
    'Address of the upstream router; a link-local one with its interface, `fe80::1%eth1`.',
  ),
  port: port().default(179).describe('TCP port that it listens on.'),
  passive: z.boolean().default(false).describe('Wait for it to connect.'),
  ttlSecurityHops: z
    .int()
    .min(0)
    .max(254)
    .default(0)
    .describe('How many hops away it may be (GTSM, RFC 5082), where it is set so too. 0 turns it off.'),
  nextHop: z
    .enum(['self', 'unchanged'])
    .default('self')
    .describe(
      'The next hop of the VIPs that are advertised. `self`: this host forwards. `unchanged`: each member of the pool, so that the upstream router itself spreads over the masters, which it must reach.',
    ),
  otherNextHop: ipAddress({ use: 'host' })
    .optional()
    .describe(
      "An address of this host in the family that `address` is not of. With it the session carries the VIPs of that family too (RFC 4760), with this next hop; only with `nextHop: self`. Default: VIPs of the session's own family only.",
    ),
  med: z
    .int()
    .min(0)
    .max(0xffff_ffff)
    .optional()
    .describe('MULTI_EXIT_DISC of the VIPs (RFC 4271 section 5.1.4): less is preferred. Default: none.'),
  prepend: z
    .int()
    .min(0)
    .max(16)
    .default(0)
    .describe('How often our AS number stands in the AS_PATH beside the once that it must.'),
  communities: z
    .array(community())
    .max(32)
    .default([])
    .describe('Communities (RFC 1997) and large communities (RFC 8092) that the VIPs carry.'),
  passCommunities: z
    .array(community())
    .max(32)
    .default([])
    .describe(
      'Communities that a path of a master keeps on its way to this upstream, with `nextHop: unchanged`. Those that are not listed stay behind, and so do all of 65535:*, BLACKHOLE among them, and all extended ones. Default: none.',
    ),
  degraded: degraded.optional(),
  bfd: z
    .union([z.literal(false), bfd])
    .default(false)
    .describe(
      'Bidirectional Forwarding Detection (RFC 5880) with it; `{}` is the timing of masters. Default: none.',
    ),
  gracefulRestart: z
    .boolean()
    .optional()
    .describe(
      'It is asked to keep the VIPs while this process restarts (RFC 4724). Default: where there is no BFD, which would drop what this keeps.',
    ),
});

const internal = z.strictObject({
  role: z
    .literal('internal')
    .describe(
      'A router of our own AS, another load balancer among them: paths of the VIPs are reflected to it and from it (RFC 4456). It never makes a member.',
    ),
  ...neighborBase,
  address: neighborAddress().describe(
    'Address of the router; a link-local one with its interface, `fe80::1%eth1`.',
  ),
  port: port().default(179).describe('TCP port that it listens on.'),
  passive: z.boolean().default(false).describe('Wait for it to connect.'),
  client: z
    .boolean()
    .default(false)
    .describe(
      'A client of this reflector: it gets the paths of other internal routers too. Load balancers that masters have sessions with are none.',
    ),
  ttlSecurityHops: z
    .int()
    .min(0)
    .max(254)
    .default(0)
    .describe('How many hops away it may be (GTSM, RFC 5082), where it is set so too. 0 turns it off.'),
  bfd: z
    .union([z.literal(false), bfd])
    .default(false)
    .describe(
      'Bidirectional Forwarding Detection (RFC 5880) with it; `{}` is the timing of masters. Default: none.',
    ),
});

/** Schema of one BGP neighbor. */
export const neighbor = z.discriminatedUnion('role', [masters, upstream, internal]);
