import { constants } from 'node:os';
import { NetlinkError, type Nexthop, type Route, type Rule } from '@bgp-lb/linux';
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
  fate: (request: string) => Fate = () => 'done';

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

  readonly setNexthop: KernelSocket['setNexthop'] = (setting) =>
    this.#ask(`set next hop ${setting.id} via ${setting.gateway}`, () =>
      this.#nexthops.set(setting.id, { ...setting, isBlackhole: false, flags: 0 }),
    );

  readonly setNexthopGroup: KernelSocket['setNexthopGroup'] = ({ id, members, protocol = 0, resilient }) =>
    this.#ask(`set group ${id} of ${members.length}`, () =>
      this.#nexthops.set(id, {
        id,
        protocol,
        group: members,
        ...(resilient && { resilient }),
        isBlackhole: false,
        flags: 0,
      }),
    );

  readonly deleteNexthop: KernelSocket['deleteNexthop'] = (id) =>
    this.#ask(`delete next hop ${id}`, () => {
      if (!this.#nexthops.delete(id)) throw new NetlinkError(`delete next hop ${id}`, constants.errno.ENOENT);
    });

  readonly setRoute: KernelSocket['setRoute'] = (setting) =>
    this.#ask(`set route ${setting.destination} ${setting.metric}`, () => {
      const { table = 254, type = 'unicast' } = setting;
      this.#routes.set(routeName({ ...setting, table }), { ...setting, table, type });
    });

  readonly deleteRoute: KernelSocket['deleteRoute'] = (key) =>
    this.#ask(`delete route ${key.destination} ${key.metric}`, () => {
      if (!this.#routes.delete(routeName(key))) throw new NetlinkError('delete route', constants.errno.ESRCH);
    });

  readonly addRule: KernelSocket['addRule'] = (rule) =>
    this.#ask(`add rule ${rule.mark}`, () => {
      const name = `${rule.version} ${rule.mark}`;
      if (this.#rules.has(name)) throw new NetlinkError('add rule', constants.errno.EEXIST);
      this.#rules.set(name, { ...rule, action: 'table' });
    });

  readonly deleteRule: KernelSocket['deleteRule'] = (rule) =>
    this.#ask(`delete rule ${rule.mark}`, () => {
      if (!this.#rules.delete(`${rule.version} ${rule.mark}`)) {
        throw new NetlinkError('delete rule', constants.errno.ENOENT);
      }
    });

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

function routeName({ destination, table, metric }: Parameters<KernelSocket['deleteRoute']>[0]): string {
  return `${destination} ${table} ${metric}`;
}
