import type { Clock } from '@bgp-lb/protocol/node';
import type { MemberPath } from '../paths/member-path.ts';
import type { AutoStatus, DataPlaneChoice } from './data-plane-choice.ts';
import { DataPlaneTrial } from './data-plane-trial.ts';
import type { UndecidedDataPlane } from './undecided-data-plane.ts';

/** From the end of one test of all members to the next (ms). */
const INTERVAL = 1000;

export interface DataPlaneChooserOptions {
  /** The kernel's, which is tried. */
  readonly dataPlane: Pick<UndecidedDataPlane, 'carries' | 'choose'>;
  readonly test: () => Promise<readonly MemberPath[]>;
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Keeps the choice; called once. Throws when the disk does not take it: nothing is decided then. */
  readonly decided: (choice: DataPlaneChoice) => void;
  readonly problem: (text: string) => void;
}

/** It was the data plane before: its connections are not to be cut. */
const CARRIES = { kind: 'kernel', reason: 'the kernel forwards to members already' } as const;

/** Tests members until it is known which data plane can serve them. Decides once. */
export class DataPlaneChooser {
  readonly #options: DataPlaneChooserOptions;
  readonly #trial = new DataPlaneTrial();
  #waiting = 'no member is known yet';
  #choice: DataPlaneChoice | undefined;
  #trouble = '';
  #isStopped = true;
  #cancel: () => void = () => undefined;

  constructor(options: DataPlaneChooserOptions) {
    this.#options = options;
  }

  start(): void {
    this.#isStopped = false;
    this.#next(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  status(): AutoStatus {
    return this.#choice ?? { kind: null, reason: this.#waiting, decidedAt: null };
  }

  #next(wait: number): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.clock.after(wait, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      // One that is kept and could not be followed is followed now.
      if (this.#choice === undefined) await this.#try();
      if (this.#choice?.kind === 'kernel') this.#options.dataPlane.choose();
      if (this.#choice !== undefined) return;
    } catch (error) {
      // Said once: it is tried again every second.
      const text = error instanceof Error ? error.message : String(error);
      if (text !== this.#trouble) this.#options.problem(`the data plane cannot be chosen: ${text}`);
      this.#trouble = text;
    }
    this.#next(INTERVAL);
  }

  async #try(): Promise<void> {
    const { test, clock, dataPlane } = this.#options;
    const paths = dataPlane.carries ? [] : await test();
    if (this.#isStopped) return;
    const state = dataPlane.carries ? CARRIES : this.#trial.tested(paths, clock.now());
    if ('waiting' in state) this.#waiting = state.waiting;
    else this.#decide(state);
  }

  #decide(found: Pick<DataPlaneChoice, 'kind' | 'reason'>): void {
    const { wallClock, decided } = this.#options;
    const choice = { ...found, decidedAt: new Date(wallClock()).toISOString() };
    decided(choice);
    this.#choice = choice;
  }
}
