/** Notifications of NETLINK_ROUTE as typed changes. */
import { AddressMessage, type InterfaceAddress, parseAddress } from './interface-address.ts';
import { type Link, LinkMessage, parseLink } from './link.ts';
import { type Netconf, NetconfMessage, parseNetconf } from './netconf.ts';
import type { NetlinkMessage } from './netlink-message.ts';
import { type Nexthop, NexthopMessage, parseNexthop } from './nexthop.ts';
import { parseRoute, type Route, RouteMessage } from './route.ts';
import { parseRule, type Rule, RuleMessage } from './rule.ts';

/** The object was created or changed, or it is gone. */
export type ChangeAction = 'set' | 'deleted';

/** What the kernel said about one object. */
export type KernelChange =
  | { readonly kind: 'link'; readonly action: ChangeAction; readonly object: Link }
  | { readonly kind: 'address'; readonly action: ChangeAction; readonly object: InterfaceAddress }
  | { readonly kind: 'route'; readonly action: ChangeAction; readonly object: Route }
  | { readonly kind: 'nexthop'; readonly action: ChangeAction; readonly object: Nexthop }
  | { readonly kind: 'rule'; readonly action: ChangeAction; readonly object: Rule }
  | { readonly kind: 'netconf'; readonly action: ChangeAction; readonly object: Netconf };

/** The kinds of objects that changes are told of. */
export type ChangeKind = KernelChange['kind'];

/**
 * RTNLGRP_* numbers of a kind, IPv4 and IPv6. Losing carrier removes next hops and IPv4 routes without a word in
 * their own groups: an owner of such objects listens to `link` too.
 */
export const notificationGroups: Readonly<Record<ChangeKind, readonly number[]>> = {
  link: [1],
  address: [5, 9],
  route: [7, 11],
  nexthop: [32],
  rule: [8, 19],
  netconf: [24, 25],
};

/** Reads a notification; undefined for messages and families that are of no interest. @throws NetlinkFormatError */
export function parseChange({ type, payload }: NetlinkMessage): KernelChange | undefined {
  switch (type) {
    case LinkMessage.New:
    case LinkMessage.Delete:
      return { kind: 'link', action: action(type === LinkMessage.Delete), object: parseLink(payload) };
    case AddressMessage.New:
    case AddressMessage.Delete: {
      const object = parseAddress(payload);
      return object && { kind: 'address', action: action(type === AddressMessage.Delete), object };
    }
    case RouteMessage.New:
    case RouteMessage.Delete: {
      const object = parseRoute(payload);
      return object && { kind: 'route', action: action(type === RouteMessage.Delete), object };
    }
    case NexthopMessage.New:
    case NexthopMessage.Delete:
      return {
        kind: 'nexthop',
        action: action(type === NexthopMessage.Delete),
        object: parseNexthop(payload),
      };
    case RuleMessage.New:
    case RuleMessage.Delete: {
      const object = parseRule(payload);
      return object && { kind: 'rule', action: action(type === RuleMessage.Delete), object };
    }
    case NetconfMessage.New:
    case NetconfMessage.Delete: {
      const object = parseNetconf(payload);
      return object && { kind: 'netconf', action: action(type === NetconfMessage.Delete), object };
    }
    default:
      return undefined;
  }
}

function action(isDeleted: boolean): ChangeAction {
  return isDeleted ? 'deleted' : 'set';
}
