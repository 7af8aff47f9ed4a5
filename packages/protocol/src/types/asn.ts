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

/**
 * Reads an AS number in asplain (`65550`) or asdot (`1.14`) notation (RFC 5396 section 2).
 * @throws RangeError naming the text.
 */
export function parseAsn(text: string): Asn {
  const match = /^(?:([0-9]{1,5})\.)?([0-9]{1,10})$/.exec(text);
  const [, high, low = ''] = match ?? [];
  const isDot = high !== undefined;
  if (match === null || (isDot && (Number(high) > 0xffff || Number(low) > 0xffff))) {
    throw new RangeError(`AS number "${text}": expected 1 to 4294967295, or asdot such as 1.14`);
  }
  return asn(isDot ? Number(high) * 0x10000 + Number(low) : Number(low));
}

/** The text of an AS number: asplain, which RFC 5396 section 3 makes the one to use. */
export function formatAsn(value: Asn): string {
  return String(value);
}

/** True when the number fits a 2-octet field (RFC 6793 section 2: "mappable"). */
export function isTwoOctetAsn(value: Asn): boolean {
  return value <= 0xffff;
}

/** True for the ranges that RFC 6996 section 5 sets aside for private use. */
export function isPrivateAsn(value: Asn): boolean {
  return (value >= 64512 && value <= 65534) || (value >= 4200000000 && value <= 4294967294);
}
