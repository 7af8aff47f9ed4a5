import type { ProbeResult } from '@bgp-lb/daemon';

export interface WaitOptions {
  /** `10.0.0.100:6443`, for messages. */
  readonly endpoint: string;
  /** One attempt to reach the API server through the endpoint. Never rejects. */
  readonly probe: () => Promise<ProbeResult>;
  /** Milliseconds, all of it. */
  readonly timeout: number;
  /** Milliseconds between attempts. */
  readonly interval: number;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Told each new reason why it does not answer, with what to look at. */
  readonly say: (message: string) => void;
}

/** How the waiting ended. */
export type WaitOutcome =
  | { readonly answers: true; readonly detail: string }
  | { readonly answers: false; readonly detail: string };

/** What is most likely missing when an attempt ends so, and where to look. */
const hints: Partial<Record<ProbeResult['kind'], string>> = {
  unreachable:
    'the load balancer has no master in its pool yet (`bgp-lb-router status` there), or is not on the link (`ip neigh`)',
  timeout: 'nothing answers there: is the load balancer up, and does a firewall let the port through?',
  refused:
    'a host answers for the VIP, and no API server listens there: the load balancer itself while its pool is empty, or a master whose API server has ended; `bgp-lb-router status` says which',
  tls: 'the API server is not the one that the CA file is of: a leftover of another cluster is removed by `kubeadm reset`',
};

/** The one answer that this host gives itself, before a packet leaves it. */
const NO_ROUTE = 'this host has no route to the VIP: see `ip route get`, and `routeToVip`';

/**
 * Waits until an API server answers through an endpoint: kubeadm's own discovery gives up after five minutes, and the first
 * master or the load balancer may boot later than that. 401 and 403 are answers: who may ask is not the question here.
 */
export async function waitForApi(options: WaitOptions): Promise<WaitOutcome> {
  const { endpoint, probe, timeout, interval, now, sleep, say } = options;
  const end = now() + timeout;
  let said = '';
  for (;;) {
    const { kind, detail, code } = await probe();
    if (kind === 'ok' || kind === 'unauthorized') {
      return { answers: true, detail: `the API server answers at ${endpoint} (${detail})` };
    }
    const hint = code === 'ENETUNREACH' ? NO_ROUTE : hints[kind];
    const reason = `${endpoint}: ${detail}${hint === undefined ? '' : `; ${hint}`}`;
    if (now() + interval >= end) {
      return {
        answers: false,
        detail: `the API server did not answer within ${timeout / 1000} s: ${reason}`,
      };
    }
    // The same reason in other words, with other times in it, is no news.
    if (kind !== said) say(`waiting for ${reason}`);
    said = kind;
    await sleep(interval);
  }
}
