import {
  formatPrefix,
  type ImportPolicy,
  nextHopText,
  type Path,
  type Prefix,
  prefixKey,
  WellKnownCommunity,
} from '@bgp-lb/protocol';

/** Another master, as the routers tell of it: they reflect the paths that they forward to (RFC 4456). */
export interface OtherMaster {
  /** The VIP as a prefix. */
  readonly vip: string;
  readonly address: string;
  /** The routers that forward to it, by their addresses. */
  readonly routers: readonly string[];
  /** It asks every router for as little as possible (RFC 8326): it drains, or its API server is not ready. */
  readonly asksForLess: boolean;
}

/** What is taken from a router: the VIPs that this master has too. It is known, and never put into the kernel (invariant 4). */
export function otherMastersPolicy(vips: readonly Prefix[]): ImportPolicy {
  const allowed = new Set(vips.map(prefixKey));
  return (prefix, attributes) =>
    allowed.has(prefixKey(prefix))
      ? { accept: true, attributes }
      : { accept: false, reason: `not a VIP of this master: ${formatPrefix(prefix)}` };
}

/**
 * The other masters in the pools, in order.
 * @param received what each router has announced
 * @param own addresses of this master: an external router may send our own path back
 */
export function otherMasters(
  received: readonly { readonly router: string; readonly paths: readonly Path[] }[],
  own: readonly string[],
): readonly OtherMaster[] {
  const found = new Map<string, { vip: string; address: string; routers: string[]; asksForLess: boolean }>();
  for (const { router, paths } of received) {
    for (const path of paths) {
      const { prefix, attributes } = path;
      const { communities, localPref } = attributes;
      const address = nextHopText(path);
      if (address === '' || own.includes(address)) continue;
      const vip = formatPrefix(prefix);
      const asksForLess =
        localPref === 0 || communities?.includes(WellKnownCommunity.GracefulShutdown) === true;
      const key = `${vip} ${address}`;
      const known = found.get(key);
      found.set(key, {
        vip,
        address,
        routers: [...new Set([...(known?.routers ?? []), router])],
        asksForLess: asksForLess && (known?.asksForLess ?? true),
      });
    }
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, master]) => master);
}
