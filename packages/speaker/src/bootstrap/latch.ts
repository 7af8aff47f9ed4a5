import type { BootstrapProof, Role } from '../lifecycle/lifecycle-input.ts';
import type { BootstrapState, FileIdentity, Latch, MarkerIdentity } from './bootstrap-state.ts';

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
      readonly file: FileIdentity;
    }
  | { readonly kind: 'missing'; readonly detail: string }
  /** It is there, or may be, and cannot be read at the moment: no word for or against any proof. */
  | { readonly kind: 'unread'; readonly detail: string };

type CaPresent = Extract<CaReading, { kind: 'present' }>;

/** A marker file that is there. */
export interface Marker extends MarkerIdentity {
  readonly isEmpty: boolean;
}

export interface Observation {
  /** `undefined` when /etc/machine-id could not be read or is empty. */
  readonly machineId: string | undefined;
  readonly ca: CaReading;
  readonly markers: readonly Marker[];
  /** Looks in a row that found no ca.crt, this one included. */
  readonly missingReads: number;
  /** ISO 8601, for people. */
  readonly now: string;
}

export interface LatchDecision {
  readonly state: BootstrapState;
  readonly proof: BootstrapProof;
  readonly detail: string;
  /** Markers that have served once the state is on disk. */
  readonly consumed: readonly Marker[];
  /** A marker was taken as proof in this very look. */
  readonly isNewProof: boolean;
}

/** A failed read may be the moment of a replacement; this many in a row are not. */
const MISSING_READS = 3;

/**
 * Milliseconds by which the time of a restored file may differ from the original's: archives round it, some to two seconds.
 * From one kubeadm to the next on a machine it takes longer.
 */
const TIME_STEP = 2_000;

/**
 * Judges the bootstrap of this machine: keeps, voids or makes the latch. Pure.
 *
 * The proof is kubeadm's exit status, told by a marker; the latch keeps it for the life of this control plane member and
 * no longer. It is void when the machine is another one (clone, golden image), when ca.crt is gone, belongs to another
 * cluster, or is a new file with the same content (a re-join after `kubeadm reset` fetches the same one).
 */
export function judge(before: BootstrapState, seen: Observation): LatchDecision {
  const { latch } = before;
  if (latch === undefined) return seekProof(before, seen);
  if (seen.machineId === undefined) {
    // Says nothing against the proof for good, but the VIP is not for a machine that cannot say which one it is.
    return {
      state: before,
      proof: 'void',
      detail: 'machine-id cannot be read: the proof of bootstrap may be of another machine',
      consumed: [],
      isNewProof: false,
    };
  }
  const flaw = flawOf(latch, seen);
  if (flaw === undefined) return holding(before, latch, seen);
  const { latch: _, ...rest } = before;
  return seekProof({ ...rest, void: { reason: flaw, since: seen.now } }, seen);
}

function flawOf(latch: Latch, seen: Observation): string | undefined {
  if (seen.machineId !== latch.machineId) return 'the proof is of another machine (machine-id differs)';
  if (seen.ca.kind === 'unread') return undefined;
  if (seen.ca.kind === 'missing') {
    return seen.missingReads >= MISSING_READS ? `ca.crt is missing (${seen.ca.detail})` : undefined;
  }
  if (seen.ca.digest === latch.caDigest) {
    return isMadeAnew(latch, seen.ca)
      ? 'ca.crt is a new file with the same content, as after a new join'
      : undefined;
  }
  const { keys } = seen.ca;
  return latch.caKeys.some((key) => keys.includes(key))
    ? undefined
    : 'ca.crt has no key in common with the cluster that was joined';
}

/**
 * A re-join after `kubeadm reset` makes the same ca.crt again: another file, with a newer time. A newer time alone is that of
 * `touch`, or of a tool that writes what is there already: taken for a re-join it would take masters that serve out of the pool,
 * all of them when the tool runs everywhere. An older time is that of a file restored from a backup.
 */
function isMadeAnew({ caFile, caModifiedAt }: Latch, ca: CaPresent): boolean {
  if (ca.modifiedAt - caModifiedAt <= TIME_STEP) return false;
  const isSameFile =
    caFile !== undefined &&
    caFile.bornAt > 0 &&
    caFile.inode === ca.file.inode &&
    caFile.bornAt === ca.file.bornAt;
  return !isSameFile;
}

/** The latch holds. A marker that is still there says nothing new: it must not prove anything on a later life or a clone. */
function holding(before: BootstrapState, latch: Latch, seen: Observation): LatchDecision {
  const state = renewed(before, latch, seen);
  const consumed = seen.markers.filter((marker) => !state.consumed.some((old) => sameMarker(old, marker)));
  return {
    state: consumed.length === 0 ? state : { ...state, consumed: identitiesOf(seen.markers) },
    proof: 'proven',
    detail: seen.ca.kind === 'unread' ? `${provenSince(latch)}; ${unreadCa(seen.ca)}` : provenSince(latch),
    consumed,
    isNewProof: false,
  };
}

/** Follows ca.crt: a rotation step by step, of which the next must have a key in common with this one, and which file it is. */
function renewed(state: BootstrapState, latch: Latch, { ca }: Observation): BootstrapState {
  if (ca.kind !== 'present') return state;
  const { caFile, caDigest, caModifiedAt } = latch;
  const isSameFile = caFile?.inode === ca.file.inode && caFile.bornAt === ca.file.bornAt;
  if (ca.digest === caDigest && ca.modifiedAt === caModifiedAt && isSameFile) return state;
  return { ...state, latch: { ...latch, ...caFields(ca) } };
}

function caFields(ca: CaPresent): Pick<Latch, 'caKeys' | 'caDigest' | 'caModifiedAt' | 'caFile'> {
  return { caKeys: ca.keys, caDigest: ca.digest, caModifiedAt: ca.modifiedAt, caFile: ca.file };
}

function identitiesOf(markers: readonly Marker[]): readonly MarkerIdentity[] {
  return markers.map(({ path, modifiedAt, inode }) => ({ path, modifiedAt, inode }));
}

function seekProof(state: BootstrapState, seen: Observation): LatchDecision {
  const refusals: string[] = [];
  for (const marker of seen.markers) {
    const refusal = refusalOf(marker, state, seen);
    if (refusal === undefined) return latched(state, seen);
    refusals.push(refusal);
  }
  const why = refusals[0] ?? 'no marker of a successful kubeadm yet';
  if (state.void === undefined)
    return {
      state,
      proof: 'unproven',
      detail: `bootstrap not proven: ${why}`,
      consumed: [],
      isNewProof: false,
    };
  return {
    state,
    proof: 'void',
    detail: `the proof of bootstrap is void: ${state.void.reason}; ${why}`,
    consumed: [],
    isNewProof: false,
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
  if (ca.kind === 'unread') return `${marker.path} is there, but ${unreadCa(ca)}`;
  if (marker.isEmpty && marker.modifiedAt < ca.modifiedAt)
    return `${marker.path} is older than ca.crt: left from an earlier life`;
  return undefined;
}

function latched(state: BootstrapState, seen: Observation): LatchDecision {
  const { ca, machineId } = seen;
  if (ca.kind !== 'present' || machineId === undefined) {
    return { state, proof: 'unproven', detail: 'bootstrap not proven', consumed: [], isNewProof: false };
  }
  const latch: Latch = { machineId, ...caFields(ca), provenAt: seen.now, advertised: [] };
  const { void: _, ...rest } = state;
  return {
    state: { ...rest, latch, consumed: identitiesOf(seen.markers) },
    proof: 'proven',
    detail: provenSince(latch),
    consumed: seen.markers,
    isNewProof: true,
  };
}

function sameMarker(a: MarkerIdentity, b: MarkerIdentity): boolean {
  return a.path === b.path && a.inode === b.inode && a.modifiedAt === b.modifiedAt;
}

function unreadCa({ detail }: { readonly detail: string }): string {
  return `ca.crt cannot be read (${detail})`;
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
