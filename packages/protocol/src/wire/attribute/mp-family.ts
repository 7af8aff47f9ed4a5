import type { Family } from '../../types/family.ts';
import type { CodecContext } from '../context.ts';
import { EncodeError } from '../errors.ts';

/** The family of an AFI/SAFI pair where both sides offered it (RFC 4760 section 8). */
export function negotiatedFamily(context: CodecContext, afi: number, safi: number): Family | undefined {
  return context.families.find((family) => family.afi === afi && family.safi === safi);
}

/** Nothing of a family that was not negotiated is ever sent, not even its End-of-RIB: there are peers that reset on it. */
export function requireNegotiated(context: CodecContext, family: Family): void {
  if (!context.families.includes(family)) {
    throw new EncodeError(`${family.name} was not negotiated with this peer`);
  }
}
