import {
  asNumber,
  duration,
  filePath,
  hostPort,
  interfaceName,
  ipAddress,
  logSection,
  percent,
  port,
  requestPath,
  socketPath,
} from '@bgp-lb/daemon';
import * as z from 'zod';
import { kubernetesSchema, membersSchema } from './members-schema.ts';
import { neighbor } from './neighbor-schema.ts';
import { vrrpSchema } from './vrrp-schema.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const vip = z.strictObject({
  address: ipAddress({ use: 'host' }).describe(
    'The virtual address. With the kernel as data plane this host must not have it on any interface.',
  ),
  port: port()
    .default(6443)
    .describe('The port that clients use. No other port of the masters is reachable by the VIP.'),
  machinePort: port()
    .default(6443)
    .describe(
      'The port of the API servers. The speakers map `port` to it. HAProxy connects to it; with the kernel the router only asks for `members.configMap` there.',
    ),
  protocol: z
    .literal('tcp', {
      error:
        'cannot be carried: HAProxy balances no UDP, and with the kernel as data plane nothing but TCP to `port` passes',
    })
    .optional()
    .describe('Always tcp.'),
  members: membersSchema.prefault({}),
});

const healthCheck = z.strictObject({
  path: requestPath()
    .default('/readyz')
    .describe(
      "Path of the probe, which goes to VIP:port through each member; with HAProxy to each member's own address.",
    ),
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
  clientEvidence: z
    .boolean()
    .default(true)
    .describe(
      'Lower a member whose clients get no answer, as their own packets say, though its health check is good and the other members answer: to weight 1, for 60 s at first, at most one more in ten seconds, and never so that less than `panicThreshold` is left. false: only say so.',
    ),
  identities: z
    .array(z.int().min(0).max(0xffff_ffff))
    .max(16)
    .default([])
    .describe(
      'Which cluster the members must be of: N of the large community `ASN:1:N` that `routes` shows, one for each CA key. Default: what the members in use say, from the first one on.',
    ),
});

const kernelDataplane = z.strictObject({
  kind: z.literal('kernel').default('kernel').describe('Who forwards: the kernel, by nexthop objects.'),
  buckets: z
    .int()
    .min(32)
    .max(65_535)
    .default(4096)
    .describe(
      'Hash buckets of a VIP. A member that returns takes idle ones only: with three masters this is enough for 1.3 connections by bucket. A change of it moves most connections once.',
    ),
  idleTimer: duration({ min: SECOND, max: 60 * MINUTE })
    .default(2 * MINUTE)
    .describe(
      'A bucket may move after this time without a packet. Longer than the longest silence of a connection.',
    ),
  table: z
    .int()
    .min(1)
    .max(0xffff_ffff)
    .refine((table) => table !== 255, {
      message: 'is table local, in which a route makes an address one of this host',
      params: { allowed: '1 to 4294967295 but 255' },
    })
    .default(254)
    .describe('Routing table for the VIPs. 254 is main.'),
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
  proxyInterfaces: z
    .array(interfaceName())
    .max(16)
    .default([])
    .describe(
      'Interfaces on which ARP and neighbor solicitations for the VIPs are answered: for VIPs that are addresses of a subnet there.',
    ),
  proxyMode: z
    .enum(['responder', 'macvlan'])
    .default('responder')
    .describe(
      'How: `responder` answers with the link-layer address of the interface, while the router runs. `macvlan` makes a device for each VIP, with a link-layer address that goes with the VIP from one load balancer to the other; the kernel answers by it also while the router does not run. The network must allow further link-layer addresses: wireless networks and many clouds do not.',
    ),
});

const haproxyDataplane = z.strictObject({
  kind: z.literal('haproxy').describe('Who forwards: HAProxy 2.6 or newer, a service of its own.'),
  folder: filePath()
    .default('/var/lib/bgp-lb/haproxy')
    .describe('Where haproxy.cfg, the state that HAProxy starts with, and its copy of the CA are written.'),
  socket: socketPath()
    .default('/run/bgp-lb-haproxy/haproxy.sock')
    .describe("HAProxy's run-time API, by which members are changed."),
  masterSocket: socketPath()
    .default('/run/bgp-lb-haproxy/master.sock')
    .describe('The API of its master process (`haproxy -S`), by which it is reloaded.'),
  maxConnections: z
    .int()
    .min(100)
    // Two descriptors for each, of the 524288 that its unit allows (LimitNOFILE).
    .max(250_000)
    .default(8000)
    .describe('Connections of clients at a time; more wait. HAProxy needs two descriptors for each.'),
  idleTimeout: duration({ min: SECOND, max: 24 * 60 * MINUTE })
    .default(60 * MINUTE)
    .describe(
      'A connection without an octet for so long is closed. Watches of Kubernetes may be idle for long.',
    ),
  userTimeout: duration({ min: SECOND, max: 60 * MINUTE })
    .default(30 * SECOND)
    .describe(
      'A client or member that is silent for so long is asked by keepalives, and left when it is gone.',
    ),
  exporter: hostPort()
    .optional()
    .describe("Address and port of HAProxy's own Prometheus exporter, at `/metrics`. Default: none."),
  hardStopAfter: duration({ min: SECOND, max: 24 * 60 * MINUTE })
    .default(60 * MINUTE)
    .describe(
      'How long the old process of HAProxy keeps its connections after a reload, which a change of VIPs, ports, certificates or times needs. What it still has then is ended.',
    ),
  localVips: z
    .boolean()
    .default(true)
    .describe(
      'Make the VIPs local to this host by routes in table local, where no interface has them. This host answers ARP and neighbor solicitations for them then: `false` where keepalived or you bring the addresses.',
    ),
  protocol: z
    .int()
    .min(5)
    .max(255)
    .default(84)
    .describe('Protocol number of these routes. Nothing else may use it.'),
});

const autoDataplane = z.strictObject({
  kind: z
    .literal('auto')
    .describe(
      'Who forwards: the kernel where a request to the VIP through every member is answered, else HAProxy. Decided once, when the first members answer, and kept in `stateDir` until `uninstall`; no client is served before. Not with `vrrp`.',
    ),
  kernel: kernelDataplane.omit({ kind: true }).prefault({}).describe('Settings for `kind: kernel`.'),
  haproxy: haproxyDataplane.omit({ kind: true }).prefault({}).describe('Settings for `kind: haproxy`.'),
});

/** By `kind`: what belongs to one kind of data plane is refused for another. */
export const dataplaneSchema = z.discriminatedUnion('kind', [
  kernelDataplane,
  haproxyDataplane,
  autoDataplane,
]);

const api = z.strictObject({
  socket: socketPath()
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

/** The keys of the router's configuration file beside `apiVersion` and `kind`: types, defaults and documentation in one place. */
export const routerKeys = z.strictObject({
  asn: asNumber().describe('Our AS number.'),
  routerId: ipAddress({ version: 4, use: 'host' })
    .optional()
    .describe('BGP identifier. Default: the source address towards the first neighbor; kept in `stateDir`.'),
  clusterId: ipAddress({ version: 4 })
    .optional()
    .describe(
      'CLUSTER_ID of the route reflector (RFC 4456). Two load balancers that all masters have sessions with may share one. Default: the router id.',
    ),
  listen: z
    .strictObject({
      addresses: z
        .array(ipAddress({ use: 'listener' }))
        .max(16)
        .default(['0.0.0.0', '::'])
        .describe('Local addresses to listen on. An IPv6 one is left out where the host has no IPv6.'),
      port: port().default(179).describe('TCP port.'),
    })
    .prefault({})
    .describe('Where neighbors connect to.'),
  vips: z.array(vip).min(1).max(64).describe('The virtual addresses.'),
  neighbors: z
    .array(neighbor)
    .max(256)
    .default([])
    .describe('BGP neighbors. None where every VIP has its members from a list.'),
  kubernetes: kubernetesSchema.optional(),
  healthCheck: healthCheck.prefault({}).describe('How the masters are probed from here.'),
  pool: pool.prefault({}).describe('Who serves a VIP.'),
  dataplane: dataplaneSchema.prefault({}).describe('How packets get to the masters.'),
  vrrp: vrrpSchema.optional(),
  manageSysctls: z
    .boolean()
    .default(true)
    .describe(
      'Set what forwarding needs (ip_forward, fib_multipath_hash_policy, send_redirects, rp_filter...).',
    ),
  stateDir: filePath()
    .default('/var/lib/bgp-lb')
    .describe('Folder for what outlives a restart: the router id, drains, the last lists of members.'),
  api: api.prefault({}).describe('The HTTP API.'),
  log: logSection(),
});
