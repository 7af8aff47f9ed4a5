import { constants } from 'node:os';
import {
  type Link,
  NetlinkError,
  type Nexthop,
  type Route,
  type RouteChange,
  type RouteKey,
  type Rule,
} from '@bgp-lb/linux';
import type { KernelSocket } from '../kernel-access.ts';

/** What becomes of a request: carried out and answered, refused by an error, or unanswered, after or without being carried out. */
export type Fate = 'done' | { readonly refused: number } | 'lost-after' | 'lost-before';

/** A kernel's nexthop objects, routes and rules in memory, whose answers a test can take away. */
export class MemoryKernel implements KernelSocket {
  readonly #nexthops = new Map<number, Nexthop>();
  readonly #routes = new Map<string, Route>();
  readonly #rules = new Map<string, Rule>();
  /** Each request, in words. */
  readonly requests: string[] = [];
  /** How often changes were sent. */
  datagrams = 0;
  fate: (request: string) => Fate = () => 'done';

  /** No interface has a name. */
  links(): Link[] {
    return [];
  }

  nexthops(): Nexthop[] {
    this.#ask('read next hops', () => undefined);
    return [...this.#nexthops.values()];
  }

  routes(): Route[] {
    this.#ask('read routes', () => undefined);
    return [...this.#routes.values()];
  }

  rules(version: 4 | 6): Rule[] {
    this.#ask('read rules', () => undefined);
    return [...this.#rules.values()].filter((rule) => rule.version === version);
  }

  /** Requests that are sent together: what becomes of one keeps the kernel from none of the others. */
  readonly changeEach: KernelSocket['changeEach'] = (changes) => {
    this.datagrams += 1;
    let lost: unknown;
    const refusals = changes.map((change) => {
      try {
        this.#change(change);
        return undefined;
      } catch (error) {
        if (!(error instanceof NetlinkError)) throw error;
        if (!error.isAnswer) lost ??= error;
        return error;
      }
    });
    if (lost !== undefined) throw lost;
    return refusals;
  };

  #change(change: RouteChange): void {
    switch (change.kind) {
      case 'set-nexthop':
        this.#ask(`set next hop ${change.nexthop.id} via ${change.nexthop.gateway}`, () =>
          this.#nexthops.set(change.nexthop.id, { ...change.nexthop, isBlackhole: false, flags: 0 }),
        );
        return;
      case 'set-nexthop-group': {
        const { id, members: group, protocol, resilient } = change.group;
        const settings = { id, protocol, group, ...(resilient && { resilient }) };
        this.#ask(`set group ${id} of ${group.length}`, () =>
          this.#nexthops.set(id, { ...settings, isBlackhole: false, flags: 0 }),
        );
        return;
      }
      case 'delete-nexthop':
        this.#ask(`delete next hop ${change.id}`, () => {
          if (!this.#nexthops.delete(change.id)) throw new NetlinkError('delete', constants.errno.ENOENT);
        });
        return;
      case 'set-route': {
        const { table = 254, type = 'unicast' } = change.route;
        this.#ask(`set route ${change.route.destination} ${change.route.metric}`, () => {
          this.#routes.set(routeName({ ...change.route, table }), { ...change.route, table, type });
        });
        return;
      }
      case 'delete-route':
        this.#ask(`delete route ${change.route.destination} ${change.route.metric}`, () => {
          if (!this.#routes.delete(routeName(change.route)))
            throw new NetlinkError('delete', constants.errno.ESRCH);
        });
        return;
      case 'add-rule':
        this.#ask(`add rule ${change.rule.mark}`, () => {
          const name = `${change.rule.version} ${change.rule.mark}`;
          if (this.#rules.has(name)) throw new NetlinkError('add rule', constants.errno.EEXIST);
          this.#rules.set(name, { ...change.rule, action: 'table' });
        });
        return;
      case 'delete-rule':
        this.#ask(`delete rule ${change.rule.mark}`, () => {
          if (!this.#rules.delete(`${change.rule.version} ${change.rule.mark}`)) {
            throw new NetlinkError('delete rule', constants.errno.ENOENT);
          }
        });
    }
  }

  /** What there is, in an order of its own. */
  contents(): unknown {
    return [this.#nexthops, this.#routes, this.#rules].map((map) =>
      [...map].sort(([a], [b]) => String(a).localeCompare(String(b))),
    );
  }

  #ask(request: string, carryOut: () => unknown): void {
    this.requests.push(request);
    const fate = this.fate(request);
    if (typeof fate === 'object') throw new NetlinkError(request, fate.refused);
    if (fate === 'lost-before') throw unanswered(request);
    try {
      carryOut();
    } catch (error) {
      throw fate === 'lost-after' ? unanswered(request) : error;
    }
    if (fate === 'lost-after') throw unanswered(request);
  }
}

function unanswered(request: string): NetlinkError {
  return new NetlinkError(request, constants.errno.ENOBUFS, undefined, false);
}

function routeName({ destination, table, metric }: RouteKey): string {
  return `${destination} ${table} ${metric}`;
}
