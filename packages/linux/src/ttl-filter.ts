/**
 * A filter that lets only datagrams with TTL or hop limit 255 into a UDP socket (RFC 5881 section 5). IP_MINTTL and
 * IPV6_MINHOPCOUNT can be set on UDP sockets and do nothing there.
 */

import type { SocketVersion } from './socket-address.ts';
import { attachFilter, Bpf, nothing, wholeDatagram } from './socket-filter.ts';

/** SKF_NET_OFF: offsets from here count from the IP header. */
const networkHeader = 0xfff0_0000;
/** Where the IP header has its TTL or hop limit. */
const ttlOffset = { 4: 8, 6: 7 } as const;

/** Attaches the filter. Do it before bind(2): what arrives in between would not be looked at. */
export function acceptOnlyTtl255(fd: number, version: SocketVersion): void {
  attachFilter(fd, [
    [Bpf.LoadByte, 0, 0, networkHeader + ttlOffset[version]],
    [Bpf.JumpIfEqual, 0, 1, 255],
    [Bpf.GiveBack, 0, 0, wholeDatagram],
    [Bpf.GiveBack, 0, 0, nothing],
  ]);
}

/** Attaches a filter that drops everything: for a socket that only sends. */
export function acceptNothing(fd: number): void {
  attachFilter(fd, [[Bpf.GiveBack, 0, 0, nothing]]);
}
