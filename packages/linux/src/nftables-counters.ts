/**
 * Counters of the elements of nftables sets over netlink (include/uapi/linux/netfilter/nf_tables.h): what is read every few seconds and
 * is not worth a run of nft(8).
 */
import { NetlinkError, NetlinkFormatError } from './netlink-error.ts';
import { Attributes, attributesIn, MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';
import { NetlinkSocket } from './netlink-socket.ts';
import { NetlinkProtocol } from './netlink-transport.ts';
import { familyNumbers, type NftFamily } from './nftables.ts';

/** NFNL_SUBSYS_NFTABLES and NFT_MSG_GETSETELEM. */
const getElements = (10 << 8) | 13;
/** `struct nfgenmsg`. */
const headerLength = 4;
/** NFTA_SET_ELEM_LIST_*. */
const List = { Table: 1, Set: 2, Elements: 3 } as const;
/** NFTA_SET_ELEM_* and NFTA_DATA_VALUE. */
const Element = { Key: 1, Expression: 7 } as const;
const dataValue = 1;
/** NFTA_EXPR_*. */
const Expression = { Name: 1, Data: 2 } as const;
/** NFTA_COUNTER_PACKETS. */
const counterPackets = 2;

/** An element and what its counter has. */
export interface CountedElement {
  /** The fields of the set's type as the kernel has them, each padded to 4 octets: addresses in network order, interfaces in host order. */
  readonly key: Uint8Array;
  /** Packets since the element was made. */
  readonly packets: number;
}

/** Reads counters of set elements; a set of a hundred takes some 50 µs. */
export class NftCounters {
  readonly #socket: NetlinkSocket;

  /** @throws SystemCallError */
  constructor() {
    this.#socket = new NetlinkSocket(NetlinkProtocol.Netfilter);
  }

  /**
   * The elements of a set that have a counter; undefined when there is no such table or set.
   * @throws NetlinkError, NetlinkFormatError
   */
  elements(family: NftFamily, table: string, set: string): CountedElement[] | undefined {
    const request = new MessageWriter(getElements, MessageFlag.Request | MessageFlag.Dump)
      .structure(new Uint8Array([familyNumbers[family], 0, 0, 0]))
      .string(List.Table, table)
      .string(List.Set, set);
    try {
      const name = `read counters of ${family} ${table} ${set}`;
      return this.#socket.dump(name, request, ({ payload }) => parseElements(payload)).flat();
    } catch (error) {
      if (error instanceof NetlinkError && error.errno === 'ENOENT') return undefined;
      throw error;
    }
  }

  close(): void {
    this.#socket.close();
  }
}

/** Reads NFT_MSG_NEWSETELEM. @throws NetlinkFormatError */
function parseElements(payload: Uint8Array): CountedElement[] {
  const attributes = new PayloadReader(payload, headerLength, 'nfgenmsg').attributes();
  const list = attributes.bytes(List.Elements) ?? new Uint8Array();
  return attributesIn(list).flatMap(([, bytes]) => {
    const element = new Attributes(bytes);
    const key = element.nested(Element.Key)?.bytes(dataValue);
    const expression = element.nested(Element.Expression);
    if (key === undefined || expression?.string(Expression.Name) !== 'counter') return [];
    // A copy: the octets of the message are overwritten by the next one.
    return [{ key: key.slice(), packets: packetsOf(expression.nested(Expression.Data)) }];
  });
}

/** Numbers of nftables are in network order. */
function packetsOf(counter: Attributes | undefined): number {
  const bytes = counter?.bytes(counterPackets);
  if (bytes?.length !== 8) throw new NetlinkFormatError('a counter without its packets');
  return Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0));
}
