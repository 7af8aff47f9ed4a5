import type { Family } from '../types/family.ts';
import { ipv4Unicast } from '../types/family.ts';
import type { UpdateMessage } from '../wire/message.ts';

/**
 * The End-of-RIB marker of a family (RFC 4724 section 2): for IPv4 unicast an UPDATE with nothing in it, for others one
 * with an MP_UNREACH_NLRI of no prefix. It never carries a path identifier.
 */
export function endOfRib(family: Family): UpdateMessage {
  return {
    type: 'UPDATE',
    withdrawn: [],
    attributes: undefined,
    nlri: [],
    mpReach: undefined,
    mpUnreach: family === ipv4Unicast ? undefined : { family, nlri: [] },
  };
}

/** The family whose End-of-RIB marker this UPDATE is, or `undefined` when it is an UPDATE that says something. */
export function isEndOfRib(update: UpdateMessage<{ readonly length: number }>): Family | undefined {
  const saysMore =
    update.nlri.length > 0 ||
    update.withdrawn.length > 0 ||
    update.mpReach !== undefined ||
    update.attributes !== undefined;
  if (saysMore) return undefined;
  if (update.mpUnreach === undefined) return ipv4Unicast;
  return update.mpUnreach.nlri.length === 0 ? update.mpUnreach.family : undefined;
}
