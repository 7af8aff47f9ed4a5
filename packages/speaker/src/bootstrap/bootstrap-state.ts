import * as z from 'zod';

/** Which file was taken as proof, so that one that cannot be deleted does not count twice. */
export interface MarkerIdentity {
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
  readonly inode: number;
}

/** Tells a file from one that replaced it: an inode number alone is soon given to another file. */
export interface FileIdentity {
  readonly inode: number;
  /** When the file was made, in milliseconds since the epoch; 0 where the file system does not say. */
  readonly bornAt: number;
}

const markerIdentity = z.object({ path: z.string(), modifiedAt: z.number(), inode: z.number() });

const latch = z.object({
  machineId: z.string().min(1),
  caKeys: z.array(z.string()).min(1),
  caDigest: z.string(),
  caModifiedAt: z.number(),
  caFile: z.object({ inode: z.number(), bornAt: z.number() }).optional(),
  provenAt: z.string(),
  advertised: z.array(z.string()).default([]),
});

/** The proof of bootstrap, tied to this machine and to the cluster's CA. */
export interface Latch {
  readonly machineId: string;
  /** SHA-256 of the SubjectPublicKeyInfo of each certificate in ca.crt. */
  readonly caKeys: readonly string[];
  /** SHA-256 of ca.crt. */
  readonly caDigest: string;
  /** Modification time of ca.crt, in milliseconds since the epoch. */
  readonly caModifiedAt: number;
  /** Which file ca.crt was. Absent in a state of a version that did not note it, until the next look. */
  readonly caFile?: FileIdentity | undefined;
  /** ISO 8601. */
  readonly provenAt: string;
  /** VIPs that this member has advertised: the certificate preflight is for the first time only. */
  readonly advertised: readonly string[];
}

/** What the speaker knows about its machine's bootstrap beyond its own life: the content of state.json. */
export interface BootstrapState {
  readonly latch?: Latch | undefined;
  /** Set when a latch was found void, until a new proof or `prepare --role`. */
  readonly void?: { readonly reason: string; readonly since: string } | undefined;
  /** What `prepare --role` said; it overrides the configured role. */
  readonly role?: 'init' | 'join' | undefined;
  readonly consumed: readonly MarkerIdentity[];
}

export const noBootstrap: BootstrapState = { consumed: [] };

/** The format of state.json. */
export const bootstrapStateFile: z.ZodType<BootstrapState & { readonly version: 1 }> = z.object({
  version: z.literal(1),
  latch: latch.optional(),
  void: z.object({ reason: z.string(), since: z.string() }).optional(),
  role: z.enum(['init', 'join']).optional(),
  consumed: z.array(markerIdentity).max(64).default([]),
});
