import type { CapabilityCodec } from './codec.ts';

/**
 * Multiprotocol Extensions (RFC 4760 section 8):
 *
 *     | AFI (2) | reserved (1) | SAFI (1) |
 */
export const multiprotocol: CapabilityCodec<'multiprotocol'> = {
  name: 'multiprotocol',
  code: 1,
  decode(reader) {
    const afi = reader.u16();
    reader.skip(1);
    return { name: 'multiprotocol', afi, safi: reader.u8() };
  },
  encode(writer, { afi, safi }) {
    writer.u16(afi);
    writer.u8(0);
    writer.u8(safi);
  },
};
