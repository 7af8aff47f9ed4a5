/** What can be changed of routes, rules and next hops, as requests to the kernel. */
import type { MessageWriter } from './netlink-message.ts';
import {
  deleteNexthopMessage,
  type NexthopGroupSetting,
  type NexthopSetting,
  setNexthopGroupMessage,
  setNexthopMessage,
} from './nexthop.ts';
import { deleteRouteMessage, type RouteKey, type RouteSetting, setRouteMessage } from './route.ts';
import { addRuleMessage, deleteRuleMessage, type MarkRule } from './rule.ts';

/** One change. */
export type RouteChange =
  /** Creates or replaces a next hop. */
  | { readonly kind: 'set-nexthop'; readonly nexthop: NexthopSetting }
  /** Creates or replaces a group; a resilient one keeps the buckets of members that stay. */
  | { readonly kind: 'set-nexthop-group'; readonly group: NexthopGroupSetting }
  /** Deletes a next hop or group, and with it the routes that use it; `ENOENT` when there is none. */
  | { readonly kind: 'delete-nexthop'; readonly id: number }
  /** Creates the route, or replaces the one with the same destination, table and metric. */
  | { readonly kind: 'set-route'; readonly route: RouteSetting }
  /** Deletes one route that matches; `ESRCH` when there is none. */
  | { readonly kind: 'delete-route'; readonly route: RouteKey }
  /** Adds a rule; `EEXIST` when it is there. */
  | { readonly kind: 'add-rule'; readonly rule: MarkRule }
  /** Deletes a rule; `ENOENT` when there is none. */
  | { readonly kind: 'delete-rule'; readonly rule: MarkRule };

/** A request that is answered by an acknowledgement. */
export interface AcknowledgedRequest {
  /** What is asked, in words, for errors. */
  readonly name: string;
  readonly writer: MessageWriter;
}

/** The request for a change. @throws RangeError when it cannot be sent */
export function requestOf(change: RouteChange): AcknowledgedRequest {
  switch (change.kind) {
    case 'set-nexthop': {
      const { id, gateway, interfaceIndex } = change.nexthop;
      const name = `set next hop ${id} via ${gateway} on interface ${interfaceIndex}`;
      return { name, writer: setNexthopMessage(change.nexthop) };
    }
    case 'set-nexthop-group': {
      const { group } = change;
      const members = group.members.map(({ id, weight }) => `${id}x${weight}`).join(' ');
      const name = `set next hop group ${group.id} to [${members}]`;
      return { name, writer: setNexthopGroupMessage(group) };
    }
    case 'delete-nexthop':
      return { name: `delete next hop ${change.id}`, writer: deleteNexthopMessage(change.id) };
    case 'set-route':
      return { name: `set route ${routeName(change.route)}`, writer: setRouteMessage(change.route) };
    case 'delete-route':
      return { name: `delete route ${routeName(change.route)}`, writer: deleteRouteMessage(change.route) };
    case 'add-rule':
      return { name: `add rule ${ruleName(change.rule)}`, writer: addRuleMessage(change.rule) };
    case 'delete-rule':
      return { name: `delete rule ${ruleName(change.rule)}`, writer: deleteRuleMessage(change.rule) };
  }
}

function routeName({ destination, table, metric }: RouteKey): string {
  return `${destination} table ${table ?? 254}${metric === undefined ? '' : ` metric ${metric}`}`;
}

function ruleName({ version, priority, mark, table }: MarkRule): string {
  return `IPv${version} ${priority}: from all fwmark ${mark} lookup ${table}`;
}
