import { haproxySections, type Section, wholeSection } from './haproxy-sections.ts';
import { whyNotTaken } from './known-lines.ts';
import { type Bind, type NotTaken, type ProxySection, readProxy, type Server } from './read-proxy.ts';

/** A way from clients to API servers. */
export interface ImportedPool {
  /** Of the `frontend` or `listen`. */
  readonly name: string;
  readonly binds: readonly Bind[];
  readonly servers: readonly Server[];
}

/** What a haproxy.cfg says of the load balancer of a control plane. */
export interface ImportedConfig {
  readonly pools: readonly ImportedPool[];
  /** Lines whose meaning is known and is not needed, with the reason. */
  readonly replaced: readonly NotTaken[];
  /** Lines that may be missed: not understood, or with a reason why they are not to be had. */
  readonly left: readonly NotTaken[];
}

/** One `frontend` or `listen` with binds, and the servers behind it. */
interface Candidate {
  readonly proxy: ProxySection;
  /** Where the servers are: itself, or its backend. */
  readonly behind: ProxySection;
}

const apiPort = 6443;

/** Reads haproxy.cfg as kubeadm's guide for high availability has it, and what is near to it. Pure; never throws. */
export function readHaproxyConfig(text: string): ImportedConfig {
  const replaced: NotTaken[] = [];
  const left: NotTaken[] = [];
  const proxies: ProxySection[] = [];
  const defaults = new Map<string, ProxySection>();
  let latest: ProxySection | undefined;
  for (const section of haproxySections(text)) {
    const { kind } = section;
    if (kind === 'defaults') {
      latest = readProxy(section, defaultsOf(section, defaults, undefined));
      defaults.set(section.name, latest);
      replaced.push(...latest.replaced);
      left.push(...latest.left);
    } else if (kind === 'frontend' || kind === 'backend' || kind === 'listen')
      proxies.push(readProxy(section, defaultsOf(section, defaults, latest)));
    else if (kind === 'global') {
      for (const line of section.lines) {
        const reason = whyNotTaken(line.text, kind);
        if (reason === undefined) left.push(line);
        else replaced.push({ ...line, reason });
      }
    } else if (kind === 'resolvers')
      replaced.push({ ...wholeSection(section), reason: 'the router looks names up' });
    else left.push(...section.lines, ...(section.heading === undefined ? [] : [section.heading]));
  }
  const chosen = choose(proxies);
  const byNumber = (a: NotTaken, b: NotTaken): number => a.number - b.number;
  return {
    pools: chosen.pools,
    replaced: [...replaced, ...chosen.replaced].sort(byNumber),
    left: [...left, ...chosen.left].sort(byNumber),
  };
}

function defaultsOf(
  { heading }: Section,
  named: ReadonlyMap<string, ProxySection>,
  latest: ProxySection | undefined,
): ProxySection | undefined {
  const at = heading?.words.indexOf('from', 1) ?? -1;
  return at < 0 ? latest : named.get(heading?.words[at + 1] ?? '');
}

/** Which of them lead to API servers: those that say so by port 6443 or by what their check asks for, or the only one there is. */
function choose(proxies: readonly ProxySection[]): ImportedConfig {
  const replaced: NotTaken[] = [];
  const left: NotTaken[] = [];
  const candidates: Candidate[] = [];
  for (const proxy of proxies.filter(({ section }) => section.kind !== 'backend')) {
    const behind = proxy.target === undefined ? proxy : backendOf(proxy.target, proxies);
    const refusal = whyNoCandidate(proxy, behind);
    if (refusal === undefined) candidates.push({ proxy, behind: behind ?? proxy });
    else {
      const { reason, isNoLoss } = refusal;
      (isNoLoss ? replaced : left).push({ ...wholeSection(proxy.section), reason });
      if (!isNoLoss) left.push(...new Set([...proxy.left, ...(behind?.left ?? [])]));
    }
  }
  const sure = candidates.filter(isOfApi);
  const taken = sure.length === 0 && candidates.length === 1 ? candidates : sure;
  for (const { proxy } of candidates.filter((one) => !taken.includes(one))) {
    const reason = `nothing says that API servers are behind it: port ${apiPort}, or a check of /readyz, /livez or /healthz`;
    left.push({ ...wholeSection(proxy.section), reason });
  }
  const used = new Set(taken.flatMap(({ proxy, behind }) => [proxy, behind]));
  for (const proxy of used) {
    replaced.push(...proxy.replaced);
    left.push(...proxy.left);
  }
  for (const { section } of proxies.filter((one) => one.section.kind === 'backend' && !used.has(one)))
    replaced.push({ ...wholeSection(section), reason: 'nothing that is taken over leads to it' });
  const pools = taken.map(({ proxy, behind }) => ({
    name: proxy.section.name,
    binds: proxy.binds,
    servers: behind.servers,
  }));
  return { pools, replaced, left };
}

/** Why a `frontend` or `listen` leads to no API server, and whether it can be done without. */
function whyNoCandidate(
  proxy: ProxySection,
  behind: ProxySection | undefined,
): { readonly reason: string; readonly isNoLoss: boolean } | undefined {
  if (proxy.isDisabled) return { reason: 'it is disabled', isNoLoss: true };
  if (behind === undefined) return { reason: `there is no backend ${String(proxy.target)}`, isNoLoss: false };
  if (behind.servers.length === 0) {
    // Conditions may lead to servers, and a line that is not understood may name one.
    const isPlain = (one: ProxySection): boolean =>
      one.left.every(({ reason }) => reason === undefined && proxy.mode !== 'tcp');
    return { reason: 'no server is behind it', isNoLoss: isPlain(proxy) && isPlain(behind) };
  }
  if (proxy.mode !== 'tcp' || behind.mode !== 'tcp')
    return { reason: `it is not mode tcp, in which connections are carried as they are`, isNoLoss: false };
  // A `listen` without a bind is what others lead to, unless its bind is not understood.
  return proxy.binds.length === 0
    ? { reason: 'it has no bind', isNoLoss: proxy.left.length === 0 }
    : undefined;
}

function isOfApi({ proxy, behind }: Candidate): boolean {
  return behind.asksApi || [...proxy.binds, ...behind.servers].some(({ port }) => port === apiPort);
}

function backendOf(name: string, proxies: readonly ProxySection[]): ProxySection | undefined {
  return proxies.find(({ section }) => section.kind !== 'frontend' && section.name === name);
}
