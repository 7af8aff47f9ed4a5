import { BlockList, isIPv6 } from 'node:net';

/** How fast BFD with a neighbor is (RFC 5880 section 6.8.1). Intervals in milliseconds. */
export interface BfdTimingConfig {
  readonly transmitInterval: number;
  readonly receiveInterval: number;
  readonly detectMultiplier: number;
}

/** The same as it is configured: what is left out follows from the neighbor's address. */
export type PartialBfdTiming = { readonly [K in keyof BfdTimingConfig]?: BfdTimingConfig[K] | undefined };

const usual: BfdTimingConfig = { transmitInterval: 300, receiveInterval: 300, detectMultiplier: 3 };
/** Packets may go by a relay, or wait until a direct way was negotiated: neither is a death. */
const relayed: BfdTimingConfig = { transmitInterval: 1000, receiveInterval: 1000, detectMultiplier: 5 };

/** Tailscale's addresses: the shared address space that carriers have for NAT, and its unique local prefix. */
const overlays = new BlockList();
overlays.addSubnet('100.64.0.0', 10, 'ipv4');
overlays.addSubnet('fd7a:115c:a1e0::', 48, 'ipv6');

/** What `bfdTiming` does, for descriptions of keys. */
export const bfdTimingDefaults: Readonly<Record<keyof BfdTimingConfig, string>> = {
  transmitInterval: 'Default: 300ms; 1s with one in 100.64.0.0/10 or fd7a:115c:a1e0::/48.',
  receiveInterval: 'Default: 300ms; 1s with one in 100.64.0.0/10 or fd7a:115c:a1e0::/48.',
  detectMultiplier: 'Default: 3; 5 with one in 100.64.0.0/10 or fd7a:115c:a1e0::/48.',
};

/**
 * The timing with the neighbor of this address: what is configured, and for the rest 300 ms x 3, or 1 s x 5 where its address is one of
 * Tailscale's.
 * @param address canonical text, which may have a zone
 */
export function bfdTiming(configured: PartialBfdTiming, address: string): BfdTimingConfig {
  const plain = address.replace(/%.*$/, '');
  const rest = overlays.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4') ? relayed : usual;
  return {
    transmitInterval: configured.transmitInterval ?? rest.transmitInterval,
    receiveInterval: configured.receiveInterval ?? rest.receiveInterval,
    detectMultiplier: configured.detectMultiplier ?? rest.detectMultiplier,
  };
}
