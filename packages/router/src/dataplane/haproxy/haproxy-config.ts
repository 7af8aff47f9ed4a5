import { createHash } from 'node:crypto';
import { FULL_WEIGHT } from '../../pool/member-view.ts';
import {
  ANCHOR,
  backendOf,
  type HaproxySettings,
  type HaproxyVip,
  socketAddress,
} from './haproxy-settings.ts';

/** Between two checks of a member that is down, or about to change (ms): one that is back is wanted soon. */
const FAST_CHECK = 300;

/** The members of each VIP, by the VIP's address. */
type MembersByVip = ReadonlyMap<string, readonly { readonly member: string; readonly port: number }[]>;

/**
 * haproxy.cfg. It names the members so that HAProxy has them when it starts by itself. While it runs they are changed by the
 * run-time API: a change of them alone is never a reload.
 */
export function haproxyConfig(settings: HaproxySettings, members: MembersByVip): string {
  return render(settings, members, configIdentity(settings));
}

/**
 * What tells a configuration from another, the members aside. HAProxy is given it as `description` and says it in `show info`: so it
 * can be asked which configuration it runs.
 */
export function configIdentity(settings: HaproxySettings): string {
  const digest = createHash('sha256');
  // The options of members are part of it, as they are in the line of any.
  for (const text of [render(settings, new Map(), ''), checkArguments(settings), settings.ca ?? ''])
    digest.update(text);
  return `bgp-lb-${digest.digest('hex').slice(0, 16)}`;
}

/**
 * What stands behind the name of a member in a `server` line and in `add server`, which inherits nothing from `default-server`.
 * `tcp-ut` would be of use, but HAProxy 2.6 refuses it for servers that are added at run time.
 */
export function serverArguments(settings: HaproxySettings, member: string, port: number): string {
  return `${socketAddress(member, port)} weight ${FULL_WEIGHT} ${checkArguments(settings)}`;
}

function checkArguments({ check, ca, paths }: HaproxySettings): string {
  const { serverName, interval, rise, fall } = check;
  const fast = Math.min(FAST_CHECK, interval);
  return [
    'check check-ssl',
    // The name is part of the check: another cluster's API server with a certificate of the same CA is none of ours.
    ca === undefined ? 'verify none' : `verify required verifyhost ${serverName} ca-file ${paths.caFile}`,
    `check-sni ${serverName}`,
    `inter ${interval}ms fastinter ${fast}ms downinter ${fast}ms rise ${rise} fall ${fall}`,
    // Clients keep one connection for ever: those to a dead member are to begin again elsewhere.
    'on-marked-down shutdown-sessions',
  ].join(' ');
}

function render(settings: HaproxySettings, members: MembersByVip, identity: string): string {
  const lines = [
    '# Written by bgp-lb-router, which replaces it on every change of a member: changes by hand are lost.',
    ...globals(settings, identity),
    ...defaults(settings),
    ...exporter(settings),
    ...settings.vips.flatMap((vip) => proxies(settings, vip, members.get(vip.address) ?? [])),
  ];
  return `${lines.join('\n')}\n`;
}

function globals({ paths, maxConnections, hardStopAfter }: HaproxySettings, identity: string): string[] {
  return [
    'global',
    `  description ${identity}`,
    // The group is the router's, which drives HAProxy. `expose-fd listeners`: a new worker takes the listening sockets over.
    `  stats socket ${paths.socket} mode 660 level admin expose-fd listeners`,
    '  stats timeout 1m',
    `  maxconn ${maxConnections}`,
    `  server-state-file ${paths.stateFile}`,
    // The old worker of a reload ends with its last connection, which of Kubernetes may be never.
    `  hard-stop-after ${hardStopAfter}ms`,
    '  mworker-max-reloads 3',
    // All members are checked at once: a start is the moment in which that counts.
    '  spread-checks 0',
  ];
}

function defaults(settings: HaproxySettings): string[] {
  const { check, idleTimeout, userTimeout } = settings;
  const idle = seconds(userTimeout);
  const interval = seconds(userTimeout / 3);
  return [
    'defaults',
    '  mode tcp',
    '  load-server-state-from-file global',
    '  timeout connect 3s',
    // As long as Kubernetes lets a watch be idle: 20 s to 35 s, as in many guides, cut `kubectl logs -f`, `exec` and watches.
    ...['client', 'server', 'tunnel'].map((name) => `  timeout ${name} ${idleTimeout}ms`),
    '  timeout client-fin 30s',
    `  timeout check ${check.timeout}ms`,
    '  timeout queue 1s',
    // One that has vanished without a word is found by keepalives, not by idleness.
    ...['cli', 'srv'].flatMap((side) => [
      `  option ${side}tcpka`,
      `  ${side}tcpka-idle ${idle}`,
      `  ${side}tcpka-intvl ${interval}`,
      `  ${side}tcpka-cnt 3`,
    ]),
    // A member that refuses costs a client nothing: the next attempt goes to another.
    '  option redispatch 1',
    '  retries 2',
  ];
}

function exporter({ exporter: at }: HaproxySettings): string[] {
  if (at === undefined) return [];
  return [
    '',
    'frontend exporter',
    '  mode http',
    // Prometheus comes back with each scrape: its connections are none of those that are to be kept.
    '  timeout client 10s',
    '  timeout http-request 5s',
    `  bind ${socketAddress(at.host, at.port)} transparent`,
    '  http-request use-service prometheus-exporter if { method GET } { path /metrics }',
    '  http-request return status 404',
  ];
}

function proxies(
  settings: HaproxySettings,
  vip: HaproxyVip,
  members: readonly { readonly member: string; readonly port: number }[],
): string[] {
  const { check, ca, paths, userTimeout } = settings;
  const backend = backendOf(vip.address);
  return [
    '',
    `frontend vip-${vip.address}`,
    // `transparent`: the address need not be there yet. An overlay or keepalived may bring it later.
    `  bind ${socketAddress(vip.address, vip.port)} transparent tcp-ut ${userTimeout}ms`,
    // Clients of an empty pool fail at once instead of waiting in a queue.
    `  tcp-request connection reject if { nbsrv(${backend}) lt 1 }`,
    `  default_backend ${backend}`,
    '',
    `backend ${backend}`,
    // Servers can be added at run time to a backend with a dynamic algorithm only, and `source` would tie an office behind NAT to
    // one member.
    '  balance leastconn',
    '  option httpchk',
    `  http-check send meth GET uri ${check.path} ver HTTP/1.1 hdr Host ${check.serverName} hdr Connection close`,
    // An API server that answers but is not ready gets no new connections and keeps what it has (NOLB); one without an answer is down.
    '  http-check expect status 200 error-status L7OKC',
    // Never used: HAProxy opens the ca-file of a server that is added at run time only where the configuration names it already.
    `  server ${ANCHOR} 127.0.0.1:1 disabled ${ca === undefined ? '' : `check-ssl verify required ca-file ${paths.caFile}`}`.trimEnd(),
    ...members.map(({ member, port }) => `  server ${member} ${serverArguments(settings, member, port)}`),
  ];
}

/** Whole seconds, at least one. */
function seconds(milliseconds: number): string {
  return `${Math.max(1, Math.round(milliseconds / 1000))}s`;
}
