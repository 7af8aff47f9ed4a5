import {
  asNumber,
  bfdSection,
  community,
  dnsName,
  duration,
  filePath,
  hostPort,
  ipAddress,
  logSection,
  neighborAddress,
  nodeName,
  port,
  requestPath,
  sessionKeys,
  socketPath,
} from '@bgp-lb/daemon';
import * as z from 'zod';
import { DEFAULT_SOCKET } from './default-socket.ts';

const SECOND = 1_000;

const vip = z.strictObject({
  address: ipAddress({ use: 'host' }).describe('The virtual address. A host route for it is advertised.'),
  port: port().default(6443).describe('The port that clients use at the VIP.'),
  machinePort: port()
    .default(6443)
    .describe(
      'The port of the API server on this machine. When it differs from `port`, an nft rule maps the one to the other.',
    ),
  localPref: z
    .int()
    .min(1)
    .max(4_294_967_295)
    .optional()
    .describe(
      'LOCAL_PREF within our AS (RFC 4271 section 5.1.5) while this master is in full service; a last resort and a drain always have 0. Default: 100.',
    ),
  med: z
    .int()
    .min(0)
    .max(4_294_967_295)
    .optional()
    .describe('MULTI_EXIT_DISC (RFC 4271 section 5.1.4). Default: none.'),
  communities: z
    .array(community())
    .max(32)
    .optional()
    .describe('Communities (RFC 1997) and large communities (RFC 8092) that the path carries beside ours.'),
});

const bfd = bfdSection(
  'router',
  'BGP waits until BFD is Up. Otherwise a router without BFD is taken as it is.',
);

const router = z.strictObject({
  address: neighborAddress().describe(
    'Address of the router (load balancer) to peer with; a link-local one with its interface, `fe80::10%eth0`.',
  ),
  port: port().default(179).describe('TCP port that the router listens on.'),
  asn: asNumber().describe("The router's AS number. The same as `asn` makes the session internal (iBGP)."),
  ...sessionKeys,
  nextPasswordFile: filePath()
    .optional()
    .describe(
      'File with the password that follows. While it is given, attempts to connect use both in turn: the router may be given the new one at any time.',
    ),
  sourceAddress: neighborAddress()
    .optional()
    .describe(
      'Our address of the session, and the next hop. Default: the one that the route to the router has.',
    ),
  ttlSecurityHops: z
    .int()
    .min(0)
    .max(254)
    .default(1)
    .describe(
      'How many hops away the router may be (GTSM, RFC 5082): we send with TTL 255 and accept 256 minus this. 0 turns it off.',
    ),
  bfd: z
    .union([z.literal(false), bfd])
    .prefault({})
    .describe(
      'Bidirectional Forwarding Detection with this router (RFC 5880), where it has it too. `false`: none.',
    ),
});

const apiServer = z.strictObject({
  address: ipAddress({ use: 'host' })
    .optional()
    .describe(
      'Node address that the API server is probed at. Default: the source address towards the first router that is not link-local.',
    ),
  serverName: z
    .string()
    .min(1)
    .max(253)
    .default('kubernetes')
    .describe(
      "Name that the serving certificate must have. kubeadm's certificates have `kubernetes`, and neither localhost nor 127.0.0.1.",
    ),
  caFile: filePath()
    .default('/etc/kubernetes/pki/ca.crt')
    .describe("The cluster's CA certificate: the only root that is trusted, and the cluster's identity."),
  path: requestPath()
    .default('/readyz')
    .describe('Path of the probe. Never /livez: only /readyz turns red when the API server begins to stop.'),
  interval: duration({ min: 50, max: 60 * SECOND })
    .default(200)
    .describe('Time between probes.'),
  timeout: duration({ min: 50, max: 60 * SECOND })
    .default(SECOND)
    .describe('Time that one probe may take.'),
  rise: z
    .int()
    .min(1)
    .max(100)
    .default(2)
    .describe('Good probes in a row before the API server counts as ready.'),
  fall: z.int().min(1).max(100).default(3).describe('Failed probes in a row before it counts as failed.'),
  unauthenticated: z
    .enum(['reject', 'accept'])
    .default('reject')
    .describe(
      'What an answer of 401 or 403 means, where anonymous access is off and no client certificate is given. `accept` takes it for ready: that the API server stops is then seen only when it closes its port.',
    ),
  clientCertificate: z
    .strictObject({
      certFile: filePath().describe('Certificate (PEM).'),
      keyFile: filePath().describe('Key (PEM). May be the same file.'),
    })
    .optional()
    .describe(
      'Client certificate of the probe, for API servers without anonymous access. Any identity that may read /readyz will do. Read again when the files change.',
    ),
});

const bootstrap = z.strictObject({
  markers: z
    .array(filePath())
    .min(1)
    .max(16)
    .default(() => ['/var/lib/bgp-lb/bootstrapped', '/run/cluster-api/bootstrap-success.complete'])
    .describe(
      'Files of which one appears when kubeadm has succeeded. The first one found is the proof, and is deleted.',
    ),
  stateDir: filePath()
    .default('/var/lib/bgp-lb')
    .describe('Folder of state.json, which keeps the proof of bootstrap.'),
  machineIdFile: filePath()
    .default('/etc/machine-id')
    .describe('File with the machine-id that the proof is tied to, so that a cloned disk proves nothing.'),
});

const drain = z.strictObject({
  timeout: duration({ min: 0, max: 3_600 * SECOND })
    .default(60 * SECOND)
    .describe("How long a drain lasts at most. Longer than the API server's `--shutdown-delay-duration`."),
  file: filePath().default('/run/bgp-lb/drain').describe('While this file exists the master is drained.'),
  annotation: z
    .strictObject({
      kubeconfig: filePath().describe(
        'Credentials that may list and watch the Node, and no more (`manifest --rbac`). In a folder of its own, which is mounted into the pod. Read again for each request.',
      ),
      node: nodeName().describe("Name of this machine's Node."),
    })
    .optional()
    .describe(
      'Follow the annotation `bgp-lb.dev/drain` of the Node: `true` drains, `force` also when no other master would be left. Default: it is not read.',
    ),
});

const api = z.strictObject({
  socket: socketPath().default(DEFAULT_SOCKET).describe('Unix socket of the HTTP API, for root.'),
  listen: hostPort()
    .default({ host: '127.0.0.1', port: 9475 })
    .describe('TCP address of the read-only HTTP API: health, metrics, status.'),
});

/** The keys of /etc/bgp-lb/speaker.yaml beside `apiVersion` and `kind`: types, defaults and documentation in one place. */
export const speakerKeys = z.strictObject({
  role: z
    .enum(['init', 'join', 'cluster-api'])
    .describe(
      'What kubeadm does on this machine. `cluster-api`: read it from the file that its kubeadm provider writes.',
    ),
  asn: asNumber().describe('Our AS number.'),
  routerId: ipAddress({ version: 4, use: 'host' })
    .optional()
    .describe(
      'BGP identifier. Default: `apiServer.address`, or what is made of that when it is an IPv6 address.',
    ),
  endpoint: dnsName()
    .optional()
    .describe(
      'DNS name of `--control-plane-endpoint`, when that is a name. The serving certificate must have it; without it, the VIP.',
    ),
  vips: z.array(vip).min(1).max(8).describe('The virtual addresses of the control plane.'),
  routers: z.array(router).min(1).max(16).describe('The load balancers to advertise the VIPs to.'),
  vipBind: z
    .boolean()
    .default(true)
    .describe(
      'Have the VIPs on this master while it serves. `false`, for load balancers that open connections of their own (HAProxy): the master is announced with its own address as next hop, and there is no VIP, no mapping and no guard on it.',
    ),
  routeToVip: z
    .boolean()
    .default(false)
    .describe(
      'A route to each VIP by each of `routers`, put there by `prepare` and kept by the running speaker: for a VIP outside every subnet that no gateway knows. The local address wins once it is bound.',
    ),
  apiServer: apiServer.prefault({}).describe('How the API server of this machine is probed.'),
  bootstrap: bootstrap.prefault({}).describe('How the success of kubeadm is known.'),
  drain: drain.prefault({}).describe('Taking this master out of service without breaking connections.'),
  stopMode: z
    .enum(['keep', 'drain'])
    .default('keep')
    .describe('On SIGTERM: leave everything to a successor (an upgrade of the speaker), or drain first.'),
  api: api.prefault({}).describe('The HTTP API.'),
  log: logSection(),
});
