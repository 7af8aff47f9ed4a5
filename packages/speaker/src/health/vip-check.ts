import { formatHostPort, HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import type { VipConfig } from '../config/speaker-config.ts';
import type { BindCheck } from '../lifecycle/lifecycle-input.ts';

export interface VipCheckOptions {
  readonly vip: VipConfig;
  readonly path: string;
  /** Where a load balancer connects to instead of the VIP. */
  readonly at?: { readonly host: string; readonly port: number } | undefined;
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
  const { vip, path, ca, timeout } = options;
  const place = options.at ?? { host: vip.address, port: vip.port };
  const where = formatHostPort(place);
  if (ca() === undefined) return { check: 'failed', detail: `${where} is not checked without ca.crt` };
  const { host: address, port } = place;
  const serverName = options.endpoint ?? vip.address;
  const probe = new HttpsProbe({ address, port, serverName, path, ca, timeoutMs: timeout, keepAlive: false });
  try {
    return judgeVipCheck(where, serverName, await probe.probe());
  } finally {
    probe.close();
  }
}

/** What Node calls a certificate of the right CA without the name that was asked for. */
const NAME_MISSING = 'ERR_TLS_CERT_ALTNAME_INVALID';

/** The check's result from what the probe saw. Pure. */
export function judgeVipCheck(where: string, name: string, result: ProbeResult): VipCheckResult {
  const { isVerified, certificate, detail, code } = result;
  if (code === NAME_MISSING) {
    const names = certificate?.subjectAltNames.join(', ') ?? 'none';
    return {
      check: 'wrong-certificate',
      detail: `the API server's certificate lacks the name ${name} (it has ${names})`,
    };
  }
  // By TLS a server of this cluster has answered: whether it is well is the readiness probe's matter.
  if (!isVerified) return { check: 'failed', detail: `${where} does not answer on this host: ${detail}` };
  return { check: 'passed', detail: `${where} answers on this host` };
}
