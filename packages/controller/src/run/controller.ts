import { type ApiClient, ApiError, type Clock, type KubernetesObject } from '@bgp-lb/kubernetes';
import { GROUP } from '../api/group.ts';
import { hookChange } from '../core/deletion-hook.ts';
import { reconcile } from '../core/reconcile.ts';
import type { Apply, Outcome, Snapshot } from '../core/snapshot.ts';
import { concerns, hooksConcerned, isWatched, keyOf, kindOf, saysOther } from './affected.ts';
import { CAPI, ClusterView } from './cluster-view.ts';
import { EventSender } from './event-sender.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { LeaderLease } from './leader-lease.ts';
import { ObjectWriter } from './object-writer.ts';
import type { Resource } from './resource-discovery.ts';

/** Keys that are worked on at a time. */
const WORKERS = 8;
/** Milliseconds after which everything is looked at again, whatever is heard. */
const RESYNC = 600_000;
/** Milliseconds over which that is spread. */
const SPREAD = 60_000;
/** Milliseconds after which to look again for what is not known yet. */
const NOT_KNOWN = 1_000;
const NOT_FOUND = 404;
const OWN_STATUS: ReadonlySet<Apply['what']> = new Set(['status', 'provider-status']);

export interface ControllerOptions {
  readonly client: ApiClient;
  /** Of the lease alone: it must not wait behind other requests. */
  readonly leaseClient: ApiClient;
  readonly clock: Clock;
  readonly wallClock: () => number;
  /** All namespaces where it is undefined. */
  readonly namespace: string | undefined;
  readonly watchFilter: string | undefined;
  readonly lease: { readonly namespace: string; readonly name: string; readonly identity: string };
  /** What happens, for logs and metrics. */
  readonly observer: ControllerObserver;
}

export interface ControllerObserver {
  leading(isLeader: boolean): void;
  /** The lease is lost: the process is to end. */
  lost(why: string): void;
  reconciled(key: string, seconds: number): void;
  wrote(what: string): void;
  failed(what: string, error: unknown): void;
}

/** Follows the API and writes what follows from it, while it holds the lease. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #view: ClusterView;
  readonly #lease: LeaderLease;
  readonly #writer: ObjectWriter;
  readonly #events: EventSender;
  readonly #loadBalancers: KeyedQueue;
  readonly #hooks: KeyedQueue;
  /** Machines whose deletion waits for a drain, from when we have seen it. */
  readonly #heldSince = new Map<string, number>();
  #isLeading = false;
  #cancelResync: (() => void) | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    const { client, leaseClient, clock, wallClock, namespace, observer, lease } = options;
    this.#view = new ClusterView({
      ...{ client, clock, wallClock, namespace },
      changed: (group, kind, before, after) => this.#changed(group, kind, before, after),
      synced: () => this.#begin(),
      failed: (error) => observer.failed('watch', error),
    });
    this.#lease = new LeaderLease({
      ...{ client: leaseClient, clock, ...lease },
      acquired: () => {
        this.#isLeading = true;
        observer.leading(true);
        this.#begin();
      },
      lost: (why) => {
        this.#isLeading = false;
        this.#cancelResync?.();
        observer.leading(false);
        observer.lost(why);
      },
      failed: (why) => observer.failed('lease', new Error(why)),
    });
    this.#writer = new ObjectWriter({
      ...{ client, wallClock, identity: lease.identity, wrote: (what) => observer.wrote(what) },
      checkLeader: () => {
        if (!this.#lease.isLeader) throw new Error('not the leader');
      },
    });
    this.#events = new EventSender({
      clock,
      send: (about, event) => this.#writer.event(about, event),
      failed: ({ reason }, error) => observer.failed(`event ${reason}`, error),
    });
    const queue = (what: string, work: (key: string) => Promise<number | undefined>): KeyedQueue =>
      new KeyedQueue({
        clock,
        workers: WORKERS,
        work,
        failed: (key, error) => observer.failed(`${what} ${key}`, error),
      });
    this.#loadBalancers = queue('MachineLoadBalancer', (key) => this.#reconcile(key));
    this.#hooks = queue('the hook of Machine', (key) => this.#reconcileHook(key));
  }

  /** Why it does not know all that it needs; `undefined`: it does. */
  get missing(): string | undefined {
    return this.#view.missing;
  }

  get isLeader(): boolean {
    return this.#lease.isLeader;
  }

  /** Keys that wait. */
  get depth(): number {
    return this.#loadBalancers.depth + this.#hooks.depth;
  }

  start(): void {
    this.#view.start();
    this.#lease.start();
  }

  /** Ends what is under way, and gives the lease up. */
  async stop(): Promise<void> {
    this.#cancelResync?.();
    await Promise.all([this.#loadBalancers.close(), this.#hooks.close()]);
    await this.#events.close();
    await this.#lease.stop();
    this.#view.close();
    this.#options.client.close();
    this.#options.leaseClient.close();
  }

  /** All of it once, when we lead and everything is known. */
  #begin(): void {
    if (!this.#isLeading || this.#view.missing !== undefined) return;
    for (const one of this.#view.loadBalancers()) this.#add(one);
    for (const machine of this.#view.machines()) this.#hooks.add(keyOf(machine));
    this.#loadBalancers.open();
    this.#hooks.open();
    if (this.#cancelResync === undefined) this.#resyncLater();
  }

  #resyncLater(): void {
    this.#cancelResync = this.#options.clock.after(RESYNC, () => {
      const loadBalancers = this.#view.loadBalancers().filter((one) => this.#isOurs(one));
      for (const [queue, objects] of [
        [this.#loadBalancers, loadBalancers],
        [this.#hooks, this.#view.machines()],
      ] as const) {
        for (const [index, one] of objects.entries())
          queue.addAfter(keyOf(one), (index * SPREAD) / objects.length);
      }
      this.#resyncLater();
    });
  }

  #add(loadBalancer: KubernetesObject): void {
    if (this.#isOurs(loadBalancer)) this.#loadBalancers.add(keyOf(loadBalancer));
  }

  #isOurs(loadBalancer: KubernetesObject): boolean {
    return isWatched(loadBalancer, this.#options.watchFilter);
  }

  #changed(
    group: string,
    kind: string,
    before: KubernetesObject | undefined,
    after: KubernetesObject | undefined,
  ): void {
    const object = after ?? before;
    if (!this.#isLeading || this.#view.missing !== undefined || object === undefined) return;
    const { namespace } = object.metadata;
    const change = { before, after };
    if (group === GROUP && kind === 'MachineLoadBalancer') {
      this.#add(object);
      for (const machine of hooksConcerned(this.#view.machines(namespace), change))
        this.#hooks.add(keyOf(machine));
      return;
    }
    if (group === GROUP && kind === 'LoadBalancerInstance' && !saysOther(change)) return;
    // A Node is in no namespace.
    for (const one of this.#view.loadBalancers(namespace))
      if (concerns(one, group, kind, change)) this.#add(one);
    if (group === CAPI && kind === 'Machine') this.#hooks.add(keyOf(object));
    if (group === CAPI && kind === 'Cluster') {
      for (const machine of this.#view.machines(namespace)) this.#hooks.add(keyOf(machine));
    }
  }

  async #reconcile(key: string): Promise<number | undefined> {
    const { clock, observer } = this.#options;
    const began = clock.now();
    const [namespace = '', name = ''] = key.split('/');
    const loadBalancer = this.#view.loadBalancer(namespace, name);
    if (loadBalancer === undefined) return undefined;
    const snapshot = this.#view.snapshot(loadBalancer);
    if (snapshot === undefined) return NOT_KNOWN;
    const { failed, outcome } = await this.#write(snapshot);
    this.#events.say(loadBalancer, outcome.events);
    observer.reconciled(key, (clock.now() - began) / 1_000);
    if (failed === undefined) return outcome.requeueAfter;
    // A drain that is over by time does not wait for what is refused.
    if (outcome.requeueAfter !== undefined) this.#loadBalancers.addAfter(key, outcome.requeueAfter);
    throw failed;
  }

  /** The status last, and whatever else fails: what is said in it (a drain that is over) others wait for. */
  async #write(
    found: Snapshot,
  ): Promise<{ readonly outcome: Outcome; readonly failed: unknown | undefined }> {
    const { snapshot, failed: notMade } = await this.#withPool(found);
    const wanted = reconcile(snapshot);
    const isPublishing = ({ what }: Apply): boolean => what === 'endpoint' || what === 'provisioned';
    const own = await this.#applyAll(
      wanted.applies.filter((one) => !isPublishing(one) && !isCreation(one) && one.what !== 'status'),
    );
    const refused = await this.#applyAll(wanted.applies.filter(isPublishing));
    const outcome =
      refused === undefined ? wanted : reconcile({ ...snapshot, publishRefused: textOf(refused) });
    for (const apply of outcome.applies.filter(({ what }) => what === 'status')) await this.#apply(apply);
    return { outcome, failed: notMade ?? own ?? refused };
  }

  /** One after the other, until one fails. @returns why it has failed */
  async #applyAll(applies: readonly Apply[]): Promise<unknown | undefined> {
    try {
      for (const apply of applies) await this.#apply(apply);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** Makes the pool where there is none. One of its name that is not ours is found out by that. */
  async #withPool(
    snapshot: Snapshot,
  ): Promise<{ readonly snapshot: Snapshot; readonly failed: unknown | undefined }> {
    const create = reconcile(snapshot).applies.find(isCreation);
    if (create === undefined) return { snapshot, failed: undefined };
    try {
      const pool = await this.#writer.create(create, this.#resourceOf(create).resource);
      return { snapshot: { ...snapshot, pool }, failed: undefined };
    } catch (error) {
      return { snapshot, failed: error };
    }
  }

  #resourceOf({ target }: Apply): { group: string; kind: string; resource: Resource } {
    const { group, kind } = kindOf(target);
    const resource = this.#view.resource(group, kind);
    if (resource === undefined) throw new Error(`${kind} of ${group} is not known to the API server`);
    return { group, kind, resource };
  }

  async #apply(apply: Apply): Promise<void> {
    const { group, kind, resource } = this.#resourceOf(apply);
    try {
      this.#view.wrote(group, kind, await this.#writer.apply(apply, resource));
    } catch (error) {
      // Deleted meanwhile, which the watch tells as well.
      if (error instanceof ApiError && error.status === NOT_FOUND && OWN_STATUS.has(apply.what)) return;
      throw error;
    }
  }

  async #reconcileHook(key: string): Promise<number | undefined> {
    const [namespace = '', name = ''] = key.split('/');
    const machine = this.#view.machine(namespace, name);
    const resource = this.#view.resource(CAPI, 'Machine');
    if (machine === undefined || resource === undefined) {
      this.#heldSince.delete(key);
      return undefined;
    }
    const { change, holdsFor } = hookChange(
      ...([machine, this.#view.loadBalancers(namespace), this.#view.clusters(namespace)] as const),
      (one) => isWatched(one, this.#options.watchFilter),
    );
    const left = this.#holdLeft(key, holdsFor);
    if (left !== undefined && left > 0) return left;
    if (left !== undefined) {
      const why = new Error(
        `no status has said within ${holdsFor} ms that it is drained: its deletion goes on`,
      );
      this.#options.observer.failed(`the hook of Machine ${key}`, why);
    }
    const wanted = left === undefined ? change : 'remove';
    if (wanted === undefined) return undefined;
    try {
      this.#view.wrote(CAPI, 'Machine', await this.#writer.setHook(machine, resource, wanted));
    } catch (error) {
      if (error instanceof ApiError && error.status === NOT_FOUND) return undefined;
      throw error;
    }
    return undefined;
  }

  /** Milliseconds for which a deletion may be held still; `undefined`: it is not. By our own clock, and from when we have seen it. */
  #holdLeft(key: string, holdsFor: number | undefined): number | undefined {
    if (holdsFor === undefined) {
      this.#heldSince.delete(key);
      return undefined;
    }
    const now = this.#options.clock.now();
    const since = this.#heldSince.get(key) ?? now;
    this.#heldSince.set(key, since);
    return since + holdsFor - now;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A pool that is not known to be there. */
function isCreation({ what, target }: Apply): boolean {
  return what === 'pool' && target.uid === undefined;
}
