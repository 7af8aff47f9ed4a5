import type { Path, RejectedPath, RouteChange } from './path.ts';
import type { PathStore } from './path-store.ts';

/** The change that is being put together. */
export class ChangeBuilder {
  readonly announced: Path[] = [];
  readonly withdrawn: Path[] = [];
  readonly rejected: RejectedPath[] = [];
  readonly refreshed: Path[] = [];
  readonly #isTold: boolean;

  /** @param isTold it is asked what changed: otherwise no paths are made but those that were rejected */
  constructor(isTold: boolean) {
    this.#isTold = isTold;
  }

  add(list: 'announced' | 'withdrawn' | 'refreshed', store: PathStore, entry: number): void {
    if (this.#isTold) this[list].push(store.path(entry));
  }

  build(): RouteChange {
    const { announced, withdrawn, rejected, refreshed } = this;
    return { announced, withdrawn, rejected, ...(refreshed.length > 0 && { refreshed }) };
  }
}
