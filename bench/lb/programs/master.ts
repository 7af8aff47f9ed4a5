/**
 * Runs in a master's namespace: a BGP speaker that announces the VIP when it is told to, and behind the VIP's port an
 * API server that is always ready. The port also takes connections without TLS, and answers each line with the
 * master's name: hundreds of long connections then cost next to nothing.
 */
import { createServer as createTlsServer } from 'node:https';
import { createServer, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  asn,
  ipv4Unicast,
  Origin,
  type PathAttributes,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
  WellKnownCommunity,
} from '@bgp-lb/protocol';
import { BgpSpeaker, type Peer, plainSockets } from '@bgp-lb/protocol/node';

/** Who the master is. */
export interface MasterSettings {
  readonly name: string;
  readonly address: string;
  readonly lbAddress: string;
  readonly asn: number;
  /** `10.100.0.1/32` */
  readonly vip: string;
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
}

/** After a message is written the process stays quiet for so long (ms), so that the load balancer has the machine. */
const quiet = 15;
/** The first octet of a TLS record that holds a handshake message (RFC 8446 section 5.1). */
const handshake = 0x16;

/** What is said of a VIP. */
export type Said = 'full' | 'lesser' | 'none';

let peer: Peer | undefined;
let settings: MasterSettings | undefined;
/** By VIP. */
let said = new Map<string, Said>();
let onEstablished: (() => void) | undefined;
/** When octets were last given to the kernel. */
let writtenAt = 0n;

/** Notes when octets are handed to the kernel: from then on the time runs. */
class StampedSocket extends Socket {
  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    writtenAt = process.hrtime.bigint();
    super._write(chunk, encoding, callback);
  }

  override _writev(
    chunks: { chunk: Buffer; encoding: BufferEncoding }[],
    callback: (error?: Error | null) => void,
  ): void {
    writtenAt = process.hrtime.bigint();
    super._writev?.(chunks, callback);
  }
}

/** Opens the VIP's port; BGP stays down until `join`. */
export async function open(given: MasterSettings): Promise<void> {
  settings = given;
  setVips([given.vip]);
  await serve(given);
  const speaker = new BgpSpeaker({
    asn: asn(given.asn),
    routerId: parseRouterId(given.address),
    sockets: { ...plainSockets, open: () => new StampedSocket() },
    handlers: { established: () => onEstablished?.() },
  });
  peer = speaker.addPeer({
    name: 'lb',
    address: given.lbAddress,
    remoteAsn: [asn(given.asn)],
    holdTime: 9,
    connectRetryTime: 1,
  });
  peer.stop();
}

function serve({ name, port, certificate, key }: MasterSettings): Promise<void> {
  const apiServer = createTlsServer({ cert: certificate, key }, (_incoming, answer) => {
    answer.setHeader('content-type', 'text/plain');
    answer.end('ok');
  });
  apiServer.on('tlsClientError', () => undefined); // a bare port check
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    // Not by `data`, which would have the socket flow: TLS takes it over as it is, with what was read put back.
    socket.once('readable', () => {
      const first = socket.read() as Buffer | null;
      if (first === null) {
        socket.destroy();
        return;
      }
      socket.unshift(first);
      if (first[0] === handshake) apiServer.emit('connection', socket);
      else socket.on('data', (text: Buffer) => socket.write(`${name}\n`.repeat(linesIn(text))));
    });
  });
  return new Promise((resolve) => {
    server.listen({ host: '0.0.0.0', port, backlog: 4096 }, resolve);
  });
}

function linesIn(text: Buffer): number {
  return text.toString('latin1').split('\n').length - 1;
}

function opened(): { readonly peer: Peer; readonly settings: MasterSettings } {
  if (peer === undefined || settings === undefined) throw new Error('the master is not open');
  return { peer, settings };
}

function attributes(isLesser: boolean): PathAttributes {
  const { address, asn: number } = opened().settings;
  const plain = { origin: Origin.Igp, asPath: [], nextHop: parseIpAddress(address) };
  if (!isLesser) return pathAttributes({ ...plain, localPref: 100 });
  return pathAttributes({
    ...plain,
    localPref: 0,
    communities: [WellKnownCommunity.GracefulShutdown],
    // The reason that our speaker gives when its API server is not ready.
    largeCommunities: [{ globalAdministrator: number, localData1: 2, localData2: 2 }],
  });
}

/** What is announced from the next `join` on, in place of the one VIP. @param vips `10.100.0.1/32` */
export function setVips(vips: readonly string[]): void {
  said = new Map(vips.map((vip) => [vip, 'none']));
}

function say(changed: ReadonlyMap<string, Said>): void {
  const { peer: lb } = opened();
  said = new Map([...said, ...changed]);
  const [full, lesser] = [attributes(false), attributes(true)];
  const routes = [...said].flatMap(([vip, what]) =>
    what === 'none' ? [] : [{ prefix: parsePrefix(vip), attributes: what === 'lesser' ? lesser : full }],
  );
  lb.setRoutes(ipv4Unicast, routes);
}

function ofAll(what: Said): ReadonlyMap<string, Said> {
  return new Map([...said.keys()].map((vip) => [vip, what]));
}

/** Brings the session up with the VIPs announced; resolves when it is established. */
export async function join(): Promise<void> {
  const { peer: lb } = opened();
  say(ofAll('full'));
  if (lb.state === 'Established') return;
  const up = new Promise<void>((resolve) => {
    onEstablished = resolve;
  });
  lb.start();
  await up;
}

/** Ends the session with Cease. */
export function leave(): void {
  opened().peer.stop();
}

/** Sends an UPDATE about all VIPs, or one of them; resolves, after the quiet time, with the moment in which it was written. */
export async function update(what: Said, vip?: string): Promise<bigint> {
  writtenAt = 0n;
  say(vip === undefined ? ofAll(what) : new Map([[vip, what]]));
  return stamp();
}

/** Sends Cease/Administrative Shutdown and closes; resolves as `update` does. */
export async function cease(): Promise<bigint> {
  writtenAt = 0n;
  opened().peer.stop();
  return stamp();
}

async function stamp(): Promise<bigint> {
  await sleep(quiet);
  if (writtenAt === 0n) throw new Error('nothing was written');
  return writtenAt;
}
