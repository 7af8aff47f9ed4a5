/** What a service manager is told by a service: sd_notify(3). */
import { Domain, SocketType } from './socket-constants.ts';
import { close, sendTo, socket } from './syscalls.ts';

const pathOffset = 2;
/** `sun_path` of `struct sockaddr_un` (unix(7)). */
const longestPath = 108;

/** What systemd gives a service in its environment. */
export interface ServiceEnvironment {
  readonly NOTIFY_SOCKET?: string | undefined;
  readonly WATCHDOG_USEC?: string | undefined;
  readonly WATCHDOG_PID?: string | undefined;
}

/** Tells the service manager; lines as sd_notify(3) has them: `READY=1`. Never throws: a service runs without being heard. */
export type ServiceNotifier = (state: string) => void;

/**
 * How the service manager is told; undefined for a process that none has started.
 * @param failed hears of what cannot be sent, each time
 */
export function serviceNotifier(
  { NOTIFY_SOCKET: path }: ServiceEnvironment,
  failed: (error: Error) => void = () => undefined,
): ServiceNotifier | undefined {
  if (path === undefined || path === '') return undefined;
  const target = unixAddress(path);
  if (target === undefined) {
    failed(new RangeError(`NOTIFY_SOCKET: "${path}"; allowed are /path and @name, of less than 108 octets`));
    return undefined;
  }
  return (state) => {
    try {
      const fd = socket(
        Domain.Unix,
        SocketType.Datagram | SocketType.NonBlocking | SocketType.CloseOnExec,
        0,
      );
      try {
        sendTo(fd, new TextEncoder().encode(state), target);
      } finally {
        close(fd);
      }
    } catch (error) {
      failed(error instanceof Error ? error : new Error(String(error)));
    }
  };
}

/**
 * Milliseconds within which a watchdog wants to hear `WATCHDOG=1` of this process (sd_watchdog_enabled(3)); undefined when none
 * watches it.
 */
export function watchdogTime(
  { WATCHDOG_USEC: time, WATCHDOG_PID: watched }: ServiceEnvironment,
  pid: number,
): number | undefined {
  const microseconds = Number(time ?? '');
  if (!Number.isInteger(microseconds) || microseconds <= 0) return undefined;
  return watched === undefined || Number(watched) === pid ? microseconds / 1_000 : undefined;
}

/** `struct sockaddr_un`; `@name` is a name of the abstract namespace. */
function unixAddress(path: string): Uint8Array | undefined {
  const bytes = new TextEncoder().encode(path);
  if (!/^[/@]./.test(path) || bytes.length >= longestPath) return undefined;
  // An abstract name is as long as the address is; a path ends with a zero octet.
  const address = new Uint8Array(pathOffset + bytes.length + (path.startsWith('@') ? 0 : 1));
  new DataView(address.buffer).setUint16(0, Domain.Unix, true);
  address.set(bytes, pathOffset);
  if (path.startsWith('@')) address[pathOffset] = 0;
  return address;
}
