/** What Node lacks on Linux: TCP and UDP socket options, scheduling, rtnetlink, sysctl and nftables. */
export { type AskedLink, addressOwners } from './address-owner.ts';
export { arpLinks } from './arp-links.ts';
export { type ChildProgram, startProgram } from './child-program.ts';
export { SystemCallError } from './errno.ts';
export type { RoutedPacket } from './fib-match.ts';
export type { FirewallChain, FirewallPacket, Marks } from './firewall/firewall-rule.ts';
export { type PacketFate, packetFate } from './firewall/packet-fate.ts';
export { type Firewall, readFirewall } from './firewall/read-firewall.ts';
export type { AddressKey, AddressSetting, InterfaceAddress } from './interface-address.ts';
export { AddressFlag, detectionOf, lastingGlobalAddress } from './interface-address.ts';
export type { IpVersion } from './internet-address.ts';
export type { ChangeAction, ChangeKind, KernelChange } from './kernel-change.ts';
export type { Ipv4Conf, Ipv4ConfName, Link, OperState } from './link.ts';
export type { MacvlanSetting } from './macvlan.ts';
export type { Neighbor, NeighborProxy, NeighborState } from './neighbor.ts';
export type { Netconf } from './netconf.ts';
export { isUnanswered, NetlinkError, NetlinkFormatError } from './netlink-error.ts';
export type { NetlinkMonitorOptions } from './netlink-monitor.ts';
export type {
  Nexthop,
  NexthopGroupSetting,
  NexthopMember,
  NexthopSetting,
  ResilientSettings,
} from './nexthop.ts';
export { NexthopFlag } from './nexthop.ts';
export type { NexthopBucket } from './nexthop-bucket.ts';
export type { NftCommand, NftFamily, NftObject } from './nftables.ts';
export { Nftables } from './nftables.ts';
export { type CountedElement, NftCounters } from './nftables-counters.ts';
export { NftElements, type SetElement, type SetElements } from './nftables-elements.ts';
export type { NftablesFailure } from './nftables-error.ts';
export { NftablesError } from './nftables-error.ts';
export { NftablesMonitor, type NftablesMonitorHandlers } from './nftables-monitor.ts';
export { PacketSocket, type PacketSocketHandlers, type PacketSocketOptions } from './packet-socket.ts';
export {
  ProtocolListener,
  type ProtocolListenerHandlers,
  type ProtocolListenerOptions,
} from './protocol-listener.ts';
export { releaseMemory } from './release-memory.ts';
export { reversePathDrops } from './reverse-path-drops.ts';
export type {
  Route,
  RouteDecision,
  RouteFilter,
  RouteHop,
  RouteKey,
  RouteSetting,
  RouteType,
} from './route.ts';
export { RouteProtocol, RouteTable } from './route.ts';
export type { RouteChange } from './route-change.ts';
export type { RouteMonitorHandlers } from './route-monitor.ts';
export { RouteMonitor } from './route-monitor.ts';
export { RouteSocket } from './route-socket.ts';
export type { MarkRule, Rule, RuleAction } from './rule.ts';
export type { Scheduling, SchedulingRefusal, SchedulingRequest } from './scheduling.ts';
export { raiseCallingThread } from './scheduling.ts';
export type { Scope } from './scope.ts';
export {
  type ServiceEnvironment,
  type ServiceNotifier,
  serviceNotifier,
  watchdogTime,
} from './service-notification.ts';
export type { LocalEndpoint, TcpConnection, TcpConnectionState } from './sock-diag.ts';
export { SockDiag } from './sock-diag.ts';
export { isClockSynchronized, limitArenas } from './syscalls.ts';
export { readSysctl, SysctlError, writeSysctl } from './sysctl.ts';
export type { TcpMd5Counters } from './tcp-md5-counters.ts';
export { tcpMd5Counters } from './tcp-md5-counters.ts';
export type { TcpSocketOptions } from './tcp-socket.ts';
export { openTcpSocket } from './tcp-socket.ts';
export type {
  LinuxListeningSocket,
  LinuxSockets,
  ListenOptions,
  NeighborSocketOptions,
} from './tcp-sockets.ts';
export { linuxSockets } from './tcp-sockets.ts';
export type {
  DatagramHandler,
  LinuxUdpReceiver,
  LinuxUdpSender,
  LinuxUdpSockets,
  UdpReceiveOptions,
  UdpSendOptions,
} from './udp-socket.ts';
export { linuxUdpSockets } from './udp-socket.ts';
export { untilAnswered } from './until-answered.ts';
