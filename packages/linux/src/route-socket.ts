/** The kernel's links, addresses, routes, rules and next hops, read and changed by synchronous requests. */
import { constants } from 'node:os';
import { fibMatchMessage, type RoutedPacket } from './fib-match.ts';
import {
  type AddressKey,
  type AddressSetting,
  deleteAddressMessage,
  dumpAddresses,
  type InterfaceAddress,
  parseAddress,
  setAddressMessage,
} from './interface-address.ts';
import { type IpVersion, parsePrefix, zoneOf } from './internet-address.ts';
import {
  dumpLinks,
  getLink,
  type Ipv4Conf,
  type Ipv4ConfName,
  type Link,
  parseIpv4Conf,
  parseLink,
  setIpv4Conf,
} from './link.ts';
import { addMacvlan, deleteLink, type MacvlanSetting, setLinkAlias, setLinkUp } from './macvlan.ts';
import {
  deleteNeighborProxy,
  dumpNeighborProxies,
  dumpNeighbors,
  type Neighbor,
  type NeighborProxy,
  parseNeighbor,
  setNeighborProxy,
} from './neighbor.ts';
import { NetlinkError } from './netlink-error.ts';
import { NetlinkSocket } from './netlink-socket.ts';
import {
  dumpNexthops,
  type Nexthop,
  type NexthopGroupSetting,
  type NexthopSetting,
  parseNexthop,
} from './nexthop.ts';
import { dumpBuckets, type NexthopBucket, parseBucket } from './nexthop-bucket.ts';
import { getGroupPackets, parseGroupPackets } from './nexthop-packets.ts';
import {
  dumpRoutes,
  parseDecision,
  parseRoute,
  type Route,
  type RouteDecision,
  type RouteFilter,
  type RouteKey,
  type RouteSetting,
  routeToMessage,
} from './route.ts';
import { type AcknowledgedRequest, type RouteChange, requestOf } from './route-change.ts';
import { dumpRules, type MarkRule, parseRule, type Rule } from './rule.ts';
import { interfaceIndex } from './syscalls.ts';

/**
 * A request socket of NETLINK_ROUTE. Each call is one request and its answer, in some 10 µs; a dump of 2000 routes
 * takes 2 ms. Not reentrant, and it need not be: nothing here waits for the event loop.
 *
 * Every method throws NetlinkError when the kernel refuses, and RangeError when an argument cannot be sent.
 */
export class RouteSocket {
  readonly #netlink = new NetlinkSocket();

  /** Closes the socket; a second call does nothing. */
  close(): void {
    this.#netlink.close();
  }

  /** For `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** All interfaces. */
  links(): Link[] {
    return this.#netlink.dump('dump links', dumpLinks(), ({ payload }) => parseLink(payload));
  }

  /** Sets IPv4 settings of one interface; works where /proc/sys is mounted read-only. */
  setLinkIpv4Conf(index: number, conf: Partial<Record<Ipv4ConfName, number>>): void {
    this.#netlink.acknowledged(`set ${JSON.stringify(conf)} on interface ${index}`, setIpv4Conf(index, conf));
  }

  /** The IPv4 settings of one interface, without what `all` adds to them. */
  linkIpv4Conf(index: number): Ipv4Conf {
    return this.#netlink.answer(`read IPv4 settings of interface ${index}`, getLink(index), ({ payload }) =>
      parseIpv4Conf(payload),
    );
  }

  /** Makes a macvlan, which is down; `EEXIST` for a name that is taken, `EBUSY` on a port of a bridge or bond. */
  addMacvlan(macvlan: MacvlanSetting): void {
    const { name, parent, address } = macvlan;
    this.#netlink.acknowledged(`add macvlan ${name} ${address} on interface ${parent}`, addMacvlan(macvlan));
  }

  /** Notes something on an interface. */
  setLinkAlias(index: number, alias: string): void {
    this.#netlink.acknowledged(`set alias "${alias}" of interface ${index}`, setLinkAlias(index, alias));
  }

  setLinkUp(index: number): void {
    this.#netlink.acknowledged(`set interface ${index} up`, setLinkUp(index));
  }

  /** Deletes a virtual interface; `ENODEV` when it is gone. */
  deleteLink(index: number): void {
    this.#netlink.acknowledged(`delete interface ${index}`, deleteLink(index));
  }

  /** The addresses of all interfaces or of one. */
  addresses(filter: { readonly index?: number } = {}): InterfaceAddress[] {
    const { index } = filter;
    const all = this.#netlink.dump('dump addresses', dumpAddresses(index), ({ payload }) =>
      parseAddress(payload),
    );
    return index === undefined ? all : all.filter((address) => address.index === index);
  }

  /** Adds an address, or gives the one that is there new lifetimes. */
  setAddress(setting: AddressSetting): void {
    this.#netlink.acknowledged(`set address ${addressName(setting)}`, setAddressMessage(setting));
  }

  deleteAddress(key: AddressKey): void {
    this.#netlink.acknowledged(`delete address ${addressName(key)}`, deleteAddressMessage(key));
  }

  /** The routes of all tables, or those that the filter names. */
  routes(filter: RouteFilter = {}): Route[] {
    const versions: readonly IpVersion[] = filter.version === undefined ? [4, 6] : [filter.version];
    return versions.flatMap((version) => this.#routesOf(version, filter));
  }

  #routesOf(version: IpVersion, filter: RouteFilter): Route[] {
    const ofVersion = (route: Route): boolean => parsePrefix(route.destination).version === version;
    try {
      const routes = this.#netlink.dump('dump routes', dumpRoutes(version, filter), ({ payload }) =>
        parseRoute(payload),
      );
      return routes.filter(
        (route) =>
          // A kernel without this version answers for all families.
          ofVersion(route) &&
          (filter.table === undefined || route.table === filter.table) &&
          (filter.protocol === undefined || route.protocol === filter.protocol),
      );
    } catch (error) {
      // A table that never had a route does not exist: it has none.
      if (filter.table !== undefined && isNetlinkError(error, constants.errno.ENOENT)) return [];
      throw error;
    }
  }

  /** Creates the route, or replaces the one with the same destination, table and metric. */
  setRoute(route: RouteSetting): void {
    this.#change({ kind: 'set-route', route });
  }

  /** Deletes one route that matches; `ESRCH` when there is none. */
  deleteRoute(key: RouteKey): void {
    this.#change({ kind: 'delete-route', route: key });
  }

  /**
   * What the kernel would do with a packet of this host to the address; a link-local one with its zone, `fe80::1%eth0`.
   * @throws NetlinkError `ENETUNREACH` without a route, `EHOSTUNREACH` by an unreachable route, `ENODEV` for a zone that is no interface
   */
  routeTo(address: string, options: { readonly mark?: number } = {}): RouteDecision {
    const request = `find the route to ${address}`;
    const zone = zoneOf(address);
    const index = zone === undefined ? undefined : interfaceIndex(zone);
    if (index === 0) throw new NetlinkError(request, constants.errno.ENODEV);
    return this.#netlink.answer(request, routeToMessage(address, options.mark, index), ({ payload }) =>
      parseDecision(payload),
    );
  }

  /**
   * The route that the kernel takes for a TCP packet that comes in, by its interface, source and port as rules may ask for, or for one
   * that this host sends; undefined for a route of another kind. Packets with a firewall mark may go another way.
   * @throws NetlinkError `EHOSTUNREACH` and the like by a route that refuses, `EXDEV` where rp_filter drops it, `EINVAL` for a blackhole
   */
  routeOf(packet: RoutedPacket): Route | undefined {
    const { source = 'this host', destination, interfaceIndex: index } = packet;
    const request = `find the route from ${source}${index === undefined ? '' : ` on interface ${index}`} to ${destination}`;
    const [found] = this.#netlink.dump(request, fibMatchMessage(packet), ({ payload }) =>
      parseRoute(payload),
    );
    return found;
  }

  /** The policy routing rules. */
  rules(version: IpVersion): Rule[] {
    return this.#netlink
      .dump('dump rules', dumpRules(version), ({ payload }) => parseRule(payload))
      .filter((rule) => rule.version === version);
  }

  /** Adds a rule; `EEXIST` when it is there. */
  addRule(rule: MarkRule): void {
    this.#change({ kind: 'add-rule', rule });
  }

  /** Deletes a rule; `ENOENT` when there is none. */
  deleteRule(rule: MarkRule): void {
    this.#change({ kind: 'delete-rule', rule });
  }

  /** Next hops and groups of everyone or of one protocol number. */
  nexthops(filter: { readonly protocol?: number } = {}): Nexthop[] {
    const { protocol } = filter;
    const all = this.#netlink.dump('dump next hops', dumpNexthops(), ({ payload }) => parseNexthop(payload));
    return protocol === undefined ? all : all.filter((nexthop) => nexthop.protocol === protocol);
  }

  /** Creates or replaces a next hop. */
  setNexthop(nexthop: NexthopSetting): void {
    this.#change({ kind: 'set-nexthop', nexthop });
  }

  /** Creates or replaces a group; a resilient one keeps the buckets of members that stay. */
  setNexthopGroup(group: NexthopGroupSetting): void {
    this.#change({ kind: 'set-nexthop-group', group });
  }

  /** Deletes a next hop or group, and with it the routes that use it; `ENOENT` when there is none. */
  deleteNexthop(id: number): void {
    this.#change({ kind: 'delete-nexthop', id });
  }

  #change(change: RouteChange): void {
    const { name, writer } = requestOf(change);
    this.#netlink.acknowledged(name, writer);
  }

  /**
   * Makes changes of routes, rules and next hops in their order, with few system calls. One that is refused does not keep the kernel
   * from the others.
   * @returns for each what was said against it, by the kernel or, as a RangeError, by ourselves; undefined where it was made
   * @throws NetlinkError whose `isAnswer` is false, or NetlinkFormatError: any of them was made or not
   */
  changeEach(changes: readonly RouteChange[]): readonly (NetlinkError | RangeError | undefined)[] {
    const requests = changes.map(requestOrRefusal);
    const sent = requests.flatMap((request) => (request instanceof RangeError ? [] : [request]));
    const answers = this.#netlink.eachAcknowledged(sent).values();
    return requests.map((request) => (request instanceof RangeError ? request : answers.next().value));
  }

  /** The hash buckets of a resilient group, in order. */
  nexthopBuckets(groupId: number): NexthopBucket[] {
    return this.#netlink.dump(`dump buckets of group ${groupId}`, dumpBuckets(groupId), ({ payload }) =>
      parseBucket(payload),
    );
  }

  /**
   * The packets that each member of a group was chosen for since the group was last replaced, by the member's id; `undefined` where the
   * kernel is older than 6.9 and does not count.
   */
  nexthopGroupPackets(groupId: number): ReadonlyMap<number, number> | undefined {
    try {
      return this.#netlink.answer(
        `read packets of group ${groupId}`,
        getGroupPackets(groupId),
        ({ payload }) => parseGroupPackets(payload),
      );
    } catch (error) {
      // An attribute that it does not know.
      if (isNetlinkError(error, constants.errno.EINVAL)) return undefined;
      throw error;
    }
  }

  /** The neighbor tables of all interfaces or of one. */
  neighbors(index?: number): Neighbor[] {
    const all = this.#netlink.dump('dump neighbors', dumpNeighbors(index), ({ payload }) =>
      parseNeighbor(payload),
    );
    return index === undefined ? all : all.filter((neighbor) => neighbor.index === index);
  }

  /** The addresses of others that the kernel answers for, on all interfaces. */
  neighborProxies(): NeighborProxy[] {
    return this.#netlink
      .dump('dump neighbor proxies', dumpNeighborProxies(), ({ payload }) => parseNeighbor(payload))
      .map(({ index, address }) => ({ index, address }));
  }

  /** Lets the kernel answer for an address; nothing happens when it does. @param protocol whose it is, as of routes */
  setNeighborProxy(proxy: NeighborProxy, protocol: number): void {
    this.#netlink.acknowledged(`set proxy ${proxyName(proxy)}`, setNeighborProxy(proxy, protocol));
  }

  /** `ENOENT` when there is none. */
  deleteNeighborProxy(proxy: NeighborProxy): void {
    this.#netlink.acknowledged(`delete proxy ${proxyName(proxy)}`, deleteNeighborProxy(proxy));
  }
}

function proxyName({ address, index }: NeighborProxy): string {
  return `${address} on interface ${index}`;
}

function isNetlinkError(error: unknown, code: number): boolean {
  return error instanceof NetlinkError && error.code === code;
}

function addressName({ address, prefixLength, index }: AddressKey): string {
  return `${address}/${prefixLength} on interface ${index}`;
}

function requestOrRefusal(change: RouteChange): AcknowledgedRequest | RangeError {
  try {
    return requestOf(change);
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}
