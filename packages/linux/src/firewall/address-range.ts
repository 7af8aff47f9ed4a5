import { addressBytes, ipVersion } from '../internet-address.ts';
import type { Truth } from './firewall-rule.ts';

/**
 * Whether an address is in a range.
 * @param address undefined for any
 */
export function isInPrefix(address: string | undefined, network: string, length: number): Truth {
  if (length === 0) return 'yes';
  if (address === undefined) return 'maybe';
  if (ipVersion(address) !== ipVersion(network)) return 'no';
  return bits(address).slice(0, length) === bits(network).slice(0, length) ? 'yes' : 'no';
}

/** @param address undefined for any */
export function isBetween(address: string | undefined, first: string, last: string): Truth {
  if (address === undefined) return 'maybe';
  if (ipVersion(address) !== ipVersion(first)) return 'no';
  return bits(first) <= bits(address) && bits(address) <= bits(last) ? 'yes' : 'no';
}

function bits(address: string): string {
  return [...addressBytes(address)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
}
