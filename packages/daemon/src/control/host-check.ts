import { isIP } from 'node:net';

/**
 * The `Host` header against DNS rebinding: a page of another site can make its own name resolve to this listener, and the
 * browser would then let it read the answers. Its requests carry the page's name, so names are refused unless they are known.
 */
export class HostCheck {
  readonly #allowed: ReadonlySet<string>;

  constructor(allowedHosts: readonly string[]) {
    this.#allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  }

  /** True for loopback names, the address that the connection came to, and the configured names. */
  accepts(header: string | undefined, localAddress: string | undefined): boolean {
    const host = header === undefined ? undefined : hostOf(header);
    if (host === undefined) return false;
    return (
      isLoopback(host) || this.#allowed.has(host) || (isIP(host) !== 0 && host === unmapped(localAddress))
    );
  }
}

/** The host of `host`, `host:port`, `[v6]:port`, lower case without a final dot; undefined when the header is none of these. */
function hostOf(header: string): string | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9._-]+))(?::\d{1,5})?$/.exec(header);
  const host = match?.[1] ?? match?.[2];
  return host?.toLowerCase().replace(/\.$/, '');
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** A dual-stack listener sees IPv4 peers as `::ffff:a.b.c.d`. */
function unmapped(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/, '');
}
