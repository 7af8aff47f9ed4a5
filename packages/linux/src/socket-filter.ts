/** Classic BPF on a socket: what it does not give back, Node never sees (socket(7), SO_ATTACH_FILTER). */
import { Level, SocketOption } from './socket-constants.ts';
import { addressOf, setSocketOption } from './syscalls.ts';

/** One instruction (include/uapi/linux/filter.h, struct sock_filter): code u16, jt u8, jf u8, k u32. */
export type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/** BPF_LD by absolute offset, BPF_JEQ and BPF_RET with a constant (include/uapi/linux/bpf_common.h). */
export const Bpf = { LoadWord: 0x20, LoadByte: 0x30, JumpIfEqual: 0x15, GiveBack: 0x06 } as const;

/** What `GiveBack` gives back. */
export const wholeDatagram = 0xffff_ffff;
export const nothing = 0;

/** struct sock_fprog: the number of instructions u16, and after padding the pointer to them. */
const headerLength = 16;

/** Attaches a filter. Do it before bind(2): what arrives in between would not be looked at. @throws SystemCallError */
export function attachFilter(fd: number, program: readonly Instruction[]): void {
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
