import { isUnanswered, NetlinkError } from '@bgp-lb/linux';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { Difference } from '../data-plane.ts';
import { desiredObjects, KnownProbePaths, type Wanted } from './desired-objects.ts';
import { objectDifferences } from './fib-differences.ts';
import { type KernelSocket, perform, readOwnObjects } from './kernel-access.ts';
import { type KernelObjects, type NexthopGroup, noObjects, routeKey, ruleKey } from './kernel-objects.ts';
import type { NextHopResolver } from './next-hop-resolver.ts';
import type { ObjectIds } from './object-ids.ts';
import { describeOperation, type Operation, operations } from './operation.ts';

/** What one pass did. */
export interface Pass {
  readonly done: readonly Operation[];
  /** Operations that the kernel refused, with its words, or did not answer. */
  readonly failed: readonly string[];
}

/** What became of operations that were sent together. */
type Sent =
  /** For each why it was refused; undefined where it was done. */
  | { readonly refusals: readonly (string | undefined)[] }
  /** The kernel gave no answer: any of them may have been carried out or not. */
  | { readonly unanswered: string };

/** What became of a list of operations. */
type Outcome =
  | { readonly kind: 'through'; readonly failures: readonly string[] }
  /** Next hops were refused, and the rest was left. */
  | { readonly kind: 'refused-next-hops'; readonly problems: readonly string[] }
  /** An answer was lost, and the rest was left. */
  | { readonly kind: 'unanswered'; readonly problem: string };

export interface KernelReconcilerOptions {
  readonly socket: KernelSocket;
  readonly resolver: Pick<NextHopResolver, 'refuse'>;
  readonly ids: ObjectIds;
  readonly protocol: number;
  readonly now: () => number;
  readonly onOperation: (kind: string, tookMs: number, error: string | undefined) => void;
}

/** More refusals of next hops than this in one pass are left for the next one. */
const MAX_ROUNDS = 8;

/** Errors by which kernels refuse a kind of group that they do not know. Others, as a lack of memory, pass. */
const UNKNOWN_KIND = ['EINVAL', 'EOPNOTSUPP'];

/**
 * Brings the kernel to what is wanted, from what it was last known to have. `readBack` makes that knowledge true
 * again; between two of those a change costs only its own requests.
 *
 * A request whose answer is lost was carried out or not: neither is believed. The kernel is read back, once in a pass, and the
 * pass goes on from what is there; when that cannot be had either, the pass ends, and the next one begins by reading.
 */
export class KernelReconciler {
  #options: KernelReconcilerOptions;
  #known: KernelObjects = noObjects;
  #probePaths = new KnownProbePaths();
  /** It is not known what the kernel has: the next pass reads it first. */
  #isUncertain = true;
  /** The kernel's words when it refused a resilient group and took a plain one; `undefined` while it takes resilient ones. */
  #plainBecause: string | undefined;

  constructor(options: KernelReconcilerOptions) {
    this.#options = options;
  }

  /** The objects that the kernel has, as far as is known. */
  get known(): KernelObjects {
    return this.#known;
  }

  /** The kernel did not answer when it was last asked what it has. */
  get isUncertain(): boolean {
    return this.#isUncertain;
  }

  /** What this kernel cannot do, one sentence each. */
  get problems(): readonly string[] {
    const cost = 'each member that comes or goes breaks connections of the others too, 10 to 50 % of all';
    return this.#plainBecause === undefined
      ? []
      : [
          `this kernel forwards by plain groups, since it refused a resilient one (Linux 5.13 has them): ${cost}. It says: ${this.#plainBecause}`,
        ];
  }

  /** Reads every object of ours from the kernel. @throws NetlinkError */
  readBack(): void {
    const { socket, protocol, ids } = this.#options;
    this.#isUncertain = true;
    const { objects, foreignIds } = readOwnObjects(socket, protocol);
    this.#known = objects;
    ids.setForeign(foreignIds);
    ids.adopt(objects);
    this.#isUncertain = false;
  }

  /** The next pass begins by reading what the kernel has. */
  distrust(): void {
    this.#isUncertain = true;
  }

  /** What the kernel has at this moment against what is wanted; nothing is changed. @throws NetlinkError */
  differences(wanted: Wanted): readonly Difference[] {
    const { socket, protocol, ids } = this.#options;
    const { objects } = readOwnObjects(socket, protocol);
    const asPossible = this.#asPossible(wanted);
    const desired = desiredObjects(asPossible, ids, objects, this.#probePaths.of(asPossible));
    return objectDifferences(desired, objects);
  }

  #asPossible(wanted: Wanted): Wanted {
    return this.#plainBecause === undefined ? wanted : { ...wanted, resilient: undefined };
  }

  /** Performs what is missing. Does not throw for what the kernel refuses or leaves unanswered. */
  reconcile(wanted: Wanted): Pass {
    const done: Operation[] = [];
    const failed: string[] = [];
    /** What was left unanswered in this pass. */
    let unanswered: string | undefined;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (this.#isUncertain) {
        const problem = this.#tryReadBack();
        if (problem !== undefined) {
          return { done, failed: [...failed, problem] };
        }
      }
      const missing = this.#missing(wanted);
      if (missing instanceof RangeError) {
        return { done, failed: [...failed, missing.message] };
      }
      const outcome = this.#performAll(missing, done);
      if (outcome.kind === 'through') {
        return { done, failed: [...failed, ...outcome.failures] };
      }
      if (outcome.kind === 'refused-next-hops') {
        // The rest of their groups can still be carried: try again without them.
        failed.push(...outcome.problems);
      } else {
        this.#isUncertain = true;
        if (unanswered !== undefined) {
          return { done, failed: [...failed, unanswered, outcome.problem] };
        }
        unanswered = outcome.problem;
      }
    }
    return { done, failed };
  }

  /** @returns why the kernel could not be read */
  #tryReadBack(): string | undefined {
    try {
      this.readBack();
      return undefined;
    } catch (error) {
      if (error instanceof NetlinkError || isUnanswered(error)) {
        return `the kernel cannot be read, and nothing is changed until it can: ${error.message}`;
      }
      throw error;
    }
  }

  /** What is missing; the RangeError of `ObjectIds` when others have taken every id that we could use. */
  #missing(wanted: Wanted): Operation[] | RangeError {
    try {
      const asPossible = this.#asPossible(wanted);
      const probes = this.#probePaths.of(asPossible);
      return operations(desiredObjects(asPossible, this.#options.ids, this.#known, probes), this.#known);
    } catch (error) {
      if (error instanceof RangeError) {
        return error;
      }
      throw error;
    }
  }

  /** The group that the VIP's route leads to. */
  groupOf(vip: string, table: number, metric: number): NexthopGroup | undefined {
    const route = this.#known.routes.get(routeKey({ destination: vip, table, metric }));
    return route?.target.kind === 'group' ? this.#known.groups.get(route.target.id) : undefined;
  }

  /** Gives a group another idle timer (s) for the time of one request. @returns what the kernel said against it */
  pulse(group: NexthopGroup, idleTimer: number): string | undefined {
    const { resilient } = group;
    if (resilient === undefined) {
      return 'the group is a plain one';
    }
    const short = { ...group, resilient: { ...resilient, idleTimer } };
    const problem =
      this.#performOne({ kind: 'set-group', group: short }) ?? this.#performOne({ kind: 'set-group', group });
    if (problem !== undefined) {
      // It may have been left with the short timer.
      this.#isUncertain = true;
    }
    return problem;
  }

  #performOne(operation: Operation): string | undefined {
    const sent = this.#perform([operation]);
    return 'unanswered' in sent ? sent.unanswered : sent.refusals[0];
  }

  /** The next hops that the VIP's route leads to. */
  forwarding(vip: string, table: number, metric: number): WeightedNextHop[] {
    return this.membersOf(this.groupOf(vip, table, metric));
  }

  /** What an earlier life left for a VIP: by the route, or where that was removed, by the VIP's own group id. */
  found(vip: string, place: { table: number; metric: number; buckets: number }): WeightedNextHop[] {
    const byRoute = this.forwarding(vip, place.table, place.metric);
    const { groups } = this.#known;
    return byRoute.length > 0
      ? byRoute
      : this.membersOf(groups.get(this.#options.ids.group(vip, place.buckets, this.#known)));
  }

  /** The next hops of a group, each once: twins are of no interest outside. */
  membersOf(group: NexthopGroup | undefined): WeightedNextHop[] {
    const weights = new Map<string, number>();
    for (const { id, weight } of group?.members ?? []) {
      const gateway = this.#known.nexthops.get(id)?.gateway;
      if (gateway !== undefined) {
        weights.set(gateway, Math.max(weight, weights.get(gateway) ?? 0));
      }
    }
    return [...weights].map(([nextHop, weight]) => ({ nextHop, weight }));
  }

  /** Those of one kind need nothing of each other, and are sent together. */
  #performAll(wanted: readonly Operation[], done: Operation[]): Outcome {
    const failures: string[] = [];
    for (const ofOneKind of byKind(wanted)) {
      // What was to take its place is not there: what is there forwards on until the next pass.
      const left = (one: Operation): boolean => one.kind.startsWith('delete-') || this.#leadsNowhere(one);
      const now = failures.length === 0 ? ofOneKind : ofOneKind.filter((operation) => !left(operation));
      const sent = this.#perform(now);
      if ('unanswered' in sent) {
        return { kind: 'unanswered', problem: sent.unanswered };
      }
      const refusedNextHops: string[] = [];
      for (const [index, operation] of now.entries()) {
        const refusal = sent.refusals[index];
        if (refusal === undefined) {
          done.push(operation);
        } else if (operation.kind === 'set-nexthop') {
          this.#options.resolver.refuse(operation.nexthop.gateway, refusal);
          refusedNextHops.push(refusal);
        } else {
          failures.push(refusal);
        }
      }
      if (refusedNextHops.length > 0) {
        return { kind: 'refused-next-hops', problems: refusedNextHops };
      }
    }
    return { kind: 'through', failures };
  }

  /** A route to a group that was refused. */
  #leadsNowhere(operation: Operation): boolean {
    return (
      operation.kind === 'set-route' &&
      operation.route.target.kind === 'group' &&
      !this.#known.groups.has(operation.route.target.id)
    );
  }

  #perform(together: readonly Operation[]): Sent {
    const [first] = together;
    if (first === undefined) return { refusals: [] };
    const { socket, protocol, now, onOperation } = this.#options;
    const begin = now();
    let answers: ReturnType<typeof perform>;
    try {
      answers = perform(socket, protocol, together);
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      const others = together.length === 1 ? '' : ` (and ${together.length - 1} more)`;
      const unanswered = `${describeOperation(first)}${others}: ${error.message}`;
      onOperation(first.kind, now() - begin, unanswered);
      return { unanswered };
    }
    const took = (now() - begin) / together.length;
    return { refusals: together.map((operation, index) => this.#judge(operation, answers[index], took)) };
  }

  /** @returns why it was refused, after what can be done without it */
  #judge(operation: Operation, refusal: Error | undefined, took: number): string | undefined {
    const problem = refusal && `${describeOperation(operation)}: ${refusal.message}`;
    this.#options.onOperation(operation.kind, took, problem);
    if (refusal === undefined) {
      this.#known = after(this.#known, operation);
      return undefined;
    }
    return this.#performPlain(operation, refusal) ? undefined : problem;
  }

  /**
   * Kernels before 5.13 have no resilient groups, and say so in words that are also used for other faults. So it is tried:
   * where the same members are taken as a plain group, it was the kind of group that was refused.
   */
  #performPlain(operation: Operation, refusal: Error): boolean {
    if (!(refusal instanceof NetlinkError && UNKNOWN_KIND.includes(refusal.errno))) {
      return false;
    }
    const hasResilient = [...this.#known.groups.values()].some(({ resilient }) => resilient !== undefined);
    if (operation.kind !== 'set-group' || operation.group.resilient === undefined || hasResilient) {
      return false;
    }
    const { socket, protocol } = this.#options;
    const plain = { kind: 'set-group', group: { ...operation.group, resilient: undefined } } as const;
    try {
      const [refused] = perform(socket, protocol, [plain]);
      if (refused !== undefined) return false;
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      this.#isUncertain = true;
      return false;
    }
    this.#plainBecause = refusal.message;
    this.#known = after(this.#known, plain);
    return true;
  }
}

/** Runs of operations of one kind, in their order. */
function byKind(all: readonly Operation[]): Operation[][] {
  const runs: Operation[][] = [];
  for (const operation of all) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === operation.kind) last.push(operation);
    else runs.push([operation]);
  }
  return runs;
}

/** The objects as they are after the operation. */
export function after(objects: KernelObjects, operation: Operation): KernelObjects {
  switch (operation.kind) {
    case 'set-nexthop':
      return { ...objects, nexthops: withEntry(objects.nexthops, operation.nexthop.id, operation.nexthop) };
    case 'set-group':
      return { ...objects, groups: withEntry(objects.groups, operation.group.id, operation.group) };
    case 'set-route':
      return { ...objects, routes: withEntry(objects.routes, routeKey(operation.route), operation.route) };
    case 'add-rule':
      return { ...objects, rules: withEntry(objects.rules, ruleKey(operation.rule), operation.rule) };
    case 'delete-rule':
      return { ...objects, rules: without(objects.rules, ruleKey(operation.rule)) };
    case 'delete-route':
      return { ...objects, routes: without(objects.routes, routeKey(operation.route)) };
    case 'delete-group':
      return { ...objects, groups: without(objects.groups, operation.id) };
    case 'delete-nexthop':
      return { ...objects, nexthops: without(objects.nexthops, operation.id) };
  }
}

function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): Map<K, V> {
  return new Map(map).set(key, value);
}

function without<K, V>(map: ReadonlyMap<K, V>, key: K): Map<K, V> {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}
