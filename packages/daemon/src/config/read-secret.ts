import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** TCP_MD5SIG_MAXKEYLEN of linux/tcp.h. */
const LONGEST_SECRET = 80;
/** What is read of a file, so that its length can be told. In octets. */
const LONGEST_READ = 256;

/** A password file that cannot be used. The message never contains the password. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
  readonly path: string;
  /** What is wrong with it. */
  readonly fault: string;
  /** What would be taken, where that is not plain. */
  readonly allowed: string | undefined;

  constructor(path: string, fault: string, allowed?: string, options?: ErrorOptions) {
    super(`password file ${path} ${fault}${allowed === undefined ? '' : `; allowed: ${allowed}`}`, options);
    this.path = path;
    this.fault = fault;
    this.allowed = allowed;
  }
}

/**
 * The password in a file: its content without one line end at the end, 1 to 80 octets (the most that TCP-MD5 in Linux takes).
 * A file that others may read or write is refused. Throws `SecretError`.
 */
export function readSecret(path: string): string {
  const bytes = readBounded(path);
  const text = decode(path, bytes);
  const secret = text.replace(/\r?\n$/, '');
  if (secret === '') throw new SecretError(path, 'is empty', '1 to 80 octets');
  if (/[\r\n\0]/.test(secret)) throw new SecretError(path, 'has more than one line', 'one');
  const length = Buffer.byteLength(secret);
  if (length > LONGEST_SECRET) {
    throw new SecretError(
      path,
      `has ${bytes.length > LONGEST_READ ? `more than ${LONGEST_READ}` : length} octets`,
      `1 to ${LONGEST_SECRET}, the most that TCP-MD5 takes`,
    );
  }
  return secret;
}

function readBounded(path: string): Uint8Array {
  let descriptor: number | undefined;
  try {
    // A pipe that nothing writes to would be waited for by open(2).
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new SecretError(path, 'is not a file');
    if ((stat.mode & 0o007) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
      throw new SecretError(path, `has mode ${mode}, so that every user may use it`, '0600 or 0640');
    }
    const bytes = Buffer.alloc(LONGEST_READ + 1);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } catch (error) {
    if (error instanceof SecretError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new SecretError(path, `cannot be read: ${why}`, undefined, { cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new SecretError(path, 'is not UTF-8 text', undefined, { cause: error });
  }
}
