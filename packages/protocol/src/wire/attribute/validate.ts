import { AS_TRANS, isTwoOctetAsn } from '../../types/asn.ts';
import type { IpAddress } from '../../types/ip-address.ts';
import { formatIpAddress } from '../../types/ip-address.ts';
import type { CodecContext } from '../context.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import { SegmentType } from '../path-attributes.ts';
import { asPath } from './as-path.ts';
import type { DecodedAttributes } from './decode.ts';
import type { Faults } from './faults.ts';
import { localPref } from './local-pref.ts';
import { mpReach } from './mp-reach.ts';
import { nextHop } from './next-hop.ts';
import { origin } from './origin.ts';
import type { AttributeEntry } from './registry.ts';
import { attributeEntry } from './registry.ts';

/**
 * Judges attributes that could all be read: may the routes be used? Called only when the message announces any,
 * so that a message of withdrawals needs no special case.
 */
export function validateAttributes(
  attributes: DecodedAttributes,
  hasNlri: boolean,
  context: CodecContext,
  faults: Faults,
): void {
  const { values } = attributes;
  requirePresent(attributes, origin.code, faults);
  requirePresent(attributes, asPath.code, faults);
  // RFC 4271 section 5.1.5: LOCAL_PREF is in every UPDATE between internal peers.
  if (context.isInternal) requirePresent(attributes, localPref.code, faults);
  if (hasNlri) {
    requirePresent(attributes, nextHop.code, faults);
    checkHost(nextHop.code, values.nextHop, faults);
  }
  checkHost(mpReach.code, values.mpReach?.nextHop.address, faults);
  checkFirstAs(attributes, context, faults);
  if (context.acceptAsSet === false) refuseAsSet(attributes, faults);
}

/** RFC 9774 section 3: which AS originated such a path cannot be known. */
function refuseAsSet({ values }: DecodedAttributes, faults: Faults): void {
  if (values.asPath?.some(({ type }) => type === SegmentType.AsSet) !== true) return;
  const reason = 'AS_PATH has an AS_SET (RFC 9774)';
  faults.report(
    asPath.code,
    'treat-as-withdraw',
    UpdateSubcode.MalformedAsPath,
    reason,
    () => new Uint8Array(0),
  );
}

/** RFC 7606 section 3 (d). One that is there and malformed has its own fault already. */
function requirePresent(attributes: DecodedAttributes, code: number, faults: Faults): void {
  if (attributes.seen(code)) return;
  const reason = `${nameOf(attributeEntry(code))} is missing`;
  const subcode = UpdateSubcode.MissingWellKnownAttribute;
  faults.report(code, 'treat-as-withdraw', subcode, reason, () => Uint8Array.of(code));
}

function nameOf(entry: AttributeEntry | undefined): string {
  return entry?.name ?? 'an attribute';
}

/** RFC 4271 section 6.3: a next hop that no host can have makes the route unusable, and never ends the session. */
function checkHost(code: number, address: IpAddress | undefined, faults: Faults): void {
  if (address === undefined || isHostAddress(address)) return;
  const reason = `route not used: next hop ${formatIpAddress(address)} is no host address`;
  const subcode = UpdateSubcode.InvalidNextHopAttribute;
  faults.report(code, 'treat-as-withdraw', subcode, reason, () => address.bytes);
}

/** False for "this network", loopback, multicast, class E and broadcast (RFC 6890), and their like in IPv6. */
function isHostAddress({ version, bytes }: IpAddress): boolean {
  const first = bytes[0] ?? 0;
  if (version === 4) return first !== 0 && first !== 127 && first < 224;
  if (first === 0xff) return false;
  return (bytes[15] ?? 0) > 1 || bytes.subarray(0, 15).some((octet) => octet !== 0);
}

/** RFC 4271 section 6.3, softened by RFC 7606 section 7.2. */
function checkFirstAs({ values }: DecodedAttributes, context: CodecContext, faults: Faults): void {
  if (context.isInternal || context.enforceFirstAs === false || values.asPath === undefined) return;
  const first = values.asPath[0]?.asns[0];
  if (first === context.peerAsn) return;
  // A peer that says no more than AS_TRANS has an AS of four octets, which AS4_PATH shows (RFC 6793 section 4.2.2).
  if (context.peerAsn === AS_TRANS && first !== undefined && !isTwoOctetAsn(first)) return;
  // In two octets AS_TRANS is the peer's AS of four, and AS4_PATH may be missing or ignored (RFC 6793 sections 4.2.3 and 6).
  if (!context.asn4 && first === AS_TRANS && !isTwoOctetAsn(context.peerAsn)) return;
  const reason = `AS_PATH begins with ${first ?? 'nothing'}: expected the peer's AS ${context.peerAsn}`;
  faults.report(
    asPath.code,
    'treat-as-withdraw',
    UpdateSubcode.MalformedAsPath,
    reason,
    () => new Uint8Array(0),
  );
}
