/** Notifications of the kernel about links, addresses, routes, rules and next hops, in the event loop. */
import { type ChangeKind, type KernelChange, notificationGroups, parseChange } from './kernel-change.ts';
import { NetlinkMonitor, type NetlinkMonitorOptions } from './netlink-monitor.ts';
import { NetlinkProtocol } from './netlink-transport.ts';

/** Who is told. What a handler throws is given to `error`; nothing is thrown into the event loop. */
export interface RouteMonitorHandlers {
  /** An object changed. Not a promise of completeness: read the tables back before acting. */
  changed(kind: ChangeKind, what: KernelChange): void;
  /** Notifications were lost, and the monitor listens again: whatever was known is to be read again. */
  overflow(): void;
  /** A message that could not be read, a handler that threw, or a socket that could not be opened again. */
  error(error: Error): void;
}

const everyKind: readonly ChangeKind[] = ['link', 'address', 'route', 'nexthop', 'rule', 'netconf'];

/** Listens to NETLINK_ROUTE. */
export class RouteMonitor {
  readonly #monitor: NetlinkMonitor;

  /**
   * Listens from the moment it is made.
   * @param kinds of objects; default all
   * @throws SystemCallError when the first socket cannot be opened
   */
  constructor(
    handlers: RouteMonitorHandlers,
    kinds: readonly ChangeKind[] = everyKind,
    options: NetlinkMonitorOptions = {},
  ) {
    const groups = kinds.flatMap((kind) => notificationGroups[kind]);
    this.#monitor = new NetlinkMonitor(
      NetlinkProtocol.Route,
      groups,
      {
        message(message) {
          const change = parseChange(message);
          if (change !== undefined) handlers.changed(change.kind, change);
        },
        overflow: () => handlers.overflow(),
        error: (error) => handlers.error(error),
      },
      options,
    );
  }

  /** Stops listening; no handler is called any more. */
  close(): void {
    this.#monitor.close();
  }

  /** For `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
