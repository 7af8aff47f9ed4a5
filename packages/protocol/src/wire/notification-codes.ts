/** Error codes and subcodes of NOTIFICATION, with the names of their RFCs. */

/** RFC 4271 section 4.5, RFC 7313 section 5, RFC 9687 section 4. */
export const NotificationCode = {
  MessageHeaderError: 1,
  OpenMessageError: 2,
  UpdateMessageError: 3,
  HoldTimerExpired: 4,
  FiniteStateMachineError: 5,
  Cease: 6,
  RouteRefreshMessageError: 7,
  SendHoldTimerExpired: 8,
} as const;

/** RFC 4271 section 6.1. */
export const MessageHeaderSubcode = {
  ConnectionNotSynchronized: 1,
  BadMessageLength: 2,
  BadMessageType: 3,
} as const;

/** RFC 4271 section 6.2, RFC 5492 section 5, RFC 9234 section 4.2. */
export const OpenSubcode = {
  Unspecific: 0,
  UnsupportedVersionNumber: 1,
  BadPeerAs: 2,
  BadBgpIdentifier: 3,
  UnsupportedOptionalParameter: 4,
  UnacceptableHoldTime: 6,
  UnsupportedCapability: 7,
  RoleMismatch: 11,
} as const;

/** RFC 4271 section 6.3. */
export const UpdateSubcode = {
  Unspecific: 0,
  MalformedAttributeList: 1,
  UnrecognizedWellKnownAttribute: 2,
  MissingWellKnownAttribute: 3,
  AttributeFlagsError: 4,
  AttributeLengthError: 5,
  InvalidOriginAttribute: 6,
  InvalidNextHopAttribute: 8,
  OptionalAttributeError: 9,
  InvalidNetworkField: 10,
  MalformedAsPath: 11,
} as const;

/** RFC 6608 section 3. */
export const FsmSubcode = {
  Unspecified: 0,
  UnexpectedMessageInOpenSent: 1,
  UnexpectedMessageInOpenConfirm: 2,
  UnexpectedMessageInEstablished: 3,
} as const;

/** RFC 4486 section 3, RFC 8538 section 3, RFC 9384 section 3. */
export const CeaseSubcode = {
  MaximumNumberOfPrefixesReached: 1,
  AdministrativeShutdown: 2,
  PeerDeconfigured: 3,
  AdministrativeReset: 4,
  ConnectionRejected: 5,
  OtherConfigurationChange: 6,
  ConnectionCollisionResolution: 7,
  OutOfResources: 8,
  HardReset: 9,
  BfdDown: 10,
} as const;

/** RFC 7313 section 5. */
export const RouteRefreshSubcode = { InvalidMessageLength: 1 } as const;

interface CodeNames {
  readonly name: string;
  readonly subcodes: Readonly<Record<number, string>>;
}

const names: Readonly<Record<number, CodeNames>> = {
  1: {
    name: 'Message Header Error',
    subcodes: { 1: 'Connection Not Synchronized', 2: 'Bad Message Length', 3: 'Bad Message Type' },
  },
  2: {
    name: 'OPEN Message Error',
    subcodes: {
      1: 'Unsupported Version Number',
      2: 'Bad Peer AS',
      3: 'Bad BGP Identifier',
      4: 'Unsupported Optional Parameter',
      5: 'Authentication Failure (deprecated)',
      6: 'Unacceptable Hold Time',
      7: 'Unsupported Capability',
      11: 'Role Mismatch',
    },
  },
  3: {
    name: 'UPDATE Message Error',
    subcodes: {
      1: 'Malformed Attribute List',
      2: 'Unrecognized Well-known Attribute',
      3: 'Missing Well-known Attribute',
      4: 'Attribute Flags Error',
      5: 'Attribute Length Error',
      6: 'Invalid ORIGIN Attribute',
      7: 'AS Routing Loop (deprecated)',
      8: 'Invalid NEXT_HOP Attribute',
      9: 'Optional Attribute Error',
      10: 'Invalid Network Field',
      11: 'Malformed AS_PATH',
    },
  },
  4: { name: 'Hold Timer Expired', subcodes: {} },
  5: {
    name: 'Finite State Machine Error',
    subcodes: {
      1: 'Receive Unexpected Message in OpenSent State',
      2: 'Receive Unexpected Message in OpenConfirm State',
      3: 'Receive Unexpected Message in Established State',
    },
  },
  6: {
    name: 'Cease',
    subcodes: {
      1: 'Maximum Number of Prefixes Reached',
      2: 'Administrative Shutdown',
      3: 'Peer De-configured',
      4: 'Administrative Reset',
      5: 'Connection Rejected',
      6: 'Other Configuration Change',
      7: 'Connection Collision Resolution',
      8: 'Out of Resources',
      9: 'Hard Reset',
      10: 'BFD Down',
    },
  },
  7: { name: 'ROUTE-REFRESH Message Error', subcodes: { 1: 'Invalid Message Length' } },
  8: { name: 'Send Hold Timer Expired', subcodes: {} },
};

/** A NOTIFICATION in words: `Cease/Administrative Shutdown`; numbers where no RFC has a name. */
export function describeNotification(code: number, subcode: number): string {
  const known = names[code];
  const name = known?.name ?? `code ${code}`;
  const detail = known?.subcodes[subcode];
  if (detail !== undefined) return `${name}/${detail}`;
  return subcode === 0 ? name : `${name}/subcode ${subcode}`;
}
