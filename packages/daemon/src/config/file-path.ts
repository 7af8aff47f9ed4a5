import { isAbsolute, normalize } from 'node:path';
import { FieldError, type FieldKind, type TextField, textField } from './field.ts';

/** PATH_MAX of linux/limits.h, without the terminating zero. */
const LONGEST_PATH = 4095;

/** sizeof(sun_path) - 1 of linux/un.h; a longer path would be cut without an error. In octets. */
export const LONGEST_SOCKET_PATH = 107;

/** The path of a Unix socket. */
export function socketPath(): TextField<string> {
  const kind: FieldKind = {
    type: 'path',
    allowed: `an absolute path of at most ${LONGEST_SOCKET_PATH} octets, like /run/bgp-lb/x.sock`,
    jsonSchema: { type: 'string', pattern: '^/' },
  };
  return textField(kind, (text) => {
    const path = checkedPath(text);
    const length = Buffer.byteLength(path);
    if (length > LONGEST_SOCKET_PATH)
      throw new FieldError(`has ${length} octets, too many for a Unix socket`);
    return path;
  });
}

/** An absolute path. A relative one is refused: what it meant would depend on where the daemon was started. */
export function filePath(): TextField<string> {
  const kind: FieldKind = {
    type: 'path',
    allowed: 'an absolute path, like /etc/bgp-lb/ca.crt',
    jsonSchema: { type: 'string', pattern: '^/' },
  };
  return textField(kind, checkedPath);
}

function checkedPath(text: string): string {
  if (text.includes('\0')) throw new FieldError('contains a zero octet');
  if (text.length > LONGEST_PATH) throw new FieldError(`is longer than ${LONGEST_PATH} characters`);
  if (!isAbsolute(text)) throw new FieldError(text === '' ? 'is empty' : 'is a relative path');
  return normalize(text);
}
