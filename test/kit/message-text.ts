/** One line of text for a decoded message, so that vectors can be read and compared by people. */
import type {
  AsPathSegment,
  Capability,
  DecodedMessage,
  DecodedUpdate,
  Nlri,
  OpenMessage,
  PathAttributes,
} from '@bgp-lb/protocol';
import { formatIpAddress, formatPrefix, formatRouterId } from '@bgp-lb/protocol';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** All that the message says; two messages with the same text mean the same. */
export function messageText(message: DecodedMessage): string {
  switch (message.type) {
    case 'OPEN':
      return openText(message);
    case 'UPDATE':
      return updateText(message);
    case 'NOTIFICATION':
      return `NOTIFICATION ${message.code}/${message.subcode} data ${hex(message.data)}`.trimEnd();
    case 'ROUTE-REFRESH':
      return `ROUTE-REFRESH ${message.afi}/${message.safi} subtype ${message.subtype}`;
    case 'KEEPALIVE':
      return 'KEEPALIVE';
    default:
      return message satisfies never;
  }
}

function openText({ version, myAs, holdTime, bgpIdentifier, capabilities }: OpenMessage): string {
  const head = `OPEN version ${version} AS ${myAs} hold ${holdTime} id ${formatRouterId(bgpIdentifier)}`;
  return [head, ...capabilities.map(capabilityText)].join('; ');
}

function capabilityText(capability: Capability): string {
  switch (capability.name) {
    case 'multiprotocol':
      return `multiprotocol ${capability.afi}/${capability.safi}`;
    case 'four-octet-as':
      return `four-octet-as ${capability.asn}`;
    case 'graceful-restart': {
      const flags = `${capability.restarting ? ' R' : ''}${capability.notification ? ' N' : ''}`;
      const families = capability.families.map(
        ({ afi, safi, forwardingPreserved }) => ` ${afi}/${safi}${forwardingPreserved ? ' F' : ''}`,
      );
      return `graceful-restart ${capability.restartTime} s${flags}${families.join('')}`;
    }
    case 'add-path':
      return `add-path${capability.families.map(({ afi, safi, mode }) => ` ${afi}/${safi} mode ${mode}`).join('')}`;
    case 'unknown':
      return `capability ${capability.code} ${hex(capability.value)}`.trimEnd();
    default:
      return capability.name;
  }
}

function updateText(update: DecodedUpdate): string {
  const { withdrawn, nlri, mpReach, mpUnreach, attributes } = update;
  const parts = [
    withdrawn.length > 0 && `withdraw ${nlriText(withdrawn)}`,
    mpUnreach && `withdraw ${mpUnreach.family.name} ${nlriText(mpUnreach.nlri)}`.trimEnd(),
    nlri.length > 0 && `announce ${nlriText(nlri)}`,
    mpReach && `announce ${mpReach.family.name} ${nlriText(mpReach.nlri)}`.trimEnd(),
    ...(attributes === undefined ? [] : attributeTexts(attributes)),
  ];
  return ['UPDATE', parts.filter((part) => typeof part === 'string').join('; ')].join(' ').trimEnd();
}

function nlriText(entries: readonly Nlri[]): string {
  return entries
    .map(({ prefix, pathId }) => formatPrefix(prefix) + (pathId === undefined ? '' : ` path ${pathId}`))
    .join(', ');
}

function attributeTexts(a: PathAttributes): readonly string[] {
  const texts: readonly (string | undefined)[] = [
    a.origin === undefined ? undefined : `ORIGIN ${['IGP', 'EGP', 'INCOMPLETE'][a.origin]}`,
    a.asPath && `AS_PATH ${a.asPath.map(segmentText).join(' ')}`.trimEnd(),
    a.nextHop && `next hop ${formatIpAddress(a.nextHop)}`,
    a.linkLocalNextHop && `link-local ${formatIpAddress(a.linkLocalNextHop)}`,
    a.multiExitDisc === undefined ? undefined : `MED ${a.multiExitDisc}`,
    a.localPref === undefined ? undefined : `LOCAL_PREF ${a.localPref}`,
    a.atomicAggregate && 'ATOMIC_AGGREGATE',
    a.aggregator && `AGGREGATOR ${a.aggregator.asn} ${formatIpAddress(a.aggregator.address)}`,
    a.communities && `communities ${a.communities.map((c) => `${c >>> 16}:${c & 0xffff}`).join(' ')}`,
    a.originatorId && `ORIGINATOR_ID ${formatRouterId(a.originatorId)}`,
    a.clusterList && `CLUSTER_LIST ${a.clusterList.map(formatRouterId).join(' ')}`,
    a.extendedCommunities &&
      `extended communities ${a.extendedCommunities.map(({ bytes }) => hex(bytes)).join(' ')}`,
    a.largeCommunities &&
      `large communities ${a.largeCommunities.map((c) => `${c.globalAdministrator}:${c.localData1}:${c.localData2}`).join(' ')}`,
    // Their order says nothing.
    ...a.unknown
      .toSorted((x, y) => x.code - y.code)
      .map(({ code, flags, value }) => `type ${code} flags 0x${flags.toString(16)} ${hex(value)}`),
  ];
  return texts.filter((text) => text !== undefined);
}

function segmentText({ type, asns }: AsPathSegment): string {
  const list = asns.join(' ');
  return [list, `{${list}}`, list, `(${list})`, `[${list}]`][type] ?? list;
}
