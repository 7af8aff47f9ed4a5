/**
 * Elements of nftables sets over netlink (include/uapi/linux/netfilter/nf_tables.h): what changes within a moment and has no time
 * for a run of nft(8), which reads everything that its table may refer to first. Sets, chains and rules are made by `Nftables`.
 *
 *     batch begin | flush of set 1 | its new elements | flush of set 2 | ... | batch end      one datagram, one transaction
 */
import { addressBytes } from './internet-address.ts';
import { MessageFlag, MessageWriter } from './netlink-message.ts';
import { NetlinkSocket } from './netlink-socket.ts';
import { NetlinkProtocol } from './netlink-transport.ts';
import { familyNumbers, type NftFamily } from './nftables.ts';

/** NFNL_MSG_BATCH_BEGIN and _END. */
const Batch = { Begin: 16, End: 17 } as const;
/** NFNL_SUBSYS_NFTABLES: the upper octet of a message type, and the subsystem that a batch is for. */
const subsystem = 10;
/** NFT_MSG_NEWSETELEM and _DELSETELEM. */
const Message = { New: (subsystem << 8) | 12, Delete: (subsystem << 8) | 14 } as const;
/** NFTA_SET_ELEM_LIST_*. */
const List = { Table: 1, Set: 2, Elements: 3 } as const;
/** NFTA_LIST_ELEM, NFTA_SET_ELEM_* and NFTA_DATA_VALUE. */
const Element = { Item: 1, Key: 1, Timeout: 4 } as const;
const dataValue = 1;
/** An element that the kernel forgets by itself: its set has the flag `timeout`. */
export interface SetElement {
  /** The fields of the set's type in their order: addresses as text, ports as numbers. */
  readonly key: readonly (string | number)[];
  /** Milliseconds until it is forgotten. */
  readonly timeout: number;
}

/** What a set is to have. */
export interface SetElements {
  readonly set: string;
  readonly elements: readonly SetElement[];
}

/** Changes elements of sets over a socket of its own, by which its changes can be told from those of others. */
export class NftElements {
  readonly #socket: NetlinkSocket;

  /** @throws SystemCallError */
  constructor() {
    this.#socket = new NetlinkSocket(NetlinkProtocol.Netfilter);
  }

  /**
   * Gives sets exactly these elements, with their whole time, in one transaction: all of them, or none.
   * @throws NetlinkError; `ENOENT` when there is no such table or set
   */
  replace(family: NftFamily, table: string, sets: readonly SetElements[]): void {
    const names = sets.map(({ set }) => set).join(', ');
    this.#socket.allAcknowledged(`replace elements of ${family} ${table} ${names}`, [
      batchMessage(Batch.Begin),
      ...sets.flatMap((elements) => replaceMessages(family, table, elements)),
      batchMessage(Batch.End),
    ]);
  }

  /** Whether a change that `NftablesMonitor` tells of was made here. In doubt it was not. */
  isOwn(portId: number): boolean {
    return portId === this.#socket.portId;
  }

  close(): void {
    this.#socket.close();
  }
}

/** The messages of one set within a batch. */
export function replaceMessages(
  family: NftFamily,
  table: string,
  { set, elements }: SetElements,
): readonly MessageWriter[] {
  const message = (type: number, flags: number): MessageWriter =>
    new MessageWriter(type, MessageFlag.Request | MessageFlag.Ack | flags)
      .structure(new Uint8Array([familyNumbers[family], 0, 0, 0]))
      .string(List.Table, table)
      .string(List.Set, set);
  // Without elements all are meant. One that is there would not get its time again.
  const flush = message(Message.Delete, 0);
  if (elements.length === 0) return [flush];
  const add = message(Message.New, MessageFlag.Create).nested(List.Elements, (list) => {
    for (const { key, timeout } of elements) {
      list.nested(Element.Item, (item) => {
        item
          .nested(Element.Key, (data) => data.bytes(dataValue, keyBytes(key)))
          .bytes(Element.Timeout, networkOrder64(timeout));
      });
    }
  });
  return [flush, add];
}

/** `struct nfgenmsg` with the subsystem as its resource id, in network order. */
function batchMessage(type: number): MessageWriter {
  return new MessageWriter(type, MessageFlag.Request).structure(new Uint8Array([0, 0, 0, subsystem]));
}

/** Fields of a concatenation are padded to 4 octets each. */
function keyBytes(key: readonly (string | number)[]): Uint8Array {
  const fields = key.map((field) =>
    typeof field === 'string' ? addressBytes(field) : new Uint8Array([field >> 8, field & 0xff]),
  );
  const [only] = fields;
  if (only !== undefined && fields.length === 1) return only;
  return Buffer.concat(fields.map((field) => Buffer.concat([field], (field.length + 3) & ~3)));
}

function networkOrder64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}
