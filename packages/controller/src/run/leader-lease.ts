import { type ApiClient, ApiError, type Clock, isJsonObject } from '@bgp-lb/kubernetes';
import { valueAt } from '../core/read-json.ts';
import {
  heldSpec,
  isFree,
  RENEW_DEADLINE,
  RETRY_PERIOD,
  releasedSpec,
  type SeenLease,
  seen,
} from './lease-record.ts';

/** Milliseconds for one request, as kube-controller-manager has it (half of the deadline): a second one must fit in. */
const REQUEST_LIMIT = 5_000;
const CONFLICT = 409;
const NOT_FOUND = 404;

export interface LeaderLeaseOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  /** Ours, unlike that of any other replica. */
  readonly identity: string;
  readonly acquired: () => void;
  /** It could not be renewed in time: what it allowed must end at once. */
  readonly lost: (why: string) => void;
  /** An attempt failed. */
  readonly failed: (why: string) => void;
}

/** Holds a Lease (coordination.k8s.io), as client-go's leader election does: one replica at a time is the leader. */
export class LeaderLease {
  readonly #options: LeaderLeaseOptions;
  readonly #end = new AbortController();
  /** Of the requests. */
  readonly #cut = new AbortController();
  #seen: SeenLease | undefined;
  /** Of the last renewal; `undefined` while we are not the leader. */
  #renewedAt: number | undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(options: LeaderLeaseOptions) {
    this.#options = options;
  }

  get isLeader(): boolean {
    const { clock } = this.#options;
    // Asked for by what writes: an event loop that hung is no excuse for two writers.
    return this.#renewedAt !== undefined && clock.now() - this.#renewedAt < RENEW_DEADLINE;
  }

  start(): void {
    this.#done = this.#run();
  }

  /** Gives the lease up, so that another replica need not wait. */
  async stop(): Promise<void> {
    const { client, clock, identity, failed } = this.#options;
    this.#end.abort();
    // A renewal that is under way is let through: cut, its outcome would not be known. One that hangs is not waited for.
    const cancel = clock.after(RETRY_PERIOD, () => this.#cut.abort(new Error('stopping')));
    await this.#done;
    try {
      if (this.#renewedAt === undefined) return;
      this.#renewedAt = undefined;
      const lease = await this.#read(this.#cut.signal);
      if (lease === undefined || valueAt(lease, 'spec', 'holderIdentity') !== identity) return;
      const body = { ...lease, spec: releasedSpec(lease, Date.now()) };
      await client.send({ method: 'PUT', path: this.#path, body }, this.#cut.signal);
    } catch (error) {
      failed(`the lease was not given up: ${textOf(error)}`);
    } finally {
      cancel();
    }
  }

  get #path(): string {
    return `${this.#collection}/${this.#options.name}`;
  }

  get #collection(): string {
    return `/apis/coordination.k8s.io/v1/namespaces/${this.#options.namespace}/leases`;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#end.signal.aborted) {
      const began = clock.now();
      try {
        await this.#attempt();
      } catch (error) {
        this.#options.failed(textOf(error));
        if (this.#renewedAt !== undefined && !this.isLeader) {
          this.#renewedAt = undefined;
          this.#options.lost(`the lease was not renewed for ${RENEW_DEADLINE / 1_000} s: ${textOf(error)}`);
          return;
        }
      }
      // After a request that hung there is no time to lose.
      await this.#pause(clock.now() - began < RETRY_PERIOD ? RETRY_PERIOD : 100);
    }
  }

  async #attempt(): Promise<void> {
    const { clock, identity } = this.#options;
    // Counted from before the request: another replica counts from when it sees the outcome, which is later.
    const began = clock.now();
    const lease = await this.#limited((signal) => this.#read(signal));
    if (lease !== undefined) this.#seen = seen(this.#seen, lease, clock.now());
    if (this.#seen !== undefined && lease !== undefined && !isFree(this.#seen, identity, clock.now())) {
      if (this.#renewedAt === undefined) return;
      this.#renewedAt = undefined;
      this.#end.abort();
      this.#options.lost('another replica holds the lease');
      return;
    }
    const written = await this.#limited((signal) => this.#write(lease, signal));
    if (written === undefined) return;
    this.#seen = { lease: written, at: clock.now() };
    const wasLeader = this.#renewedAt !== undefined;
    this.#renewedAt = began;
    if (!wasLeader) this.#options.acquired();
  }

  async #read(signal: AbortSignal): Promise<SeenLease['lease'] | undefined> {
    try {
      const lease = await this.#options.client.send({ method: 'GET', path: this.#path }, signal);
      return isJsonObject(lease) ? lease : undefined;
    } catch (error) {
      if (error instanceof ApiError && error.status === NOT_FOUND) return undefined;
      throw error;
    }
  }

  /** `undefined`: another replica was faster. */
  async #write(
    lease: SeenLease['lease'] | undefined,
    signal: AbortSignal,
  ): Promise<SeenLease['lease'] | undefined> {
    const { client, identity, namespace, name } = this.#options;
    const spec = heldSpec(lease, identity, Date.now());
    const body = {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } },
      // With the version that was read: of two that take it, one is refused.
      ...lease,
      spec,
    };
    try {
      const written = await client.send(
        lease === undefined
          ? { method: 'POST', path: this.#collection, body }
          : { method: 'PUT', path: this.#path, body },
        signal,
      );
      return isJsonObject(written) ? written : undefined;
    } catch (error) {
      if (error instanceof ApiError && error.status === CONFLICT && this.#renewedAt === undefined)
        return undefined;
      throw error;
    }
  }

  /** A request must not outlast the deadline, and one that hangs not take all of it. */
  async #limited<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { client, clock } = this.#options;
    const limit = new AbortController();
    const left =
      this.#renewedAt === undefined ? RENEW_DEADLINE : this.#renewedAt + RENEW_DEADLINE - clock.now();
    const cancel = clock.after(Math.min(REQUEST_LIMIT, Math.max(0, left)), () => {
      client.doubt();
      limit.abort(new Error('no answer in time'));
    });
    try {
      return await ask(AbortSignal.any([limit.signal, this.#cut.signal]));
    } finally {
      cancel();
    }
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#end;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      signal.addEventListener(
        'abort',
        () => {
          cancel();
          resolve();
        },
        { once: true },
      );
    });
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
