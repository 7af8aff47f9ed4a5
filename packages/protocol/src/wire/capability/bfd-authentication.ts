import type { CapabilityCodec } from './codec.ts';

/** Code 239 is the first of those for experiments (RFC 8810 section 3): these octets tell ours from others'. */
const magic = [...'bgp-lb'].map((letter) => letter.charCodeAt(0));
/** Meticulous Keyed SHA1 (RFC 5880 section 4.1): the only Auth Type. */
const authType = 5;
const nonceLength = 16;

/**
 * The sender can authenticate BFD by a key made of the session's password and both ends' nonces (ADR 24):
 *
 *     | "bgp-lb" (6) | Auth Type (1) | nonce (16) |
 */
export const bfdAuthentication: CapabilityCodec<'bfd-authentication'> = {
  name: 'bfd-authentication',
  code: 239,
  decode(reader) {
    const head = reader.bytes(magic.length);
    if (magic.some((octet, index) => head[index] !== octet) || reader.u8() !== authType) return undefined;
    return { name: 'bfd-authentication', nonce: reader.bytes(nonceLength) };
  },
  encode(writer, { nonce }) {
    writer.bytes(Uint8Array.from([...magic, authType, ...nonce]));
  },
};
