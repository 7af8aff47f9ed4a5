import { AttributeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { Reader } from '../reader.ts';

/** Reads values of one size to the end; a length that is no non-zero multiple of that size is malformed. */
export function readList<T>(reader: Reader, size: number, read: () => T): readonly T[] {
  const length = reader.remaining;
  if (length === 0 || length % size !== 0) {
    throw new AttributeError(
      UpdateSubcode.AttributeLengthError,
      `length ${length}: expected a non-zero multiple of ${size}`,
    );
  }
  const values: T[] = [];
  while (reader.remaining > 0) values.push(read());
  return values;
}
