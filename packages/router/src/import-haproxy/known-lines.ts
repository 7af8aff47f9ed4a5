const ownTimes = 'times are those that cut no watch: see dataplane.idleTimeout';
const tcpOnly = 'connections are carried as they are (mode tcp), HTTP is not looked into';
const ownProcess = 'how HAProxy runs is for its unit to say';
const notLogged = 'connections are not logged';
const inAnyCase = 'is done in any case';
const oneLimit = 'see dataplane.maxConnections';

/** What is known and not taken, by how a line begins, with the reason. The first that fits counts. */
const inGlobal: readonly (readonly [RegExp, string])[] = [
  [
    /^(daemon|chroot|user|group|pidfile|stats|nbthread|nbproc|cpu-map|ulimit-n|master-worker|hard-stop-after|ca-base|crt-base|node|description)\b/,
    ownProcess,
  ],
  [/^maxconn\b/, oneLimit],
  [/^(log|log-tag|log-send-hostname)\b/, notLogged],
  [/^(ssl-default-|ssl-server-verify\b|ssl-dh-param-file\b|tune\.)/, 'TLS is between client and API server'],
];

const inProxies: readonly (readonly [RegExp, string])[] = [
  [
    /^(log|log-format|log-tag|option (httplog|tcplog|dontlognull|dontlog-normal|log-health-checks|logasap))\b/,
    notLogged,
  ],
  [/^option (http-server-close|http-keep-alive|httpclose|forwardfor)\b/, tcpOnly],
  [/^timeout (http-request|http-keep-alive)\b/, tcpOnly],
  [/^timeout (connect|client|server|queue|check|tunnel|client-fin|server-fin)\b/, ownTimes],
  [/^option (redispatch|clitcpka|srvtcpka|tcpka)\b|^retries\b|^(clitcpka|srvtcpka)-/, inAnyCase],
  [/^(balance|hash-type)\b/, 'the member with the fewest connections gets the next one'],
  [
    /^option (httpchk|ssl-hello-chk|tcp-check)\b|^(http-check|tcp-check)\b/,
    'the check is /readyz with status 200, over verified TLS',
  ],
  [/^(errorfile|errorfiles|http-reuse|monitor-uri)\b/, tcpOnly],
  [/^(maxconn|fullconn)\b/, oneLimit],
  [/^stats\b/, "statistics are the router's: see `status` and its metrics"],
  [/^(description|id|enabled)\b/, 'says nothing of what HAProxy does'],
];

/** Why a line that is not taken over is not needed; undefined for one that is not understood. */
export function whyNotTaken(line: string, section: string): string | undefined {
  const table = section === 'global' ? inGlobal : inProxies;
  return table.find(([pattern]) => pattern.test(line))?.[1];
}

const everyMember = 'members share new connections evenly';
const verified = 'the check verifies by healthCheck.caFile and healthCheck.serverName';
const looksUp = 'the router looks names up';
const onePace = 'checks have one pace: healthCheck.interval';
const sameEndpoint = 'the check goes where connections go';

/** Options of `server` with a value that are known and not taken, with the reason. */
const serverOptions: ReadonlyMap<string, string> = new Map([
  ...(['weight', 'slowstart'] as const).map((name) => [name, everyMember] as const),
  ...(['maxconn', 'minconn', 'maxqueue'] as const).map((name) => [name, oneLimit] as const),
  ...(['fastinter', 'downinter'] as const).map((name) => [name, onePace] as const),
  ...(['ca-file', 'crl-file', 'check-sni', 'sni', 'verifyhost'] as const).map(
    (name) => [name, verified] as const,
  ),
  ...(['init-addr', 'resolvers', 'resolve-prefer'] as const).map((name) => [name, looksUp] as const),
  ...(['port', 'addr'] as const).map((name) => [name, sameEndpoint] as const),
]);

/** The same for an option of `server` that has a value. */
export function whyOptionNotTaken(option: string, value: string): string | undefined {
  if (option === 'on-marked-down') return value === 'shutdown-sessions' ? inAnyCase : undefined;
  return serverOptions.get(option);
}
