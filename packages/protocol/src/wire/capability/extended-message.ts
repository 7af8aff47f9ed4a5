import type { CapabilityCodec } from './codec.ts';
import { flagCapability } from './codec.ts';

/** BGP Extended Message (RFC 8654 section 3). */
export const extendedMessage: CapabilityCodec<'extended-message'> = flagCapability('extended-message', 6, {
  name: 'extended-message',
});
