import { existsSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { readRegularFile } from '@bgp-lb/daemon';
import type { BootstrapProof, Role } from '../lifecycle/lifecycle-input.ts';
import { type BootstrapState, noBootstrap } from './bootstrap-state.ts';
import { CaCertificate } from './ca-certificate.ts';
import { type CaReading, effectiveRole, judge, type Marker } from './latch.ts';
import { StateFile } from './state-file.ts';

/** Cluster API's providers look for this file over SSH to see that a machine is up: it is remembered, not deleted. */
const CLUSTER_API_FOLDER = '/run/cluster-api/';

/** Where Cluster API's kubeadm provider writes kubeadm's configuration. */
const KUBEADM_FOLDER = '/run/kubeadm';

/** A process that cannot write its state says so again no more often than this. Milliseconds. */
const COMPLAINT_INTERVAL = 60_000;

/** A state.json that cannot be read is tried again after this. Milliseconds. */
const READ_INTERVAL = 5_000;

/** A machine-id has 33 octets. */
const MACHINE_ID_SIZE = 4096;

export interface BootstrapOptions {
  readonly role: Role | 'cluster-api';
  readonly markers: readonly string[];
  readonly stateDir: string;
  readonly machineIdFile: string;
  readonly caFile: string;
  /** Default `/run/kubeadm`. */
  readonly kubeadmFolder?: string;
}

/** One look at everything that proves, or disproves, the bootstrap of this machine. */
export interface BootstrapStatus {
  readonly role: Role;
  readonly proof: BootstrapProof;
  readonly detail: string;
  /** Public key hashes of the cluster's CA, empty while ca.crt cannot be read. */
  readonly caKeys: readonly string[];
  /** ca.crt was replaced behind a mount of the single file: only a new container sees the new one. */
  readonly isCaUnlinked: boolean;
  /** A marker was taken as proof in this very look. */
  readonly isNewProof: boolean;
}

/** Owns the latch: reads markers, ca.crt and machine-id, and keeps state.json. Never sees more than those. */
export class BootstrapWatch {
  readonly #options: BootstrapOptions;
  readonly #file: StateFile;
  readonly #ca: CaCertificate;
  readonly #complain: (message: string) => void;
  #machineId: string | undefined;
  #state: BootstrapState;
  /** Markers taken as proof and not deleted yet: first the latch must be on disk. */
  #served: Marker[] = [];
  #missingReads = 0;
  /** Why state.json does not hold what is known; empty when it does. */
  #unsaved = '';
  /** When a state.json that could not be read is tried again; `undefined` when it was read. Milliseconds of `performance`. */
  #readAgainAt: number | undefined;
  #lastComplaint = Number.NEGATIVE_INFINITY;

  constructor(options: BootstrapOptions, complain: (message: string) => void) {
    this.#options = options;
    this.#complain = complain;
    this.#file = new StateFile(options.stateDir);
    this.#ca = new CaCertificate(options.caFile);
    this.#state = noBootstrap;
    this.#load();
  }

  /** The text of ca.crt, the only root that the readiness probe trusts. */
  get caPem(): string | undefined {
    return this.#ca.pem;
  }

  /** VIPs that this control plane member has advertised, by the latch. */
  get advertised(): readonly string[] {
    return this.#state.latch?.advertised ?? [];
  }

  /** Looks at the files and judges. Cheap enough for several times a second: one stat per file while nothing changes. */
  observe(): BootstrapStatus {
    if (this.#readAgainAt !== undefined && performance.now() >= this.#readAgainAt) this.#load();
    // It never changes while a machine runs, but on its first boot it may appear after us (machine-id(5)).
    this.#machineId ??= readMachineId(this.#options.machineIdFile);
    const ca = this.#ca.read();
    this.#missingReads = ca.kind === 'missing' ? this.#missingReads + 1 : 0;
    const before = this.#state;
    const verdict = judge(before, {
      machineId: this.#machineId,
      ca,
      markers: readMarkers(this.#options.markers),
      missingReads: this.#missingReads,
      now: new Date().toISOString(),
    });
    this.#served.push(...verdict.consumed);
    if (verdict.state !== before) this.#change(verdict.state);
    else if (this.#unsaved !== '') this.#save();
    if (this.#unsaved === '') this.#consume();
    return {
      role: this.#role(),
      proof: verdict.proof,
      detail: [verdict.detail, this.#unsaved].filter((text) => text !== '').join('; '),
      caKeys: keysOf(ca, this.#state),
      isCaUnlinked: this.#ca.isUnlinked,
      isNewProof: verdict.isNewProof,
    };
  }

  /** Remembers over restarts that the VIP was advertised by this control plane member. */
  noteAdvertised(vip: string): void {
    const { latch } = this.#state;
    if (latch === undefined || latch.advertised.includes(vip)) return;
    this.#change({ ...this.#state, latch: { ...latch, advertised: [...latch.advertised, vip] } });
  }

  #role(): Role {
    const folder = this.#options.kubeadmFolder ?? KUBEADM_FOLDER;
    const isOpen = this.#options.role === 'cluster-api' && this.#state.role === undefined;
    return effectiveRole(this.#options.role, this.#state.role, {
      hasInitConfiguration: isOpen && existsSync(`${folder}/kubeadm.yaml`),
      hasJoinConfiguration: isOpen && existsSync(`${folder}/kubeadm-join-config.yaml`),
    });
  }

  /** Reads state.json at start, and again and again for as long as it cannot be read: it may be repaired. */
  #load(): void {
    const { state, fault } = this.#file.load(new Date().toISOString());
    this.#state = state;
    this.#readAgainAt = fault?.kind === 'unread' ? performance.now() + READ_INTERVAL : undefined;
    if (fault === undefined) return;
    this.#complainAtTimes(fault.reason);
    // So that a restart does not find a machine that has never had a life. What could not be read may be good: it stays.
    if (fault.kind === 'corrupt') this.#save();
  }

  #change(state: BootstrapState): void {
    this.#state = state;
    // From now on it is this process that knows more than the file.
    this.#readAgainAt = undefined;
    this.#save();
  }

  #save(): void {
    try {
      this.#file.save(this.#state);
      this.#unsaved = '';
    } catch (error) {
      this.#unsaved = `state.json cannot be written, what is known is lost with a restart: ${reasonOf(error)}`;
      this.#complainAtTimes(this.#unsaved);
    }
  }

  #complainAtTimes(message: string): void {
    const now = performance.now();
    if (now - this.#lastComplaint < COMPLAINT_INTERVAL) return;
    this.#lastComplaint = now;
    this.#complain(message);
  }

  #consume(): void {
    for (const { path } of this.#served.splice(0)) {
      if (path.startsWith(CLUSTER_API_FOLDER)) continue;
      try {
        unlinkSync(path);
      } catch (error) {
        this.#complain(`the marker ${path} was taken as proof but cannot be removed: ${String(error)}`);
      }
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function keysOf(ca: CaReading, state: BootstrapState): readonly string[] {
  return ca.kind === 'present' ? ca.keys : (state.latch?.caKeys ?? []);
}

function readMachineId(path: string): string | undefined {
  try {
    const id = readRegularFile(path, MACHINE_ID_SIZE).toString().trim();
    // systemd writes "uninitialized" into images (machine-id(5)).
    return id === '' || id === 'uninitialized' ? undefined : id;
  } catch {
    return undefined;
  }
}

function readMarkers(paths: readonly string[]): readonly Marker[] {
  return paths.flatMap((path) => {
    const stats = statsOf(path);
    if (stats === undefined || !stats.isFile()) return [];
    return [{ path, modifiedAt: stats.mtimeMs, inode: stats.ino, isEmpty: stats.size === 0 }];
  });
}

/** A marker that cannot be looked at proves nothing. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
