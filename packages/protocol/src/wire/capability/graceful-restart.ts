import { EncodeError } from '../errors.ts';
import type { AfiSafi } from './capability.ts';
import type { CapabilityCodec } from './codec.ts';

const RESTARTING = 0x8000;
const NOTIFICATION = 0x4000;
const MAX_RESTART_TIME = 0x0fff;
const FORWARDING_PRESERVED = 0x80;

/**
 * Graceful Restart (RFC 4724 section 3, N bit of RFC 8538 section 2):
 *
 *     | R, N, reserved (4 bits) | restart time (12 bits) | then per family: AFI (2) | SAFI (1) | F, reserved (1) |
 */
export const gracefulRestart: CapabilityCodec<'graceful-restart'> = {
  name: 'graceful-restart',
  code: 64,
  decode(reader) {
    const head = reader.u16();
    const families: (AfiSafi & { forwardingPreserved: boolean })[] = [];
    while (reader.remaining > 0) {
      const afi = reader.u16();
      const safi = reader.u8();
      families.push({ afi, safi, forwardingPreserved: (reader.u8() & FORWARDING_PRESERVED) !== 0 });
    }
    return {
      name: 'graceful-restart',
      restarting: (head & RESTARTING) !== 0,
      notification: (head & NOTIFICATION) !== 0,
      restartTime: head & MAX_RESTART_TIME,
      families,
    };
  },
  encode(writer, { restarting, notification, restartTime, families }) {
    if (restartTime > MAX_RESTART_TIME) {
      throw new EncodeError(`restart time ${restartTime} s: allowed 0 to ${MAX_RESTART_TIME}`);
    }
    writer.u16(restartTime + (restarting ? RESTARTING : 0) + (notification ? NOTIFICATION : 0));
    for (const { afi, safi, forwardingPreserved } of families) {
      writer.u16(afi);
      writer.u8(safi);
      writer.u8(forwardingPreserved ? FORWARDING_PRESERVED : 0);
    }
  },
};
