/**
 * TCP connections of this network namespace: which there are, and how to reset them. NETLINK_SOCK_DIAG
 * (sock_diag(7), include/uapi/linux/inet_diag.h):
 *
 *     inet_diag_req_v2:  family u8 | protocol u8 | extensions u8 | 0 | states u32 | inet_diag_sockid
 *     inet_diag_msg:     family u8 | state u8 | timer u8 | retransmissions u8 | inet_diag_sockid | counters
 *     inet_diag_sockid:  source port | destination port | source 16 | destination 16 | interface u32 | cookie u64
 *
 * Ports and addresses are in network order, the rest in host order.
 */
import { AddressFamily, addressBytes, addressText, ipVersion } from './internet-address.ts';
import { NetlinkError, NetlinkFormatError } from './netlink-error.ts';
import { MessageFlag, MessageWriter } from './netlink-message.ts';
import { NetlinkSocket } from './netlink-socket.ts';
import { NetlinkProtocol } from './netlink-transport.ts';

const diagByFamily = 20;
const destroySocket = 21;

const tcp = 6;
const requestLength = 56;
const identifierLength = 48;
const messageLength = 72;
/** Where the identifier is in a request and in an answer. */
const identifierInRequest = 8;
const identifierInMessage = 4;
/** `idiag_wqueue`. */
const sendQueueInMessage = 60;
/** Of `idiag_timer`. */
const retransmitTimer = 1;

const State = { Established: 1, CloseWait: 8 } as const;
const wantedStates = (1 << State.Established) | (1 << State.CloseWait);

/** `close-wait`: the peer has closed its side; this host's process has not, and may still be answering. */
export type TcpConnectionState = 'established' | 'close-wait';

/** A local end of TCP connections. */
export interface LocalEndpoint {
  readonly address: string;
  readonly port: number;
}

/** One TCP connection. */
export interface TcpConnection {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly state: TcpConnectionState;
  /** Octets of this side that the peer has not acknowledged, or that wait to be sent. */
  readonly unacknowledged: number;
  /** How often they were sent again in vain, one after the other. */
  readonly resent: number;
  /** What `destroy` names it by, with the kernel's cookie: a later connection of the same ports is another one. */
  readonly identity: { readonly family: number; readonly octets: Uint8Array };
}

/** Lists and resets TCP connections. Calls block for as long as the kernel walks its table of connections. */
export class SockDiag {
  readonly #netlink = new NetlinkSocket(NetlinkProtocol.SocketDiagnostics);

  /**
   * The connections whose local end is this, accepted by a process or still in its backlog. A socket that listens for
   * both IP versions has its IPv4 connections among those of IPv6: these are found too, with IPv4 addresses.
   * @throws NetlinkError
   */
  connections({ address, port }: LocalEndpoint): TcpConnection[] {
    const version = ipVersion(address);
    const wanted = addressText(addressBytes(address));
    const families = version === 4 ? [AddressFamily.Inet, AddressFamily.Inet6] : [AddressFamily.Inet6];
    return families
      .flatMap((family) => this.#dump(family, port))
      .filter(({ localAddress }) => localAddress === wanted);
  }

  /**
   * Resets a connection as the owner of its socket could not (SOCK_DESTROY): the peer gets a RST at once, and the
   * process here an ECONNABORTED when it next looks. The local address must still be there, or no RST can leave.
   * Needs CAP_NET_ADMIN and a kernel with CONFIG_INET_DIAG_DESTROY.
   * @returns false when the connection had ended before
   * @throws NetlinkError; `EOPNOTSUPP` where the kernel cannot do it
   */
  destroy({ identity, localAddress, localPort, remoteAddress, remotePort }: TcpConnection): boolean {
    const name = `${endpointText(localAddress, localPort)} from ${endpointText(remoteAddress, remotePort)}`;
    const writer = new MessageWriter(destroySocket, MessageFlag.Request | MessageFlag.Ack);
    writer.structure(request(identity.family, wantedStates, identity.octets));
    try {
      this.#netlink.acknowledged(`destroy TCP connection ${name}`, writer);
      return true;
    } catch (error) {
      // ESTALE: its ports belong to a later connection.
      if (error instanceof NetlinkError && (error.errno === 'ENOENT' || error.errno === 'ESTALE'))
        return false;
      throw error;
    }
  }

  /** Closes the netlink socket; a second call does nothing. */
  close(): void {
    this.#netlink.close();
  }

  #dump(family: number, port: number): TcpConnection[] {
    const writer = new MessageWriter(diagByFamily, MessageFlag.Request | MessageFlag.Dump);
    const identifier = new Uint8Array(identifierLength);
    // The kernel leaves out the connections of other local ports (inet_diag_dump_icsk).
    new DataView(identifier.buffer).setUint16(0, port);
    writer.structure(request(family, wantedStates, identifier));
    return this.#netlink.dump(`list TCP connections of port ${port}`, writer, ({ payload }) =>
      parseTcpConnection(payload),
    );
  }
}

function request(family: number, states: number, identifier: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(requestLength);
  bytes[0] = family;
  bytes[1] = tcp;
  new DataView(bytes.buffer).setUint32(4, states, true);
  bytes.set(identifier, identifierInRequest);
  return bytes;
}

/** Reads `inet_diag_msg`; undefined for a connection that is in neither of the two states any more. @throws NetlinkFormatError */
export function parseTcpConnection(payload: Uint8Array): TcpConnection | undefined {
  if (payload.length < messageLength) {
    throw new NetlinkFormatError(
      `inet_diag_msg: ${payload.length} octets, the structure has ${messageLength}`,
    );
  }
  const view = new DataView(payload.buffer, payload.byteOffset, messageLength);
  const family = view.getUint8(0);
  const state = stateOf(view.getUint8(1));
  if (state === undefined || (family !== AddressFamily.Inet && family !== AddressFamily.Inet6))
    return undefined;
  // The buffer that the kernel wrote into is used again.
  const octets = payload.slice(identifierInMessage, identifierInMessage + identifierLength);
  return {
    localAddress: endAddress(octets, 4, family),
    localPort: view.getUint16(identifierInMessage),
    remoteAddress: endAddress(octets, 20, family),
    remotePort: view.getUint16(identifierInMessage + 2),
    state,
    unacknowledged: view.getUint32(sendQueueInMessage, true),
    resent: view.getUint8(2) === retransmitTimer ? view.getUint8(3) : 0,
    identity: { family, octets },
  };
}

function stateOf(number: number): TcpConnectionState | undefined {
  if (number === State.Established) return 'established';
  return number === State.CloseWait ? 'close-wait' : undefined;
}

/** The text of an address; an IPv4 address of an IPv6 socket (RFC 4291 section 2.5.5.2) as IPv4. */
function endAddress(octets: Uint8Array, offset: number, family: number): string {
  const length = family === AddressFamily.Inet ? 4 : 16;
  return addressText(octets.subarray(offset, offset + length)).replace(/^::ffff:(?=\d+\.)/, '');
}

function endpointText(address: string, port: number): string {
  return ipVersion(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
