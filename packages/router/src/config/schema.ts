import {
  asNumber,
  checkAcrossFields,
  duration,
  filePath,
  hostPort,
  ipAddress,
  logSection,
  percent,
  port,
  prefix,
} from '@bgp-lb/daemon';
import * as z from 'zod';
import { crossFieldFaults } from './cross-field.ts';
import type { RouterConfig } from './router-config.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** `apiVersion` of the file. */
export const API_VERSION: string = 'bgp-lb.dev/v1alpha1';
/** `kind` of the file. */
export const CONFIG_KIND: string = 'Router';

const vip = z.strictObject({
  address: ipAddress().describe('The virtual address. This host must not have it on any interface.'),
  port: port()
    .default(6443)
    .describe('The port that clients use. No other port of the masters is reachable by the VIP.'),
  machinePort: port()
    .default(6443)
    .describe('The port of the API servers. The speakers map `port` to it; the router only shows it.'),
});

const bfd = z.strictObject({
  transmitInterval: duration({ min: 10, max: 60 * SECOND })
    .default(300)
    .describe('Time between our packets; the neighbour may ask for more.'),
  receiveInterval: duration({ min: 10, max: 60 * SECOND })
    .default(300)
    .describe(
      "Time that is asked of the neighbour between its packets. A silence of so many as the neighbour's multiplier is its death.",
    ),
  detectMultiplier: z
    .int()
    .min(1)
    .max(255)
    .default(3)
    .describe('How many of our packets may be lost in a row before the neighbour takes us for dead.'),
  strict: z
    .boolean()
    .default(false)
    .describe(
      'Nothing is done with the neighbour until BFD is Up; only with `address`. Otherwise one without BFD is taken as it is.',
    ),
  multihop: z
    .boolean()
    .optional()
    .describe(
      'The neighbour is not on link: RFC 5883, port 4784. Default: where `ttlSecurityHops` is more than 1.',
    ),
});

const neighborBase = {
  name: z
    .string()
    .regex(/^[0-9A-Za-z][0-9A-Za-z._-]{0,62}$/)
    .describe('Name in logs, metrics and commands.'),
  asn: z
    .union([asNumber(), z.array(asNumber()).min(1).max(64), z.literal('external')])
    .describe(
      'The AS number of the neighbour, a list of those that are taken, or `external` for any but ours.',
    ),
  passwordFile: filePath()
    .optional()
    .describe('File with the TCP-MD5 password (RFC 2385), 1 to 80 octets, not readable by others.'),
  holdTime: duration({ min: 3 * SECOND, max: 65_535 * SECOND })
    .default(9 * SECOND)
    .describe('Hold time that is offered (RFC 4271 section 4.2).'),
  addPath: z
    .boolean()
    .default(true)
    .describe(
      'Offer path identifiers (RFC 7911), so that it gets every member and not only the best one. Nothing changes for a neighbour that does not know them.',
    ),
};

const masters = z.strictObject({
  role: z
    .literal('master')
    .describe('Kubernetes masters: only the VIPs are imported, with the peer itself as next hop.'),
  ...neighborBase,
  range: prefix()
    .optional()
    .describe('Whoever connects from this prefix is such a neighbour. This or `address`.'),
  address: ipAddress().optional().describe('One master. This or `range`.'),
  ttlSecurityHops: z
    .int()
    .min(0)
    .max(254)
    .default(1)
    .describe('How many hops away the master may be (GTSM, RFC 5082). 0 turns it off.'),
  maxSessions: z.int().min(1).max(1000).default(16).describe('The most sessions of a range at a time.'),
  bfd: z
    .union([z.literal(false), bfd])
    .prefault({})
    .describe(
      'Bidirectional Forwarding Detection (RFC 5880), with the masters that have it too. `false`: none.',
    ),
});

const upstream = z.strictObject({
  role: z
    .literal('upstream')
    .describe('A router towards the clients: it gets the VIPs, and nothing is imported from it.'),
  ...neighborBase,
  address: ipAddress().describe('Address of the upstream router.'),
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
  bfd: z
    .union([z.literal(false), bfd])
    .default(false)
    .describe('Bidirectional Forwarding Detection (RFC 5880) with it; `{}` is 300 ms x 3. Default: none.'),
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
  address: ipAddress().describe('Address of the router.'),
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
    .describe('Bidirectional Forwarding Detection (RFC 5880) with it; `{}` is 300 ms x 3. Default: none.'),
});

const healthCheck = z.strictObject({
  path: z
    .string()
    .regex(/^\/[!-~]*$/)
    .max(1024)
    .default('/readyz')
    .describe('Path of the probe, which goes to VIP:port through each member.'),
  serverName: z
    .string()
    .min(1)
    .max(253)
    .default('kubernetes')
    .describe(
      "Name that the serving certificate must have. Every certificate of kubeadm's has `kubernetes`.",
    ),
  caFile: filePath()
    .default('/etc/bgp-lb/ca.crt')
    .describe(
      "The cluster's CA certificate. It is read when it appears; until then nothing is verified, and status says so.",
    ),
  interval: duration({ min: 100, max: MINUTE })
    .default(SECOND)
    .describe('Time between the probes of a member.'),
  timeout: duration({ min: 50, max: MINUTE }).default(SECOND).describe('Time that one probe may take.'),
  rise: z.int().min(1).max(100).default(2).describe('Good probes in a row before a member is taken in.'),
  fall: z.int().min(1).max(100).default(3).describe('Failed probes in a row before a member is failing.'),
});

const pool = z.strictObject({
  panicThreshold: percent()
    .default(0.5)
    .describe(
      'When fewer than this share of the members are good, health is overruled and all of them are used.',
    ),
  evictAfter: duration({ min: 0, max: 60 * MINUTE })
    .default(15 * SECOND)
    .describe(
      'How long a member that answers but is not ready keeps its connections, if enough others are good.',
    ),
  staleTime: duration({ min: SECOND, max: 4095 * SECOND })
    .default(MINUTE)
    .describe(
      'How long a member whose speaker process died is kept while its API server answers (RFC 4724).',
    ),
  initialHold: duration({ min: 0, max: MINUTE })
    .default(2 * SECOND)
    .describe(
      'How long an empty pool waits after its first good member for the others, so that it does not get everything.',
    ),
  flapHold: duration({ min: 0, max: 10 * MINUTE })
    .default(2 * SECOND)
    .describe(
      'How long a member that left the pool for the second time of late must be good before it is taken in again; each time more doubles it, the first is free. Members are not held back where fewer than `panicThreshold` would be left. `0s`: never.',
    ),
  flapHoldMax: duration({ min: SECOND, max: 60 * MINUTE })
    .default(2 * MINUTE)
    .describe('The longest such time.'),
  flapDecay: duration({ min: SECOND, max: 24 * 60 * MINUTE })
    .default(5 * MINUTE)
    .describe('So long without leaving the pool takes back one of the times that a member left it.'),
  identities: z
    .array(z.int().min(0).max(0xffff_ffff))
    .max(16)
    .default([])
    .describe(
      'Which cluster the members must be of: N of the large community `ASN:1:N` that `routes` shows, one for each CA key. Default: what the members in use say, from the first one on.',
    ),
});

const dataplane = z.strictObject({
  kind: z.literal('kernel').default('kernel').describe('Who forwards: the kernel, by nexthop objects.'),
  buckets: z
    .int()
    .min(32)
    .max(65_535)
    .default(16_384)
    .describe(
      'Hash buckets of a VIP. Many more than connections at a time, or a member that returns finds none idle.',
    ),
  idleTimer: duration({ min: SECOND, max: 60 * MINUTE })
    .default(2 * MINUTE)
    .describe(
      'A bucket may move after this time without a packet. Longer than the longest silence of a connection.',
    ),
  table: z.int().min(1).max(0xffff_ffff).default(254).describe('Routing table for the VIPs. 254 is main.'),
  protocol: z
    .int()
    .min(5)
    .max(255)
    .default(84)
    .describe('Protocol number of our routes, rules and next hops. Nothing else may use it.'),
  markBase: z
    .int()
    .min(1024)
    .max(0x7fff_fc00)
    .default(0x84000)
    .describe('The first of 1024 firewall marks, and routing tables of the same numbers, for health checks.'),
});

const api = z.strictObject({
  socket: filePath()
    .default('/run/bgp-lb/router.sock')
    .describe('Unix socket, for root only, that the commands use.'),
  listen: hostPort()
    .default({ host: '127.0.0.1', port: 9474 })
    .describe('Address and port of the read-only HTTP API and /metrics.'),
  allowedHosts: z
    .array(z.string().min(1).max(253))
    .max(16)
    .default([])
    .describe('Names beside localhost that the Host header of a request may have.'),
});

/** Schema of the router's configuration file. */
export const routerSchema: z.ZodType<RouterConfig> = z
  .strictObject({
    asn: asNumber().describe('Our AS number.'),
    routerId: ipAddress({ version: 4 })
      .optional()
      .describe(
        'BGP identifier. Default: the source address towards the first neighbour; kept in `stateDir`.',
      ),
    clusterId: ipAddress({ version: 4 })
      .optional()
      .describe(
        'CLUSTER_ID of the route reflector (RFC 4456). Two load balancers that all masters have sessions with may share one. Default: the router id.',
      ),
    listen: z
      .strictObject({
        addresses: z
          .array(ipAddress())
          .max(16)
          .default(['0.0.0.0', '::'])
          .describe('Local addresses to listen on. An IPv6 one is left out where the host has no IPv6.'),
        port: port().default(179).describe('TCP port.'),
      })
      .prefault({})
      .describe('Where neighbours connect to.'),
    vips: z.array(vip).min(1).max(64).describe('The virtual addresses.'),
    neighbors: z
      .array(z.discriminatedUnion('role', [masters, upstream, internal]))
      .min(1)
      .max(256)
      .describe('BGP neighbours.'),
    healthCheck: healthCheck.prefault({}).describe('How the masters are probed from here.'),
    pool: pool.prefault({}).describe('Who serves a VIP.'),
    dataplane: dataplane.prefault({}).describe('How packets get to the masters.'),
    manageSysctls: z
      .boolean()
      .default(true)
      .describe(
        'Set what forwarding needs (ip_forward, fib_multipath_hash_policy, send_redirects, rp_filter...).',
      ),
    stateDir: filePath()
      .default('/var/lib/bgp-lb')
      .describe('Folder for what outlives a restart: the router id.'),
    api: api.prefault({}).describe('The HTTP API.'),
    log: logSection(),
  })
  .superRefine(checkAcrossFields(crossFieldFaults));
