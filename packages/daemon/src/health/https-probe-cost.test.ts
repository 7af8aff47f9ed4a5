import { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { costlyChain } from '../testing/costly-chain.ts';
import { httpsTarget, type ProbeTarget, tcpTarget, tlsTarget } from '../testing/probe-target.ts';
import { makeAuthority, sign } from '../testing/test-certificates.ts';
import { HttpsProbe, type HttpsProbeOptions } from './https-probe.ts';

const authority = makeAuthority('kubernetes');
const pair = sign(authority, { altNames: 'DNS:kubernetes' });

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function probeOf(port: number, options: Partial<HttpsProbeOptions> = {}): HttpsProbe {
  const probe = new HttpsProbe({
    address: '127.0.0.1',
    port,
    serverName: 'kubernetes',
    path: '/readyz',
    ca: () => authority.cert,
    timeoutMs: 5000,
    keepAlive: false,
    ...options,
  });
  open.push(probe);
  return probe;
}

async function keep(target: Promise<ProbeTarget>): Promise<ProbeTarget> {
  const made = await target;
  open.push(made);
  return made;
}

/** Cipher suites and groups of a ClientHello (RFC 8446 section 4.1.2) in one record. */
function offered(hello: Buffer): { suites: number[]; groups: number[] } {
  const numbers = (from: number, octets: number): number[] =>
    Array.from({ length: octets / 2 }, (_, index) => hello.readUInt16BE(from + 2 * index));
  const session = 5 + 4 + 2 + 32;
  const suites = session + 1 + hello.readUInt8(session);
  const compression = suites + 2 + hello.readUInt16BE(suites);
  let extension = compression + 1 + hello.readUInt8(compression) + 2;
  while (hello.readUInt16BE(extension) !== 10) extension += 4 + hello.readUInt16BE(extension + 2);
  return {
    suites: numbers(suites + 2, hello.readUInt16BE(suites)),
    groups: numbers(extension + 6, hello.readUInt16BE(extension + 4)),
  };
}

describe('Diffie-Hellman over a finite field, whose size the server would choose,', () => {
  it('is not offered', async () => {
    const hello = new Promise<Buffer>((resolve) => {
      void keep(tcpTarget((socket) => socket.once('data', resolve))).then(({ port }) =>
        probeOf(port, { timeoutMs: 200 }).probe(),
      );
    });
    const { suites, groups } = offered(await hello);
    // TLS 1.3, ECDHE with AES, ECDHE with ChaCha20, and 0x00ff, which says that renegotiation is safe (RFC 5746 section 3.3).
    const elliptic = suites.filter((suite) => [0x13, 0xc0, 0xcc].includes(suite >> 8) || suite === 0xff);
    expect(suites).toEqual(elliptic);
    expect(groups.filter((group) => ![0x11ec, 29, 23, 24, 25].includes(group))).toEqual([]);
  });

  it('is refused to a server that has nothing else', async () => {
    const target = await keep(tlsTarget({ ...pair, ecdhCurve: 'ffdhe8192' }, () => undefined));
    expect(await probeOf(target.port).probe()).toMatchObject({ kind: 'tls' });
  });
});

describe('a server whose handshake costs too much', () => {
  const target = (cert: string): Promise<ProbeTarget> =>
    keep(httpsTarget({ key: pair.key, cert }, (_, response) => response.end('ok')));

  it.each([
    ['a chain of more than 16 KiB', costlyChain(pair.key, 12), /^the TLS handshake has \d+ octets/],
    [
      'many issuers',
      costlyChain(pair.key, 9, { length: 2048, exponent: Buffer.from([3]) }),
      /^its chain has more than 8 certificates$/,
    ],
    ['a key above 8192 bits', costlyChain(pair.key, 1), /^an RSA key of 16384 bits is longer than 8192$/],
    [
      'an exponent above 32 bits',
      costlyChain(pair.key, 1, { length: 2048, exponent: Buffer.alloc(64, 0xff) }),
      /^an RSA exponent is longer than 32 bits$/,
    ],
  ])('by %s is a TLS fault, and is not asked again at once', async (_, cert, detail) => {
    const { port, connections } = await target(cert);
    for (const ca of [() => authority.cert, () => undefined]) {
      const before = connections();
      const probe = probeOf(port, { ca });
      const result = await probe.probe();
      expect(result).toMatchObject({ kind: 'tls', code: 'ERR_COSTLY_HANDSHAKE', isVerified: false });
      expect(result.detail).toMatch(detail);
      expect(await probe.probe()).toMatchObject({ kind: 'tls', code: 'ERR_COSTLY_HANDSHAKE' });
      expect(connections()).toBe(before + 1);
    }
  });

  it('is noticed too if it never ends the handshake', async () => {
    const server = await target(costlyChain(pair.key, 12));
    // What the server says, without its last octets.
    const relay = await keep(
      tcpTarget((near) => {
        const far = new Socket().connect(server.port, '127.0.0.1');
        near.pipe(far);
        let left = 30_000;
        far.on('data', (bytes: Buffer) => {
          near.write(bytes.subarray(0, left));
          left = Math.max(0, left - bytes.length);
        });
        near.once('close', () => far.destroy());
      }),
    );
    const probe = probeOf(relay.port, { timeoutMs: 500 });
    expect(await probe.probe()).toMatchObject({ kind: 'timeout' });
    expect(await probe.probe()).toMatchObject({ kind: 'tls', code: 'ERR_COSTLY_HANDSHAKE' });
    expect(relay.connections()).toBe(1);
  });
});
