import type { Brand } from './brand.ts';

/** A BGP Identifier (RFC 4271 section 4.2, RFC 6286): an unsigned 32-bit number other than zero. */
export type RouterId = Brand<number, 'RouterId'>;
