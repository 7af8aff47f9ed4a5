import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_STATE_SIZE, readRegularFile, replaceFile } from '@bgp-lb/daemon';
import * as z from 'zod';

/** What `drain` asks for: the body of `POST /api/v1/drain`. */
export interface DrainOrderRequest {
  /** Also when no other master would be left. */
  readonly force: boolean;
  /** Milliseconds; an hour at most, like `drain.timeout`. */
  readonly timeout?: number | undefined;
  /** Forgotten when the machine boots: for its shutdown. */
  readonly untilReboot: boolean;
}

export const drainOrderRequest: z.ZodType<DrainOrderRequest> = z.strictObject({
  force: z.boolean().default(false),
  timeout: z.int().min(0).max(3_600_000).optional(),
  untilReboot: z.boolean().default(false),
});

/** An order to drain that holds until `undrain`, over restarts of the speaker. */
export interface DrainOrder {
  readonly version: 1;
  /** ISO 8601. */
  readonly since: string;
  readonly force: boolean;
  readonly timeout?: number | undefined;
  /** With it, the order ends with this boot of the machine. */
  readonly bootId?: string | undefined;
}

const drainOrder: z.ZodType<DrainOrder> = z.strictObject({
  version: z.literal(1),
  since: z.string(),
  force: z.boolean(),
  timeout: z.int().optional(),
  bootId: z.string().optional(),
});

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** drain.json in the state folder. */
export class DrainOrderFile {
  readonly #path: string;
  readonly #bootId: string;
  #order: DrainOrder | undefined;

  /** Reads the order that is there. @param warn told when there is one that cannot be understood; it is not followed */
  constructor(
    stateDir: string,
    warn: (message: string) => void,
    bootId: string = readFileSync(BOOT_ID, 'utf8').trim(),
  ) {
    this.#path = join(stateDir, 'drain.json');
    this.#bootId = bootId;
    this.#order = this.#read(warn);
  }

  get order(): DrainOrder | undefined {
    return this.#order;
  }

  /** @throws Error when the disk does not take it */
  give({ force, timeout, untilReboot }: DrainOrderRequest, now: Date): void {
    const order: DrainOrder = {
      version: 1,
      since: this.#order?.since ?? now.toISOString(),
      force,
      ...(timeout === undefined ? {} : { timeout }),
      ...(untilReboot ? { bootId: this.#bootId } : {}),
    };
    replaceFile(this.#path, `${JSON.stringify(order, null, 2)}\n`);
    this.#order = order;
  }

  /** @returns whether there was one. @throws Error when the file cannot be removed */
  takeBack(): boolean {
    rmSync(this.#path, { force: true });
    const had = this.#order !== undefined;
    this.#order = undefined;
    return had;
  }

  #read(warn: (message: string) => void): DrainOrder | undefined {
    let text: string;
    try {
      text = readRegularFile(this.#path, MAX_STATE_SIZE).toString();
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      // To end because of it would take the VIP off this master when its lease is over.
      warn(`${this.#path} cannot be read, and no order to drain is followed: ${String(error)}`);
      return undefined;
    }
    try {
      const order = drainOrder.parse(JSON.parse(text));
      return order.bootId === undefined || order.bootId === this.#bootId ? order : undefined;
    } catch {
      warn(`${this.#path} is not an order to drain that this version writes, and is not followed`);
      return undefined;
    }
  }
}
