import {
  type Capability,
  type ConnectionTimer,
  type DownKind,
  formatRouterId,
  type Negotiated,
  type Role,
  type StateName,
} from '../index.ts';
import type { MessageCounts } from './message-counters.ts';
import type { DescribedNotification } from './peer-event.ts';

/** When something happened, in milliseconds before the status was taken. */
interface Ago {
  readonly agoMs: number;
}

/** A change of state of one of the peer's connections. */
export interface TransitionStatus extends Ago {
  readonly role: Role;
  readonly from: StateName;
  readonly to: StateName;
  readonly reason: string;
}

/** Everything about a peer that people and tools may want to see. Plain JSON: `null` is what is not there. */
export interface PeerStatus {
  readonly name: string;
  readonly address: string;
  readonly state: StateName;
  /** How long in this state, in milliseconds. */
  readonly sinceMs: number;
  /** How long established, in milliseconds. */
  readonly uptimeMs: number | null;
  /** The operator has stopped it. */
  readonly stopped: boolean;
  /** Kept in Idle after repeated failures. */
  readonly idleHold: boolean;
  readonly passive: boolean;
  /** Member of a range. */
  readonly dynamic: boolean;
  readonly isInternal: boolean;
  readonly remoteAsn: number | null;
  readonly remoteRouterId: string | null;
  /** With port, of the established session. */
  readonly localAddress: string | null;
  readonly remoteAddress: string | null;
  /** In seconds, negotiated. */
  readonly holdTime: number | null;
  readonly keepaliveTime: number | null;
  /** Milliseconds until each timer (RFC 4271 section 10) that runs expires. */
  readonly timers: Partial<Record<ConnectionTimer, number>>;
  readonly families: readonly string[];
  readonly capabilities: { readonly local: readonly string[]; readonly remote: readonly string[] };
  readonly messages: { readonly received: MessageCounts; readonly sent: MessageCounts };
  readonly prefixes: {
    readonly received: number;
    readonly stale: number;
    readonly rejected: number;
    readonly advertised: number;
    readonly unsent: number;
  };
  readonly lastNotificationSent: (DescribedNotification & Ago) | null;
  readonly lastNotificationReceived: (DescribedNotification & Ago) | null;
  readonly lastDown: ({ readonly kind: DownKind; readonly text: string } & Ago) | null;
  /** Sessions that came up since the peer is known. */
  readonly establishedCount: number;
  /** The ConnectRetryCounter of RFC 4271 section 8: attempts at TCP that fail do not count there. */
  readonly connectRetryCounter: number;
  /** Attempts at a session that have failed since the last one was Established, of whatever kind. */
  readonly failedAttempts: number;
  /** Why the last attempt failed that no NOTIFICATION ended, such as one at TCP. */
  readonly lastFailure: ({ readonly text: string } & Ago) | null;
  /** The last ones, oldest first. */
  readonly transitions: readonly TransitionStatus[];
}

/** What happened with how many milliseconds ago it was, in place of when. @param now monotonic ms */
export function agoAt(
  now: number,
): <T extends { readonly at: number }>(happened: T) => Omit<T, 'at'> & { agoMs: number } {
  return ({ at, ...rest }) => ({ ...rest, agoMs: Math.round(now - at) });
}

/** The part of the status that the OPENs decide. */
export function negotiatedStatus(
  negotiated: Negotiated | undefined,
): Pick<
  PeerStatus,
  'remoteAsn' | 'remoteRouterId' | 'holdTime' | 'keepaliveTime' | 'families' | 'capabilities'
> {
  if (negotiated === undefined) {
    return {
      remoteAsn: null,
      remoteRouterId: null,
      holdTime: null,
      keepaliveTime: null,
      families: [],
      capabilities: { local: [], remote: [] },
    };
  }
  const { context, holdTime, keepaliveTime, localOpen, remoteOpen } = negotiated;
  return {
    remoteAsn: context.peerAsn,
    remoteRouterId: formatRouterId(remoteOpen.bgpIdentifier),
    holdTime,
    keepaliveTime,
    families: context.families.map(({ name }) => name),
    capabilities: {
      local: localOpen.capabilities.map(capabilityText),
      remote: remoteOpen.capabilities.map(capabilityText),
    },
  };
}

const modes: Readonly<Record<number, string>> = { 1: 'receive', 2: 'send', 3: 'both' };

/** A capability in words: `multiprotocol 1/1`. */
function capabilityText(capability: Capability): string {
  switch (capability.name) {
    case 'multiprotocol':
      return `multiprotocol ${capability.afi}/${capability.safi}`;
    case 'four-octet-as':
      return `four-octet-as ${capability.asn}`;
    case 'add-path':
      return `add-path ${capability.families
        .map(({ afi, safi, mode }) => `${afi}/${safi} ${modes[mode] ?? mode}`)
        .join(', ')}`;
    case 'graceful-restart': {
      const families = capability.families.map(
        ({ afi, safi, forwardingPreserved }) => `${afi}/${safi}${forwardingPreserved ? ' preserved' : ''}`,
      );
      const flags = capability.restarting ? ', restarting' : '';
      return `graceful-restart ${capability.restartTime} s${flags}${families.length > 0 ? `, ${families.join(', ')}` : ''}`;
    }
    case 'unknown':
      return `code ${capability.code}`;
    default:
      return capability.name;
  }
}
