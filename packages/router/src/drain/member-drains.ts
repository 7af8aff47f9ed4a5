import { renameSync } from 'node:fs';
import { ControlError, MAX_STATE_SIZE, readRegularFile, replaceFile } from '@bgp-lb/daemon';
import type { Clock } from '@bgp-lb/protocol/node';
import * as z from 'zod';
import type { MemberView } from '../pool/member-view.ts';
import type { OperatorDrain } from '../pool/operator-drain.ts';

/** Milliseconds: the longest that a member may keep its live connections. */
export const LONGEST_DRAIN = 3_600_000;
/** Members that may be drained at a time; a pool remembers no more. */
const MAX_DRAINS = 128;

/** A drain as it is kept. Times are ISO 8601: it outlives the process, and with it the monotonic clock. */
const kept = z.strictObject({
  /** Next hop of the member. */
  member: z.string().min(1).max(64),
  since: z.iso.datetime(),
  /** Milliseconds from then on that it keeps its live connections. */
  wait: z.int().min(0).max(LONGEST_DRAIN),
  force: z.boolean(),
});

const file = z.strictObject({ version: z.literal(1), drains: z.array(kept).max(MAX_DRAINS) });

type KeptDrain = z.infer<typeof kept>;

/** What the operator asks for. */
export interface MemberDrainOrder {
  /** Name or next hop. */
  readonly member: string;
  /** Milliseconds that it keeps its live connections, at most `LONGEST_DRAIN`. */
  readonly wait: number;
  /** Also when nothing else would be left. */
  readonly force: boolean;
}

/** A drain as it is shown. */
export interface MemberDrain {
  readonly member: string;
  /** When it was asked for, ISO 8601. */
  readonly since: string;
  /** Milliseconds until it gets nothing any more; 0 when that time is over. */
  readonly leavesInMs: number;
  readonly force: boolean;
  /** VIPs that it is in use for, still or because nothing else serves. */
  readonly inUse: readonly string[];
}

/** What the drains need of a pool. */
export interface DrainedPool {
  readonly vip: string;
  members(): readonly MemberView[];
  needs(nextHop: string): boolean;
}

export interface MemberDrainsOptions {
  /** Where they are kept. */
  readonly path: string;
  readonly pools: ReadonlyMap<string, DrainedPool>;
  readonly clock: Clock;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Has all pools go by it, in the tick of the call. */
  readonly apply: (nextHop: string, drain: OperatorDrain | undefined) => void;
  readonly changed: (member: string, order: MemberDrainOrder | undefined) => void;
}

/**
 * Members that the operator takes out on this load balancer, whatever their speakers say. The other load balancers know nothing
 * of it. They are kept in a file, so that a restart of the router brings none back.
 */
export class MemberDrains {
  readonly #options: MemberDrainsOptions;
  #drains = new Map<string, KeptDrain>();

  constructor(options: MemberDrainsOptions) {
    this.#options = options;
  }

  /**
   * Goes on with the drains that were kept, before any member is taken into a pool. A file that this release does not understand is
   * put aside under another name, and no member is drained by it.
   * @returns what is wrong with it, in one sentence; `undefined` when nothing is
   */
  restore(): string | undefined {
    const { path } = this.#options;
    let text: string;
    try {
      text = readRegularFile(path, MAX_STATE_SIZE).toString();
    } catch (error) {
      const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      return isAbsent
        ? undefined
        : `${path} cannot be read, so that nobody is drained by it: ${textOf(error)}`;
    }
    const parsed = file.safeParse(parseJson(text));
    if (!parsed.success) {
      const problem = `${path} is not what this release writes, so that nobody is drained by it`;
      const aside = `${path}.refused`;
      try {
        renameSync(path, aside);
      } catch (error) {
        return `${problem}; it cannot be put aside: ${textOf(error)}`;
      }
      return `${problem}; it is ${aside} now`;
    }
    for (const drain of parsed.data.drains) {
      this.#drains.set(drain.member, drain);
      this.#apply(drain);
    }
    return undefined;
  }

  /**
   * Drains a member, or changes how.
   * @throws ControlError when no member of that name is known, nothing else would be left, or the disk does not take it: then nothing changes
   */
  drain({ member, wait, force }: MemberDrainOrder): MemberDrain {
    const { changed, wallClock } = this.#options;
    const nextHop = this.#find(member);
    const needing = this.#pools().filter((pool) => pool.needs(nextHop));
    if (needing.length > 0 && !force) {
      const vips = needing.map(({ vip }) => vip).join(', ');
      throw new ControlError(
        409,
        `nobody else is active for ${vips}: without ${member} it would not be served`,
      );
    }
    if (this.#drains.size >= MAX_DRAINS && !this.#drains.has(nextHop)) {
      throw new ControlError(409, `${MAX_DRAINS} members are drained already`);
    }
    const drain = { member: nextHop, since: new Date(wallClock()).toISOString(), wait, force };
    this.#keep(new Map(this.#drains).set(nextHop, drain));
    this.#apply(drain);
    changed(nextHop, { member: nextHop, wait, force });
    return this.#shown(drain);
  }

  /**
   * Ends a drain.
   * @throws ControlError when the member is not drained, or the disk does not take it: then nothing changes
   */
  undrain(member: string): void {
    const nextHop = this.#drains.has(member) ? member : this.#find(member);
    if (!this.#drains.has(nextHop)) {
      const known = [...this.#drains.keys()].join(', ');
      throw new ControlError(
        404,
        `${member} is not drained here; drained: ${known === '' ? 'nobody' : known}`,
      );
    }
    const left = new Map(this.#drains);
    left.delete(nextHop);
    this.#keep(left);
    this.#options.apply(nextHop, undefined);
    this.#options.changed(nextHop, undefined);
  }

  all(): readonly MemberDrain[] {
    return [...this.#drains.values()].map((drain) => this.#shown(drain));
  }

  #shown(drain: KeptDrain): MemberDrain {
    const { member, since, force } = drain;
    const isInUse = (pool: DrainedPool): boolean =>
      pool.members().some(({ nextHop, inPool }) => nextHop === member && inPool);
    const inUse = this.#pools()
      .filter(isInUse)
      .map(({ vip }) => vip);
    return { member, since, leavesInMs: this.#left(drain), force, inUse };
  }

  /** By the wall clock, which may have been set meanwhile: never more than was given. */
  #left({ since, wait }: KeptDrain): number {
    const left = Date.parse(since) + wait - this.#options.wallClock();
    return Math.min(wait, Math.max(0, Math.round(left)));
  }

  #apply(drain: KeptDrain): void {
    const { apply, clock } = this.#options;
    apply(drain.member, { until: clock.now() + this.#left(drain), isForced: drain.force });
  }

  #keep(drains: Map<string, KeptDrain>): void {
    const content: z.infer<typeof file> = { version: 1, drains: [...drains.values()] };
    try {
      replaceFile(this.#options.path, `${JSON.stringify(content, null, 2)}\n`);
    } catch (error) {
      throw new ControlError(500, `nothing was changed, since it cannot be kept: ${textOf(error)}`);
    }
    this.#drains = drains;
  }

  #find(member: string): string {
    const members = this.#pools().flatMap((pool) => pool.members());
    const found = members.find(({ name, nextHop }) => name === member || nextHop === member);
    if (found === undefined) {
      const known = [...new Set(members.map(({ nextHop }) => nextHop))].join(', ');
      throw new ControlError(404, `no member ${member}; known: ${known === '' ? 'nobody' : known}`);
    }
    return found.nextHop;
  }

  #pools(): DrainedPool[] {
    return [...this.#options.pools.values()];
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
