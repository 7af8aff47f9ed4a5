/** Kernel settings in /proc/sys (sysctl(8)). */
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const root = '/proc/sys';

/** A setting that could not be read or written. */
export class SysctlError extends Error {
  override readonly name = 'SysctlError';
  /** The setting's name as it was given. */
  readonly setting: string;
  /** `ENOENT` for one that the kernel does not have, `EROFS` in a container, `EINVAL` for a value it refuses. */
  readonly errno: string;

  constructor(action: 'read' | 'write', setting: string, cause: unknown, value?: string) {
    const errno = errnoOf(cause);
    super(`cannot ${action} sysctl ${setting}${value === undefined ? '' : ` = ${value}`}: ${errno}`, {
      cause,
    });
    this.setting = setting;
    this.errno = errno;
  }
}

function errnoOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return String(cause);
}

/**
 * Reads a setting, without its trailing newline.
 * @param name with dots, or with slashes as sysctl(8) takes them; a dot inside an interface name is understood in
 *   both (`net.ipv4.conf.eth0.100.rp_filter`, `net/ipv4/conf/eth0.100/rp_filter`)
 * @throws SysctlError
 * @throws RangeError for a name that leaves /proc/sys
 */
export function readSysctl(name: string): string {
  const path = sysctlPath(name);
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch (error) {
    throw new SysctlError('read', name, error);
  }
}

/** Writes a setting. @throws SysctlError */
export function writeSysctl(name: string, value: string | number): void {
  const path = sysctlPath(name);
  try {
    // Without O_CREAT a missing setting is ENOENT, not EACCES; without O_RDWR a write-only one can be written.
    const fd = openSync(path, constants.O_WRONLY);
    try {
      writeSync(fd, `${value}\n`);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw new SysctlError('write', name, error, String(value));
  }
}

/** The file of a setting. */
function sysctlPath(name: string): string {
  const parts = name.includes('/') ? name.split('/') : name.split('.');
  if (parts.some((part) => part === '' || part === '..' || part.includes('\0'))) {
    throw new RangeError(`not the name of a sysctl: ${JSON.stringify(name)}`);
  }
  return join(root, ...(name.includes('/') ? parts : joinInterfaceName(parts)));
}

/**
 * In `net.ipv4.conf.eth0.100.rp_filter` the part between `conf` and the setting is the interface's name, dots
 * included: interfaces are the entries of a folder, and the setting below has no dot in its name.
 */
function joinInterfaceName(parts: readonly string[]): string[] {
  const [net, version, kind] = parts;
  const isPerInterface = net === 'net' && version !== undefined && (kind === 'conf' || kind === 'neigh');
  if (!isPerInterface || parts.length <= 5) return [...parts];
  const setting = parts.at(-1) ?? '';
  return [net, version, kind, parts.slice(3, -1).join('.'), setting];
}
