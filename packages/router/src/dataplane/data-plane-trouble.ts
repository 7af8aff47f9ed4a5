import type { DataPlane } from './data-plane.ts';

/** Why the data plane is not as the router wants it. */
export class DataPlaneTrouble {
  readonly #dataPlane: Pick<DataPlane, 'checkAble'>;
  readonly #changed: () => void;
  /** Of the last change. */
  #failing: string | undefined;
  /** Of the last look at whether it can change anything. */
  #unable: string | undefined;

  /** @param changed `problem` may be another one now */
  constructor(dataPlane: Pick<DataPlane, 'checkAble'>, changed: () => void) {
    this.#dataPlane = dataPlane;
    this.#changed = changed;
  }

  /** In words; `undefined` when all is as wanted. */
  get problem(): string | undefined {
    return this.#unable ?? this.#failing;
  }

  /** Why nothing can be changed: what is carried, and whether, is not known. */
  get unable(): string | undefined {
    return this.#unable;
  }

  /** A change was refused or left unanswered, in words, or all is as wanted again. */
  failing(problem: string | undefined): void {
    this.#failing = problem;
    this.#changed();
  }

  /** @throws what `DataPlane.checkAble` throws */
  checkAble(): void {
    const before = this.#unable;
    try {
      this.#dataPlane.checkAble();
      this.#unable = undefined;
    } catch (error) {
      this.#unable = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      if (this.#unable !== before) this.#changed();
    }
  }
}
