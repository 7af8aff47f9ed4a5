import type { BootstrapProof, Role } from '../lifecycle/lifecycle-input.ts';
import type { BootstrapState, Latch, MarkerIdentity } from './bootstrap-state.ts';

/** What one look at ca.crt gave. */
export type CaReading =
  | {
      readonly kind: 'present';
      /** SHA-256 of the SubjectPublicKeyInfo of each certificate, in hexadecimal, without repetition. */
      readonly keys: readonly string[];
      /** SHA-256 of the file, in hexadecimal. */
      readonly digest: string;
      /** Milliseconds since the epoch, with the fraction that the file system keeps. */
      readonly modifiedAt: number;
    }
  | { readonly kind: 'missing'; readonly detail: string };

/** A marker file that is there. */
export interface Marker extends MarkerIdentity {
  readonly isEmpty: boolean;
}

export interface Observation {
  /** `undefined` when /etc/machine-id could not be read or is empty. */
  readonly machineId: string | undefined;
  readonly ca: CaReading;
  readonly markers: readonly Marker[];
  /** Reads of ca.crt that failed in a row, this one included. */
  readonly missingReads: number;
  /** ISO 8601, for people. */
  readonly now: string;
}

export interface Verdict {
  readonly state: BootstrapState;
  readonly proof: BootstrapProof;
  readonly detail: string;
  /** Markers that have served once the state is on disk. */
  readonly consumed: readonly Marker[];
}

/** A failed read may be the moment of a replacement; this many in a row are not. */
const MISSING_READS = 3;

/**
 * Judges the bootstrap of this machine: keeps, voids or makes the latch. Pure.
 *
 * The proof is kubeadm's exit status, told by a marker; the latch keeps it for the life of this control plane member and
 * no longer. It is void when the machine is another one (clone, golden image), when ca.crt is gone, belongs to another
 * cluster, or was written anew with the same content (a re-join after `kubeadm reset` fetches the same file).
 */
export function judge(before: BootstrapState, seen: Observation): Verdict {
  const { latch } = before;
  if (latch === undefined) return seekProof(before, seen);
  if (seen.machineId === undefined) {
    // Says nothing against the proof for good, but the VIP is not for a machine that cannot say which one it is.
    return {
      state: before,
      proof: 'void',
      detail: 'machine-id cannot be read: the proof of bootstrap may be of another machine',
      consumed: [],
    };
  }
  const flaw = flawOf(latch, seen);
  if (flaw === undefined)
    return { state: renewed(before, latch, seen), proof: 'proven', detail: provenSince(latch), consumed: [] };
  const { latch: _, ...rest } = before;
  return seekProof({ ...rest, void: { reason: flaw, since: seen.now } }, seen);
}

function flawOf(latch: Latch, seen: Observation): string | undefined {
  if (seen.machineId !== latch.machineId) return 'the proof is of another machine (machine-id differs)';
  if (seen.ca.kind === 'missing') {
    return seen.missingReads >= MISSING_READS ? `ca.crt is missing (${seen.ca.detail})` : undefined;
  }
  if (seen.ca.digest === latch.caDigest) {
    return seen.ca.modifiedAt > latch.caModifiedAt
      ? 'ca.crt was written again with the same content, as a new join does'
      : undefined;
  }
  const { keys } = seen.ca;
  return latch.caKeys.some((key) => keys.includes(key))
    ? undefined
    : 'ca.crt has no key in common with the cluster that was joined';
}

/** Follows a rotation of the CA, step by step: the next one must have a key in common with this one. */
function renewed(state: BootstrapState, latch: Latch, { ca }: Observation): BootstrapState {
  if (ca.kind === 'missing' || ca.digest === latch.caDigest) return state;
  return { ...state, latch: { ...latch, caKeys: ca.keys, caDigest: ca.digest, caModifiedAt: ca.modifiedAt } };
}

function seekProof(state: BootstrapState, seen: Observation): Verdict {
  const refusals: string[] = [];
  for (const marker of seen.markers) {
    const refusal = refusalOf(marker, state, seen);
    if (refusal === undefined) return latched(state, seen);
    refusals.push(refusal);
  }
  const why = refusals[0] ?? 'no marker of a successful kubeadm yet';
  if (state.void === undefined)
    return { state, proof: 'unproven', detail: `bootstrap not proven: ${why}`, consumed: [] };
  return {
    state,
    proof: 'void',
    detail: `the proof of bootstrap is void: ${state.void.reason}; ${why}`,
    consumed: [],
  };
}

function refusalOf(
  marker: Marker,
  state: BootstrapState,
  { ca, machineId }: Observation,
): string | undefined {
  if (state.consumed.some((old) => sameMarker(old, marker))) return `${marker.path} has served already`;
  if (machineId === undefined) return `${marker.path} is there, but machine-id cannot be read`;
  if (ca.kind === 'missing') return `${marker.path} is there, but ca.crt is not (${ca.detail})`;
  if (marker.isEmpty && marker.modifiedAt < ca.modifiedAt)
    return `${marker.path} is older than ca.crt: left from an earlier life`;
  return undefined;
}

function latched(state: BootstrapState, seen: Observation): Verdict {
  const { ca, machineId } = seen;
  if (ca.kind === 'missing' || machineId === undefined) {
    return { state, proof: 'unproven', detail: 'bootstrap not proven', consumed: [] };
  }
  const latch: Latch = {
    machineId,
    caKeys: ca.keys,
    caDigest: ca.digest,
    caModifiedAt: ca.modifiedAt,
    provenAt: seen.now,
    advertised: [],
  };
  const { void: _, ...rest } = state;
  const consumed = seen.markers.map(({ path, modifiedAt, inode }) => ({ path, modifiedAt, inode }));
  return {
    state: { ...rest, latch, consumed },
    proof: 'proven',
    detail: provenSince(latch),
    consumed: seen.markers,
  };
}

function sameMarker(a: MarkerIdentity, b: MarkerIdentity): boolean {
  return a.path === b.path && a.inode === b.inode && a.modifiedAt === b.modifiedAt;
}

function provenSince(latch: Latch): string {
  return `bootstrap proven at ${latch.provenAt}`;
}

/**
 * The role that counts: what `prepare --role` recorded for this life of the machine, else the configured one.
 * Cluster API gives all control plane machines one template, so there the file that its kubeadm provider wrote decides.
 */
export function effectiveRole(
  configured: Role | 'cluster-api',
  prepared: Role | undefined,
  files: { readonly hasInitConfiguration: boolean; readonly hasJoinConfiguration: boolean },
): Role {
  if (prepared !== undefined) return prepared;
  if (configured !== 'cluster-api') return configured;
  return files.hasInitConfiguration && !files.hasJoinConfiguration ? 'init' : 'join';
}
