/** Notifications of the kernel about nftables, in the event loop. */
import { type NetlinkMessage, PayloadReader } from './netlink-message.ts';
import { NetlinkMonitor, type NetlinkMonitorOptions } from './netlink-monitor.ts';
import { NetlinkProtocol } from './netlink-transport.ts';

/** NFNLGRP_NFTABLES (include/uapi/linux/netfilter/nfnetlink.h). */
const nftablesGroup = 7;
/** NFNL_SUBSYS_NFTABLES: the upper octet of a message type. */
const nftablesSubsystem = 10;
/** NFT_MSG_NEWGEN: the end of a transaction, which names no table. */
const newGeneration = 15;
/** `struct nfgenmsg`: family u8, version u8, resource id u16. */
const headerLength = 4;
/** NFTA_TABLE_NAME, and the table's name in chains, rules, sets, their elements and objects: all are attribute 1. */
const tableAttribute = 1;

/** Who is told. What a handler throws is given to `error`; nothing is thrown into the event loop. */
export interface NftablesMonitorHandlers {
  /**
   * Something in this table, or the table itself, was made, changed or deleted.
   * @param portId of the netlink socket that asked for it; see `NftElements.isOwn`
   */
  changed(table: string, portId: number): void;
  /** Notifications were lost, and the monitor listens again. */
  overflow(): void;
  /** A message that could not be read, a handler that threw, or a socket that could not be opened again. */
  error(error: Error): void;
}

/** Listens to changes of nftables, by `nft` or by any other program. */
export class NftablesMonitor {
  readonly #monitor: NetlinkMonitor;

  /**
   * Listens from the moment it is made.
   * @throws SystemCallError when the first socket cannot be opened
   */
  constructor(handlers: NftablesMonitorHandlers, options: NetlinkMonitorOptions = {}) {
    this.#monitor = new NetlinkMonitor(
      NetlinkProtocol.Netfilter,
      [nftablesGroup],
      {
        message(message) {
          const table = tableOf(message);
          if (table !== undefined) handlers.changed(table, message.portId);
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
}

/**
 * The table that a notification is about; undefined for what is about none.
 * @throws NetlinkFormatError
 */
export function tableOf({ type, payload }: NetlinkMessage): string | undefined {
  if (type >> 8 !== nftablesSubsystem || (type & 0xff) === newGeneration) return undefined;
  return new PayloadReader(payload, headerLength, 'nfgenmsg').attributes().string(tableAttribute);
}
