import { isIP } from 'node:net';
import { membersSchema } from '../config/members-schema.ts';
import { routerSchema } from '../config/schema.ts';
import type { ImportedConfig, ImportedPool } from './imported-config.ts';
import type { NotTaken, Server } from './read-proxy.ts';
import type { CheckPace } from './server-options.ts';

/** What has to be known besides, and what cannot be taken over. */
export interface RouterYaml {
  /** router.yaml; undefined where there is no VIP with a member. */
  readonly text: string | undefined;
  /** What has to be done or looked at, one sentence each. */
  readonly notes: readonly string[];
  /** Lines that have no place in it. */
  readonly left: readonly NotTaken[];
}

interface Vip {
  readonly address: string;
  readonly port: number;
  readonly machinePort: number;
  readonly servers: readonly Server[];
}

/** Our configuration for what HAProxy does. @param vip for a `bind` that names no address other hosts know */
export function routerYaml({ pools }: ImportedConfig, vip: string | undefined): RouterYaml {
  const notes: string[] = [];
  const left: NotTaken[] = [];
  const vips: Vip[] = [];
  for (const pool of pools) takePool(pool, vip, vips, left);
  const unnamed = pools.flatMap(({ binds }) => binds).find(({ address }) => address === undefined);
  if (vip === undefined && unnamed !== undefined) {
    notes.push(
      `line ${unnamed.number}: bind names no address that other hosts know: give the one that clients use by --vip`,
    );
  }
  const servers = vips.flatMap((one) => one.servers);
  if (servers.some(({ isVerified }) => !isVerified)) {
    notes.push("its checks verified nothing (verify none): copy the cluster's ca.crt to /etc/bgp-lb/ca.crt");
  }
  return { text: vips.length === 0 ? undefined : render(vips, commonPace(servers, notes)), notes, left };
}

/** One VIP for each address that the pool is bound to. */
function takePool(pool: ImportedPool, vip: string | undefined, vips: Vip[], left: NotTaken[]): void {
  for (const { address = vip, port, number } of pool.binds) {
    if (address === undefined) continue;
    const text = `bind ${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
    const before = vips.find((one) => one.address === address);
    if (before !== undefined) {
      if (before.port === port) continue;
      left.push({ number, text, reason: `a VIP has one port, and ${address} has ${before.port} already` });
      continue;
    }
    if (!isVipAddress(address)) {
      left.push({ number, text, reason: 'a VIP cannot have this address' });
      continue;
    }
    const machinePort = commonPort(pool.servers, port);
    const servers = pool.servers.filter((server, at) => {
      const reason = whyNoMember(server, address, machinePort, port, pool.servers.slice(0, at));
      const own = `server ${server.name}`;
      const isSaid = left.some((one) => one.number === server.number && one.reason === reason);
      if (reason !== undefined && !isSaid) left.push({ number: server.number, text: own, reason });
      return reason === undefined;
    });
    if (servers.length > 0) vips.push({ address, port, machinePort, servers });
    else left.push({ number, text, reason: 'none of its servers can be a member' });
  }
}

/** Whether a VIP may have this address. */
export function isVipAddress(address: string): boolean {
  const vip = { address, members: { bgp: false, static: [{ address: 'm1.example.net' }] } };
  return routerSchema.safeParse({ asn: 64512, vips: [vip] }).success;
}

/** The port that most servers have, of several the first. */
function commonPort(servers: readonly Server[], clientPort: number): number {
  const ports = servers.map(({ port = clientPort }) => port);
  const count = (one: number): number => ports.filter((port) => port === one).length;
  return ports.reduce((best, port) => (count(port) > count(best) ? port : best), ports[0] ?? clientPort);
}

function whyNoMember(
  { name, address, port: own }: Server,
  vip: string,
  machinePort: number,
  clientPort: number,
  before: readonly Server[],
): string | undefined {
  const port = own ?? clientPort;
  if (port !== machinePort)
    return `all members have one port, machinePort ${machinePort}, and it has ${port}`;
  if (!membersSchema.safeParse({ static: [{ name, address }] }).success)
    return 'its name or address is none that a member may have';
  if (isIP(address) !== 0 && isIP(address) !== isIP(vip))
    return `members are of the address family of their VIP, ${vip}`;
  if (address === vip) return 'its address is the VIP';
  return before.some((one) => one.address.toLowerCase() === address.toLowerCase())
    ? 'its address is there twice'
    : undefined;
}

/** There is one pace for all: where servers differ the first that says something counts. */
function commonPace(servers: readonly Server[], notes: string[]): CheckPace {
  const found: { interval?: number; rise?: number; fall?: number } = {};
  for (const key of ['interval', 'rise', 'fall'] as const) {
    const values = [...new Set(servers.flatMap(({ pace }) => pace[key] ?? []))];
    const [first] = values;
    if (first === undefined) continue;
    found[key] = first;
    if (values.length > 1)
      notes.push(`servers differ in their checks (${key} ${values.join(', ')}): the first counts for all`);
  }
  return found;
}

function render(vips: readonly Vip[], { interval, rise, fall }: CheckPace): string {
  const checks = [
    ...(interval === undefined ? [] : [`interval: ${interval}ms`]),
    ...(rise === undefined ? [] : [`rise: ${rise}`]),
    ...(fall === undefined ? [] : [`fall: ${fall}`]),
  ];
  const lines = [
    'apiVersion: bgp-lb.dev/v1alpha1',
    'kind: Router',
    '# Without BGP neighbors any number does.',
    'asn: 64512',
    'vips:',
    ...vips.flatMap(({ address, port, machinePort, servers }) => [
      `  - address: ${quoted(address)}`,
      `    port: ${port}`,
      `    machinePort: ${machinePort}`,
      '    members:',
      '      bgp: false',
      '      static:',
      ...servers.map(
        ({ name, address: host }) => `        - { name: ${quoted(name)}, address: ${quoted(host)} }`,
      ),
    ]),
    'dataplane: { kind: haproxy }',
    ...(checks.length === 0 ? [] : [`healthCheck: { ${checks.join(', ')} }`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** What YAML 1.1 or 1.2 reads as something else than text although it looks like a name. */
const noText = /^(null|true|false|yes|no|on|off|y|n)$/i;

/** As YAML: names are the user's, and may be anything. */
function quoted(text: string): string {
  const isPlain = /^[a-z][a-z0-9.-]*$|^\d+\.\d+\.\d+\.\d+$/i.test(text) && !noText.test(text);
  return isPlain ? text : JSON.stringify(text);
}
