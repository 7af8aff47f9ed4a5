/**
 * A filter that lets only datagrams with TTL or hop limit 255 into a UDP socket (RFC 5881 section 5). IP_MINTTL and
 * IPV6_MINHOPCOUNT can be set on UDP sockets and do nothing there.
 */

import type { SocketVersion } from './socket-address.ts';
import { Level, SocketOption } from './socket-constants.ts';
import { addressOf, setSocketOption } from './syscalls.ts';

/** One instruction of classic BPF (include/uapi/linux/filter.h, struct sock_filter): code u16, jt u8, jf u8, k u32. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

const loadByte = 0x30;
const jumpIfEqual = 0x15;
const giveBack = 0x06;

/** SKF_NET_OFF: offsets from here count from the IP header. */
const networkHeader = 0xfff0_0000;
/** Where the IP header has its TTL or hop limit. */
const ttlOffset = { 4: 8, 6: 7 } as const;

const wholeDatagram = 0xffff_ffff;
const nothing = 0;

/** Attaches the filter. Do it before bind(2): what arrives in between would not be looked at. */
export function acceptOnlyTtl255(fd: number, version: SocketVersion): void {
  attach(fd, [
    [loadByte, 0, 0, networkHeader + ttlOffset[version]],
    [jumpIfEqual, 0, 1, 255],
    [giveBack, 0, 0, wholeDatagram],
    [giveBack, 0, 0, nothing],
  ]);
}

/** Attaches a filter that drops everything: for a socket that only sends. */
export function acceptNothing(fd: number): void {
  attach(fd, [[giveBack, 0, 0, nothing]]);
}

/** struct sock_fprog: the number of instructions u16, and after padding the pointer to them. */
const headerLength = 16;

function attach(fd: number, program: readonly Instruction[]): void {
  // The program lies behind the header that points to it, in one buffer, which the call keeps alive.
  const buffer = new ArrayBuffer(headerLength + program.length * 8);
  const view = new DataView(buffer);
  view.setUint16(0, program.length, true);
  view.setBigUint64(8, addressOf(new Uint8Array(buffer)) + BigInt(headerLength), true);
  for (const [index, [operation, ifTrue, ifFalse, operand]] of program.entries()) {
    const at = headerLength + index * 8;
    view.setUint16(at, operation, true);
    view.setUint8(at + 2, ifTrue);
    view.setUint8(at + 3, ifFalse);
    view.setUint32(at + 4, operand, true);
  }
  const header = new Uint8Array(buffer, 0, headerLength);
  setSocketOption(fd, Level.Socket, SocketOption.AttachFilter, header, 'SO_ATTACH_FILTER');
}
