import { formatHostPort, HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import type { VipConfig } from '../config/speaker-config.ts';
import type { BindCheck } from '../lifecycle/lifecycle-input.ts';

export interface VipCheckOptions {
  readonly vip: VipConfig;
  readonly serverName: string;
  readonly path: string;
  /** DNS name that clients use instead of the VIP, when there is one. */
  readonly endpoint: string | undefined;
  readonly ca: () => string | undefined;
  /** Milliseconds. */
  readonly timeout: number;
}

export interface VipCheckResult {
  readonly check: Exclude<BindCheck, 'pending'>;
  readonly detail: string;
}

/**
 * One connection to VIP:port on this host, as a client would make it: through address and port mapping, by TLS, to a server
 * with a certificate of this cluster that has the name that clients use. What the server says is the readiness probe's matter.
 */
export async function checkVip(options: VipCheckOptions): Promise<VipCheckResult> {
  const { vip, serverName, path, ca, timeout } = options;
  const where = formatHostPort({ host: vip.address, port: vip.port });
  if (ca() === undefined) return { check: 'failed', detail: `${where} is not checked without ca.crt` };
  const { address, port } = vip;
  const probe = new HttpsProbe({ address, port, serverName, path, ca, timeoutMs: timeout, keepAlive: false });
  try {
    return judgeVipCheck(where, options.endpoint ?? vip.address, await probe.probe());
  } finally {
    probe.close();
  }
}

/** The check's result from what the probe saw. Pure. */
export function judgeVipCheck(where: string, name: string, result: ProbeResult): VipCheckResult {
  const { kind, isVerified, certificate, detail } = result;
  const isAnswered = kind === 'ok' || kind === 'status' || kind === 'unauthorized' || kind === 'timeout';
  if (!isAnswered || !isVerified || certificate === undefined) {
    return { check: 'failed', detail: `${where} does not answer on this host: ${detail}` };
  }
  if (!certificate.subjectAltNames.some((covered) => covers(covered, name))) {
    return {
      check: 'wrong-certificate',
      detail: `the API server's certificate lacks the name ${name} (it has ${certificate.subjectAltNames.join(', ')})`,
    };
  }
  return { check: 'passed', detail: `${where} answers on this host` };
}

/** RFC 6125 section 6.4: equal without regard to case, or with a wildcard as the whole leftmost label. */
function covers(pattern: string, name: string): boolean {
  const [wanted, given] = [name.toLowerCase(), pattern.toLowerCase()];
  if (wanted === given) return true;
  return (
    given.startsWith('*.') && wanted.includes('.') && wanted.slice(wanted.indexOf('.')) === given.slice(1)
  );
}
