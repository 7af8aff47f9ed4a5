import type { Asn } from '../../types/asn.ts';
import type { Family } from '../../types/family.ts';

/** ADD-PATH directions (RFC 7911 section 4): bit 0 receive, bit 1 send. */
export const AddPathMode = { Receive: 1, Send: 2, Both: 3 } as const;
export type AddPathMode = (typeof AddPathMode)[keyof typeof AddPathMode];

/** A family of the multiprotocol capability: AFI and SAFI as sent, also of families this library does not carry. */
export interface AfiSafi {
  readonly afi: number;
  readonly safi: number;
}

/** One capability of an OPEN (RFC 5492 section 4). */
export type Capability =
  /** RFC 4760 section 8. */
  | ({ readonly name: 'multiprotocol' } & AfiSafi)
  /** RFC 2918 section 2. */
  | { readonly name: 'route-refresh' }
  /** RFC 7313 section 3.1. */
  | { readonly name: 'enhanced-route-refresh' }
  /** RFC 6793 section 3. */
  | { readonly name: 'four-octet-as'; readonly asn: Asn }
  /** RFC 8654 section 3. */
  | { readonly name: 'extended-message' }
  /** RFC 4724 section 3; `notification` is the N bit of RFC 8538 section 2. */
  | {
      readonly name: 'graceful-restart';
      readonly restarting: boolean;
      readonly notification: boolean;
      /** In seconds, 0 to 4095. */
      readonly restartTime: number;
      readonly families: readonly (AfiSafi & { readonly forwardingPreserved: boolean })[];
    }
  /** RFC 7911 section 4. */
  | { readonly name: 'add-path'; readonly families: readonly (AfiSafi & { readonly mode: AddPathMode })[] }
  /** ADR 24: Meticulous Keyed SHA1 for BFD, with 16 random octets of the sender's. */
  | { readonly name: 'bfd-authentication'; readonly nonce: Uint8Array }
  /** Any other, kept byte for byte. */
  | { readonly name: 'unknown'; readonly code: number; readonly value: Uint8Array };

/** What was agreed for graceful restart of one family (RFC 4724 section 3). */
export interface GracefulRestartFamily {
  readonly family: Family;
  readonly forwardingPreserved: boolean;
}
