import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

/** Octets of a file of ours that keeps a state: some hundred are the rule. */
export const MAX_STATE_SIZE: number = 256 * 1024;

/**
 * The content of a file that another program wrote, and may have replaced by anything: a named pipe, a device, a folder, or a file
 * without end. What is not a regular file is an error, not something to wait for: open(2) of a pipe that nothing writes to would
 * hold up the whole process.
 * @param limit octets at most; a longer file is an error
 * @throws Error, with `code` where the system says no; `EISDIR` for a folder, `EFBIG` for a longer one
 */
export function readRegularFile(path: string, limit: number): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    checkRegular(fstatSync(descriptor));
    return readAtMost(descriptor, limit);
  } finally {
    closeSync(descriptor);
  }
}

function checkRegular(stat: Stats): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  throw new Error('it is neither a file nor a link to one');
}

/** By reading, since a file may grow, and those of /proc have no size. */
function readAtMost(descriptor: number, limit: number): Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.alloc(Math.min(64 * 1024, limit + 1 - length));
    const count = readSync(descriptor, chunk, 0, chunk.length, null);
    if (count === 0) return Buffer.concat(chunks, length);
    chunks.push(chunk.subarray(0, count));
    length += count;
    if (length > limit) throw Object.assign(new Error(`it has more than ${limit} octets`), { code: 'EFBIG' });
  }
}
