/** Names and texts of Linux error numbers (errno(3)). */
import { constants } from 'node:os';
import { getSystemErrorMessage } from 'node:util';

/** Numbers that the kernel returns and that libc does not know: include/linux/errno.h. */
const kernelOnly: Readonly<Record<number, string>> = { 524: 'ENOTSUPP' };

const names: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

/** The name of a positive error number, `EEXIST` for 17; `E<number>` when it has no name. */
export function errnoName(code: number): string {
  // EAGAIN and EWOULDBLOCK, EOPNOTSUPP and ENOTSUP are pairs of names for one number in Linux.
  if (code === constants.errno.EAGAIN) return 'EAGAIN';
  if (code === constants.errno.EOPNOTSUPP) return 'EOPNOTSUPP';
  return names.get(code) ?? kernelOnly[code] ?? `E${code}`;
}

/** What strerror(3) says about a positive error number; the name when there is no text. */
export function errnoText(code: number): string {
  // Numbers that libc does not know are libuv's own: 4095 would be "end of file".
  return (names.has(code) ? getSystemErrorMessage(-code) : undefined) ?? errnoName(code);
}

/** A system call that failed, with the fields of Node's own errors of system calls. */
export class SystemCallError extends Error {
  override readonly name = 'SystemCallError';
  /** For example `ENOENT`. */
  readonly code: string;
  /** The number as Node gives it: negative. */
  readonly errno: number;
  /** The call, and for a socket option the option: `setsockopt(TCP_MD5SIG)`. */
  readonly syscall: string;

  /** @param number positive, as errno(3) has it */
  constructor(syscall: string, number: number) {
    const code = errnoName(number);
    super(`${syscall}: ${code}: ${errnoText(number)}`);
    this.syscall = syscall;
    this.code = code;
    this.errno = -number;
  }
}
