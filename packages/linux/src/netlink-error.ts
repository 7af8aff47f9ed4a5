/** What can go wrong between us and the kernel over netlink. */
import { errnoName, errnoText } from './errno.ts';

/** The kernel refused a request, or gave no answer: see `isAnswer`. */
export class NetlinkError extends Error {
  override readonly name = 'NetlinkError';
  /** For example `EEXIST`. */
  readonly errno: string;
  /** The positive error number. */
  readonly code: number;
  /** What was asked, in words: `set route 10.100.0.1/32 table 254`. */
  readonly request: string;
  /** The kernel's own text (NLMSGERR_ATTR_MSG), when it sent one. */
  readonly kernelText: string | undefined;
  /**
   * True when the kernel said so: nothing was changed. False when its answer was lost (`ENOBUFS`), did not come (`ETIMEDOUT`) or never
   * fitted together (`EBUSY`): a change may have been made or not, which only reading it back tells.
   */
  readonly isAnswer: boolean;

  constructor(request: string, code: number, kernelText?: string, isAnswer = true) {
    const errno = errnoName(code);
    super(`${request}: ${errno}: ${kernelText ?? textOf(errno, code)}`);
    this.request = request;
    this.code = code;
    this.errno = errno;
    this.kernelText = kernelText;
    this.isAnswer = isAnswer;
  }
}

/** All that this package asks of netlink and that the kernel may not permit takes the same capability. */
function textOf(errno: string, code: number): string {
  return errno === 'EPERM' ? `${errnoText(code)} without CAP_NET_ADMIN` : errnoText(code);
}

/** Bytes that are not a netlink message: a length that passes its container, or a value of the wrong size. */
export class NetlinkFormatError extends Error {
  override readonly name = 'NetlinkFormatError';
}

/** There was no answer that could be relied on: a change that was asked for may have been made or not. */
export function isUnanswered(error: unknown): error is NetlinkError | NetlinkFormatError {
  return error instanceof NetlinkError ? !error.isAnswer : error instanceof NetlinkFormatError;
}
