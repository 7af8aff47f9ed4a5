import type { CredentialState } from '@bgp-lb/kubernetes';

/** What one list of a source is at the moment. */
export interface MemberSourceStatus {
  /** `static`, `configMap`. */
  readonly kind: string;
  /** `bgp-lb-system/prod`, `m2.example.net`; `addresses` for those of the configuration itself. */
  readonly name: string;
  /** Addresses of the VIPs that it is for. */
  readonly vips: readonly string[];
  /** How many members it has. */
  readonly members: number;
  /** Where the list comes from: `generation 7, from https://10.0.0.11:6443`, `as it was before the restart`. */
  readonly detail: string;
  /** What the list says and is not followed here, in words; empty where all of it is. */
  readonly ignored: string;
  /** Milliseconds since the last good answer; `null` before the first since the start, and for what asks no server. */
  readonly heardMs: number | null;
  /** Why the list may be old; empty while it is not. */
  readonly problem: string;
  /** What the API is shown; `null` where none is needed, or it was not read yet. */
  readonly credential: {
    readonly kind: string;
    readonly state: CredentialState;
    /** Seconds since 1970; `null` when it does not end, or does not say. */
    readonly expiresAt: number | null;
  } | null;
}

/** What happened to a source, told once. */
export interface SourceEvent {
  readonly kind: string;
  readonly name: string;
  readonly isBad: boolean;
  readonly text: string;
}
