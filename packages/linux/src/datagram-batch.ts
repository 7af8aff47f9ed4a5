import { AddressFamily, addressText } from './internet-address.ts';
import { messageDoNotWait } from './socket-constants.ts';
import { addressOf, interfaceName, receiveMany } from './syscalls.ts';

/** struct mmsghdr on 64-bit machines: struct msghdr (56 octets), msg_len u32, padding. */
const header = { size: 64, nameLength: 8, vector: 16, vectorLength: 24, received: 56 } as const;
/** struct iovec. */
const vectorSize = 16;
/** struct sockaddr_in6; sockaddr_in is shorter. */
const nameSize = 28;

/** Reads several datagrams with one system call, recvmmsg(2). The memory is its own and used again with each call. */
export class DatagramBatch {
  readonly #payloadSize: number;
  readonly #headers: DataView;
  readonly #headerBytes: Uint8Array;
  readonly #names: Uint8Array;
  readonly #payloads: Uint8Array;
  /** Pointed to by the headers alone: this keeps it alive. */
  readonly #vectors: DataView;

  /**
   * @param count of datagrams that one call reads at most
   * @param payloadSize octets of each; what is longer is cut
   */
  constructor(count: number, payloadSize: number) {
    this.#payloadSize = payloadSize;
    this.#names = new Uint8Array(new ArrayBuffer(count * nameSize));
    this.#payloads = new Uint8Array(new ArrayBuffer(count * payloadSize));
    const vectors = new DataView(new ArrayBuffer(count * vectorSize));
    this.#headers = new DataView(new ArrayBuffer(count * header.size));
    this.#headerBytes = new Uint8Array(this.#headers.buffer);
    const [names, payloads] = [addressOf(this.#names), addressOf(this.#payloads)];
    const vectorsAt = addressOf(new Uint8Array(vectors.buffer));
    for (let index = 0; index < count; index += 1) {
      vectors.setBigUint64(index * vectorSize, payloads + BigInt(index * payloadSize), true);
      vectors.setBigUint64(index * vectorSize + 8, BigInt(payloadSize), true);
      const at = index * header.size;
      this.#headers.setBigUint64(at, names + BigInt(index * nameSize), true);
      this.#headers.setBigUint64(at + header.vector, vectorsAt + BigInt(index * vectorSize), true);
      this.#headers.setBigUint64(at + header.vectorLength, 1n, true);
    }
    this.#vectors = vectors;
  }

  /** Reads what waits, without waiting. @returns how many; 0 when nothing waits. @throws SystemCallError */
  receive(fd: number): number {
    const count = this.#vectors.byteLength / vectorSize;
    for (let index = 0; index < count; index += 1) {
      // In: the room there is; out: what the kernel needed of it.
      this.#headers.setUint32(index * header.size + header.nameLength, nameSize, true);
    }
    return receiveMany(fd, this.#headerBytes, count, messageDoNotWait);
  }

  /** A datagram of the last call. Valid until the next one. */
  payload(index: number): Uint8Array {
    const length = this.#headers.getUint32(index * header.size + header.received, true);
    const at = index * this.#payloadSize;
    return this.#payloads.subarray(at, at + length);
  }

  /** Where it says it comes from: `192.0.2.1`, `fe80::1%eth0`. */
  source(index: number): string {
    const name = this.#names.subarray(index * nameSize, (index + 1) * nameSize);
    const view = new DataView(name.buffer, name.byteOffset, nameSize);
    if (view.getUint16(0, true) === AddressFamily.Inet) return addressText(name.subarray(4, 8));
    const address = addressText(name.subarray(8, 24));
    const scope = view.getUint32(24, true);
    return scope === 0 ? address : `${address}%${interfaceName(scope) ?? scope}`;
  }
}
