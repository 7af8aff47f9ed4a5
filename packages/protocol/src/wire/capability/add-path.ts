import type { AddPathMode, AfiSafi } from './capability.ts';
import type { CapabilityCodec } from './codec.ts';

/**
 * ADD-PATH (RFC 7911 section 4), per family:
 *
 *     | AFI (2) | SAFI (1) | send/receive (1) |
 *
 * A tuple whose last field is none of 1, 2, 3 is ignored, as that section asks.
 */
export const addPath: CapabilityCodec<'add-path'> = {
  name: 'add-path',
  code: 69,
  decode(reader) {
    const families: (AfiSafi & { mode: AddPathMode })[] = [];
    while (reader.remaining > 0) {
      const afi = reader.u16();
      const safi = reader.u8();
      const mode = reader.u8();
      if (mode === 1 || mode === 2 || mode === 3) families.push({ afi, safi, mode });
    }
    return { name: 'add-path', families };
  },
  encode(writer, { families }) {
    for (const { afi, safi, mode } of families) {
      writer.u16(afi);
      writer.u8(safi);
      writer.u8(mode);
    }
  },
};
