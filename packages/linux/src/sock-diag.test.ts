import { describe, expect, it } from 'vitest';
import { parseTcpConnection } from './sock-diag.ts';

/** An `inet_diag_msg` as the kernel writes it. */
function message(
  family: number,
  state: number,
  local: readonly number[],
  remote: readonly number[],
): Uint8Array {
  const bytes = new Uint8Array(72);
  bytes.set([family, state]);
  bytes.set([0x19, 0x2b, 0xc0, 0x00], 4);
  bytes.set(local, 8);
  bytes.set(remote, 24);
  bytes.set([9, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8], 40);
  return bytes;
}

const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

describe('an inet_diag_msg', () => {
  it('of an IPv4 socket is read with addresses, ports and identity', () => {
    const bytes = message(2, 1, [10, 0, 0, 1], [10, 0, 0, 2]);
    expect(parseTcpConnection(bytes)).toEqual({
      localAddress: '10.0.0.1',
      localPort: 6443,
      remoteAddress: '10.0.0.2',
      remotePort: 49_152,
      state: 'established',
      unacknowledged: 0,
      resent: 0,
      identity: { family: 2, octets: bytes.slice(4, 52) },
    });
  });

  it('says what is not acknowledged, and how often it was sent again: of that timer alone', () => {
    const bytes = message(2, 1, [10, 0, 0, 1], [10, 0, 0, 2]);
    bytes.set([1, 4], 2);
    bytes.set([0x10, 0x27], 60);
    expect(parseTcpConnection(bytes)).toMatchObject({ unacknowledged: 10_000, resent: 4 });
    // The timer of keepalives.
    bytes.set([2, 4], 2);
    expect(parseTcpConnection(bytes)).toMatchObject({ resent: 0 });
  });

  it('keeps its identity when the buffer is used again', () => {
    const bytes = message(2, 8, [10, 0, 0, 1], [10, 0, 0, 2]);
    const connection = parseTcpConnection(bytes);
    bytes.fill(0xff);
    expect(connection?.identity.octets.subarray(40)).toEqual(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
    expect(connection?.state).toBe('close-wait');
  });

  it('of an IPv4 connection of an IPv6 socket has IPv4 addresses', () => {
    const connection = parseTcpConnection(message(10, 1, [...mapped, 10, 0, 0, 1], [...mapped, 10, 0, 0, 2]));
    expect(connection).toMatchObject({ localAddress: '10.0.0.1', remoteAddress: '10.0.0.2' });
  });

  it('of another state is none', () => {
    expect(parseTcpConnection(message(2, 6, [10, 0, 0, 1], [10, 0, 0, 2]))).toBeUndefined();
  });

  it('that is cut is refused with its length', () => {
    expect(() => parseTcpConnection(new Uint8Array(71))).toThrow(
      'inet_diag_msg: 71 octets, the structure has 72',
    );
  });
});
