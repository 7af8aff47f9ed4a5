import { existsSync, readFileSync, type Stats, statSync, unlinkSync } from 'node:fs';
import type { BootstrapProof, Role } from '../lifecycle/lifecycle-input.ts';
import type { BootstrapState } from './bootstrap-state.ts';
import { CaCertificate } from './ca-certificate.ts';
import { type CaReading, effectiveRole, judge, type Marker } from './latch.ts';
import { StateFile } from './state-file.ts';

/** Cluster API's providers look for this file over SSH to see that a machine is up: it is remembered, not deleted. */
const CLUSTER_API_FOLDER = '/run/cluster-api/';

/** Where Cluster API's kubeadm provider writes kubeadm's configuration. */
const KUBEADM_FOLDER = '/run/kubeadm';

/** A process that cannot write its state says so again no more often than this. Milliseconds. */
const COMPLAINT_INTERVAL = 60_000;

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
  #isSaved = true;
  #lastComplaint = Number.NEGATIVE_INFINITY;

  /** @throws Error when state.json is there but cannot be read at all */
  constructor(options: BootstrapOptions, complain: (message: string) => void) {
    this.#options = options;
    this.#complain = complain;
    this.#file = new StateFile(options.stateDir);
    this.#ca = new CaCertificate(options.caFile);
    const { state, corrupt } = this.#file.load(new Date().toISOString());
    this.#state = state;
    if (corrupt !== undefined)
      complain(`state.json is not believed (${corrupt.reason}); kept as ${corrupt.keptAs}`);
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
    if (verdict.state !== before) {
      this.#state = verdict.state;
      this.#isSaved = false;
    }
    this.#served.push(...verdict.consumed);
    this.#save();
    if (this.#isSaved) this.#consume();
    return {
      role: this.#role(),
      proof: verdict.proof,
      detail: verdict.detail,
      caKeys: keysOf(ca, this.#state),
      isCaUnlinked: this.#ca.isUnlinked,
      isNewProof: verdict.consumed.length > 0,
    };
  }

  /** Remembers over restarts that the VIP was advertised by this control plane member. */
  noteAdvertised(vip: string): void {
    const { latch } = this.#state;
    if (latch === undefined || latch.advertised.includes(vip)) return;
    this.#state = { ...this.#state, latch: { ...latch, advertised: [...latch.advertised, vip] } };
    this.#isSaved = false;
    this.#save();
  }

  #role(): Role {
    const folder = this.#options.kubeadmFolder ?? KUBEADM_FOLDER;
    const isOpen = this.#options.role === 'cluster-api' && this.#state.role === undefined;
    return effectiveRole(this.#options.role, this.#state.role, {
      hasInitConfiguration: isOpen && existsSync(`${folder}/kubeadm.yaml`),
      hasJoinConfiguration: isOpen && existsSync(`${folder}/kubeadm-join-config.yaml`),
    });
  }

  #save(): void {
    if (this.#isSaved) return;
    try {
      this.#file.save(this.#state);
      this.#isSaved = true;
    } catch (error) {
      const now = Date.now();
      if (now - this.#lastComplaint < COMPLAINT_INTERVAL) return;
      this.#lastComplaint = now;
      this.#complain(`state.json cannot be written, the latch will not survive a restart: ${String(error)}`);
    }
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

function keysOf(ca: CaReading, state: BootstrapState): readonly string[] {
  return ca.kind === 'present' ? ca.keys : (state.latch?.caKeys ?? []);
}

function readMachineId(path: string): string | undefined {
  try {
    const id = readFileSync(path, 'utf8').trim();
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
