import { isIP } from 'node:net';

/** A line of haproxy.cfg, and what became of it. */
interface HaproxyLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** What a haproxy.cfg says of the load balancer of a control plane. */
export interface ImportedConfig {
  /** Where clients connect to; no address where it binds all of them. */
  readonly binds: readonly { readonly address: string | undefined; readonly port: number }[];
  readonly servers: readonly { readonly name: string; readonly address: string; readonly port: number }[];
  /** Of its health checks; `undefined` where it says nothing. */
  readonly check: {
    readonly interval?: number;
    readonly rise?: number;
    readonly fall?: number;
    readonly isVerified: boolean;
  };
  /** Lines whose meaning is known and is not taken, with the reason. */
  readonly replaced: readonly (HaproxyLine & { readonly reason: string })[];
  /** Lines that mean nothing to us. */
  readonly unknown: readonly HaproxyLine[];
}

const ownTimes = 'times are those that cut no watch: see dataplane.idleTimeout';
const tcpOnly = 'connections are carried as they are (mode tcp), HTTP is not looked into';
const ownProcess = 'how HAProxy runs is for its unit to say';

/** What is known and not taken, by how a line begins. The first that fits counts. */
const known: readonly (readonly [RegExp, string])[] = [
  [/^(global|defaults|frontend|backend|listen)\b/, ''],
  [/^(default_backend|use_backend)\b/, ''],
  [/^mode tcp$/, ''],
  [/^mode http$/, tcpOnly],
  [/^(daemon|chroot|user|group|pidfile|stats|maxconn|nbthread|ulimit-n)\b/, ownProcess],
  [/^(log|option (httplog|tcplog|dontlognull|dontlog-normal))\b/, 'connections are not logged'],
  [/^option (http-server-close|http-keep-alive|forwardfor)\b/, tcpOnly],
  [/^timeout (http-request|http-keep-alive)\b/, tcpOnly],
  [/^timeout (connect|client|server|queue|check|tunnel|client-fin)\b/, ownTimes],
  [/^option (redispatch|clitcpka|srvtcpka|tcpka)\b|^retries\b/, 'is done in any case'],
  [/^balance\b/, 'the member with the fewest connections gets the next one'],
  [
    /^option (httpchk|ssl-hello-chk|tcp-check)\b|^http-check\b/,
    'the check is /readyz with status 200, over verified TLS',
  ],
  [/^errorfile\b/, tcpOnly],
  [/^(ssl-default-|tune\.)/, 'TLS is between client and API server'],
];

/** Options of `server` that have a value. */
const valued = new Set([
  'inter',
  'fastinter',
  'downinter',
  'rise',
  'fall',
  'weight',
  'maxconn',
  'verify',
  'ca-file',
  'sni',
  'check-sni',
  'port',
  'init-addr',
  'resolvers',
]);
const plain = new Set(['check', 'check-ssl', 'backup', 'disabled', 'ssl']);

/** Reads haproxy.cfg as kubeadm's guide for high availability has it, and what is near to it. Pure; never throws. */
export function readHaproxyConfig(text: string): ImportedConfig {
  const reader = new Reader();
  for (const [index, line] of text.split('\n').entries()) {
    const bare = line
      .replace(/(^|\s)#.*$/, '')
      .trim()
      .replace(/\s+/g, ' ');
    if (bare !== '') reader.take({ number: index + 1, text: bare });
  }
  return reader.result();
}

class Reader {
  readonly #binds: { address: string | undefined; port: number }[] = [];
  readonly #servers: { name: string; address: string; port: number }[] = [];
  #check: ImportedConfig['check'] = { isVerified: true };
  readonly #replaced: ImportedConfig['replaced'][number][] = [];
  readonly #unknown: HaproxyLine[] = [];

  result(): ImportedConfig {
    return {
      binds: this.#binds,
      servers: this.#servers,
      check: this.#check,
      replaced: this.#replaced,
      unknown: this.#unknown,
    };
  }

  take(line: HaproxyLine): void {
    const [word = '', ...rest] = line.text.split(' ');
    const isTaken =
      (word === 'bind' && this.#bind(line, rest)) ||
      (word === 'server' && this.#server(line, rest)) ||
      (word === 'default-server' && this.#options(line, rest));
    if (isTaken) return;
    const reason = known.find(([pattern]) => pattern.test(line.text))?.[1];
    if (reason === undefined) this.#unknown.push(line);
    else if (reason !== '') this.#replaced.push({ ...line, reason });
  }

  #bind(line: HaproxyLine, [where = '', ...options]: readonly string[]): boolean {
    const found = endpoint(where);
    if (found === undefined) return false;
    const isAll = ['*', '', '0.0.0.0', '::', ':::'].includes(found.host);
    if (!isAll && isIP(found.host) === 0) return false;
    this.#binds.push({ address: isAll ? undefined : found.host, port: found.port });
    const others = options.filter((option) => !['transparent', 'v4v6', 'v6only'].includes(option));
    if (others.length > 0) this.#unknown.push({ ...line, text: `bind ... ${others.join(' ')}` });
    return true;
  }

  #server(line: HaproxyLine, [name = '', where = '', ...options]: readonly string[]): boolean {
    const found = endpoint(where);
    if (name === '' || found === undefined) return false;
    this.#servers.push({ name, address: found.host, port: found.port });
    this.#options(line, options);
    return true;
  }

  #options(line: HaproxyLine, options: readonly string[]): true {
    for (let i = 0; i < options.length; i += 1) {
      const option = options[i] ?? '';
      if (valued.has(option)) {
        i += 1;
        this.#check = { ...this.#check, ...checkSetting(option, options[i] ?? '') };
      } else if (option === 'backup' || option === 'disabled') {
        const reason = 'every member of the list is used: leave out those that are not to be';
        this.#replaced.push({ number: line.number, text: option, reason });
      } else if (!plain.has(option)) {
        this.#unknown.push({ number: line.number, text: option });
      }
    }
    return true;
  }
}

/** What an option of `server` with a value says of checks. */
function checkSetting(option: string, value: string): Partial<ImportedConfig['check']> {
  const interval = milliseconds(value);
  if (option === 'inter' && interval !== undefined) return { interval };
  if (option === 'rise' && /^\d+$/.test(value)) return { rise: Number(value) };
  if (option === 'fall' && /^\d+$/.test(value)) return { fall: Number(value) };
  return option === 'verify' && value === 'none' ? { isVerified: false } : {};
}

/** `10.0.0.1:6443`, `[fd00::1]:6443`, `m1.example.net:6443`, `*:6443`, `:6443` */
function endpoint(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:ipv[46]@)?(?:\[([^\]]*)\]|(.*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port < 1 || port > 65_535) return undefined;
  return { host: match[1] ?? match[2] ?? '', port };
}

/** HAProxy's times are milliseconds without a unit. */
function milliseconds(text: string): number | undefined {
  const match = /^(\d+)(us|ms|s|m|h|d)?$/.exec(text);
  if (match === null) return undefined;
  const factors: Record<string, number> = {
    us: 0.001,
    ms: 1,
    s: 1000,
    m: 60_000,
    h: 3_600_000,
    d: 86_400_000,
  };
  return Number(match[1]) * (factors[match[2] ?? 'ms'] ?? 1);
}
