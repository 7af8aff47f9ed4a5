import { existsSync } from 'node:fs';
import type { DrainWish } from '../annotation/drain-wish.ts';
import type { DrainOrderFile } from './drain-order.ts';
import type { DrainRequest } from './lifecycle-input.ts';

/** All that may ask for a drain, beside the API server itself. */
export class DrainTriggers {
  readonly #file: string;
  readonly #orders: Pick<DrainOrderFile, 'order'>;
  readonly #annotation: { readonly wish: DrainWish } | undefined;
  #isStopping = false;
  #isHurried = false;

  /**
   * @param file while it exists, the master is drained
   * @param annotation what the Node asks for, where that is followed
   */
  constructor(
    file: string,
    orders: Pick<DrainOrderFile, 'order'>,
    annotation?: { readonly wish: DrainWish },
  ) {
    this.#annotation = annotation;
    this.#file = file;
    this.#orders = orders;
  }

  /** The speaker ends, and drains before. */
  stop(): void {
    this.#isStopping = true;
  }

  /** The end is to come now. */
  hurry(): void {
    this.#isHurried = true;
  }

  get isHurried(): boolean {
    return this.#isHurried;
  }

  /** Everything that asks for a drain now. The one that forces it, if any, comes first. */
  all(): readonly DrainRequest[] {
    const { order } = this.#orders;
    const timeout = order?.timeout;
    const requests: DrainRequest[] = [];
    if (this.#isStopping) requests.push({ by: 'stop', isForced: true });
    if (order !== undefined) {
      requests.push({ by: 'command', isForced: order.force, ...(timeout === undefined ? {} : { timeout }) });
    }
    if (existsSync(this.#file)) requests.push({ by: 'drain file', isForced: true });
    const wish = this.#annotation?.wish ?? 'none';
    if (wish !== 'none') requests.push({ by: 'annotation', isForced: wish === 'force' });
    return requests.sort((a, b) => Number(b.isForced) - Number(a.isForced));
  }

  /** The request that counts, with the time that the command gave. */
  current(): DrainRequest | undefined {
    const requests = this.all();
    const [first] = requests;
    const timeout = requests.find((request) => request.timeout !== undefined)?.timeout;
    return first === undefined || timeout === undefined ? first : { ...first, timeout };
  }
}
