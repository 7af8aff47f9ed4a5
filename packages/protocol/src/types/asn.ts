import type { Brand } from './brand.ts';

/** A 4-octet Autonomous System number (RFC 6793), 1 to 4294967295. */
export type Asn = Brand<number, 'Asn'>;

/** The reserved number that stands for a 4-octet AS in 2-octet fields (RFC 6793 section 9). */
export const AS_TRANS: Asn = 23456 as Asn;

/**
 * Checks a number as an AS number.
 * @throws RangeError when it is not an integer from 1 to 4294967295 (AS 0 is barred by RFC 7607).
 */
export function asn(value: number): Asn {
  if (!Number.isInteger(value) || value < 1 || value > 0xffffffff) {
    throw new RangeError(`AS number ${value}: expected an integer from 1 to 4294967295`);
  }
  return value as Asn;
}

/** True for the ranges that RFC 6996 section 5 sets aside for private use. */
export function isPrivateAsn(value: Asn): boolean {
  return (value >= 64512 && value <= 65534) || (value >= 4200000000 && value <= 4294967294);
}
