import { isAbsolute, normalize } from 'node:path';
import { FieldError, type FieldKind, type TextField, textField } from './field.ts';

/** PATH_MAX of linux/limits.h, without the terminating zero. */
const LONGEST_PATH = 4095;

/** An absolute path. A relative one is refused: what it meant would depend on where the daemon was started. */
export function filePath(): TextField<string> {
  const kind: FieldKind = {
    type: 'path',
    allowed: 'an absolute path, like /etc/bgp-lb/ca.crt',
    jsonSchema: { type: 'string', pattern: '^/' },
  };
  return textField(kind, (text) => {
    if (text.includes('\0')) throw new FieldError('contains a zero octet');
    if (text.length > LONGEST_PATH) throw new FieldError(`is longer than ${LONGEST_PATH} characters`);
    if (!isAbsolute(text)) throw new FieldError(text === '' ? 'is empty' : 'is a relative path');
    return normalize(text);
  });
}
