/**
 * The TCP-MD5 keys of one router: one, or while keys are changed the present one and the next. TCP-MD5 answers a wrong key with
 * silence, so each attempt to connect that leads nowhere is followed by one with the other key. A session that stands keeps the key
 * that it was made with (RFC 2385), whatever comes here.
 */
export class RouterKeys {
  #keys: readonly string[];
  #index = 0;
  /** An attempt was made with the current key, and has not led to a session. */
  #isTried = false;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  get isUsed(): boolean {
    return this.#keys.length > 0;
  }

  /** The key of the last attempt; `undefined` without any. */
  get current(): string | undefined {
    return this.#keys[this.#index];
  }

  /** Takes other keys from the next attempt on; begins with the one that worked last, where it is still there. */
  replace(keys: readonly string[]): void {
    const current = this.#keys[this.#index];
    this.#keys = keys;
    this.#index = Math.max(0, current === undefined ? 0 : keys.indexOf(current));
    this.#isTried = false;
  }

  /** The key of the next attempt; `undefined` without any. */
  next(): string | undefined {
    if (this.#isTried && this.#keys.length > 0) this.#index = (this.#index + 1) % this.#keys.length;
    this.#isTried = true;
    return this.#keys[this.#index];
  }

  /** The last attempt has led to a session. */
  worked(): void {
    this.#isTried = false;
  }
}
