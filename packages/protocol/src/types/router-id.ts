import type { Brand } from './brand.ts';
import { formatIpAddress, ipAddress, ipv4Number, parseIpAddress } from './ip-address.ts';

/** A BGP Identifier (RFC 4271 section 4.2, RFC 6286): an unsigned 32-bit number other than zero. */
export type RouterId = Brand<number, 'RouterId'>;

/**
 * Checks a number as a BGP Identifier.
 * @throws RangeError when it is not an integer from 1 to 4294967295 (RFC 6286 section 2.1).
 */
export function routerId(value: number): RouterId {
  if (!Number.isInteger(value) || value < 1 || value > 0xffffffff) {
    throw new RangeError(`BGP Identifier ${value}: expected an integer from 1 to 4294967295`);
  }
  return value as RouterId;
}

/**
 * Reads the dotted form, `10.0.0.1`.
 * @throws RangeError naming the text.
 */
export function parseRouterId(text: string): RouterId {
  const address = text.includes(':') ? undefined : parseIpAddress(text);
  if (address === undefined) {
    throw new RangeError(`BGP Identifier "${text}": expected four decimal octets such as 10.0.0.1`);
  }
  return routerId(ipv4Number(address.bytes));
}

/** The dotted form, as all tools show it; also of a CLUSTER_ID, which may be any number. */
export function formatRouterId(id: number): string {
  return formatIpAddress(ipAddress(Uint8Array.of(id >>> 24, id >>> 16, id >>> 8, id)));
}
