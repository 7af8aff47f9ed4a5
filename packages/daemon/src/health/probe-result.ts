/**
 * What a probe found.
 *
 * `ok` 200; `unauthorized` 401 or 403; `status` any other status; `refused` the port is closed (a TCP reset answered the SYN);
 * `unreachable` no way to the host (ICMP or no route); `timeout` nothing, or not all, within the time; `tls` the handshake or the
 * certificate is bad; `shortage` this process, or its host, is out of descriptors, memory or ports: no server was asked, and it says
 * nothing of the server; `error` anything else, like a connection reset after it was made, or an answer that is not HTTP.
 */
export type ProbeKind =
  | 'ok'
  | 'status'
  | 'unauthorized'
  | 'refused'
  | 'timeout'
  | 'tls'
  | 'unreachable'
  | 'shortage'
  | 'error';

/** The server's certificate, as far as a preflight needs it. */
export interface PeerCertificate {
  /** DNS names and IP addresses (canonical text) of the subjectAltName extension, in order. */
  readonly subjectAltNames: readonly string[];
  /** ISO 8601. */
  readonly validFrom: string;
  readonly validTo: string;
  /** `publicKeyHash` of the certificate that signed this one, when the CA file or the server's chain has it. */
  readonly issuerKeyHash?: string;
}

/** The outcome of one probe. */
export interface ProbeResult {
  readonly kind: ProbeKind;
  /** HTTP status, when there was an answer. */
  readonly status?: number;
  /** The checks that a Kubernetes API server names as failing (`[-]etcd failed`), in its order. */
  readonly failing?: readonly string[];
  readonly tookMs: number;
  /** One sentence for people. Words of the server in it are bounded and harmless. */
  readonly detail: string;
  /** errno name or TLS error code behind `refused`, `timeout`, `tls`, `unreachable`, `shortage` and `error`. */
  readonly code?: string;
  /** True when the certificate chains to the CA and names the server; false without a CA. */
  readonly isVerified: boolean;
  /** Things that do not fail the probe, like a certificate outside its dates. */
  readonly warnings: readonly string[];
  readonly certificate?: PeerCertificate;
}

/** The most failing checks that are kept of an answer. */
const MAX_FAILING = 64;

/** The failing checks of an API server's verbose health text: lines like `[-]etcd failed: reason withheld`. */
export function failingChecks(body: string): string[] {
  const names: string[] = [];
  for (const match of body.matchAll(/^\[-\](\S{1,128}) failed/gm)) {
    if (match[1] !== undefined && names.length < MAX_FAILING) names.push(match[1]);
  }
  return names;
}

const UNREACHABLE = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EACCES', 'EINVAL']);
/** EADDRNOTAVAIL of connect(2): every local port is in use, or no address of this host may be used. */
const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL']);
const TIMEOUTS = new Set(['ETIMEDOUT', 'EAGAIN']);

/** The kind of a failure by its errno name. EACCES and EINVAL are a prohibit and a blackhole route (fib_props of fib_semantics.c). */
export function kindOfErrno(code: string | undefined): ProbeKind {
  if (code === undefined) return 'error';
  if (code === 'ECONNREFUSED') return 'refused';
  if (TIMEOUTS.has(code)) return 'timeout';
  if (SHORTAGES.has(code)) return 'shortage';
  return UNREACHABLE.has(code) ? 'unreachable' : 'error';
}
