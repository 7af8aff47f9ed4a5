/** A DNS server for a namespace of a test: what it is told, for as long as it is told to (RFC 1035 section 4). */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';

const [A, AAAA, IN] = [1, 28, 1];
const NXDOMAIN = 3;

let socket: Socket | undefined;
let records: Readonly<Record<string, readonly string[]>> = {};
let ttl = 5;

/** Answers on 127.0.0.1:53. */
export async function listen(): Promise<void> {
  const own = createSocket('udp4');
  socket = own;
  own.on('message', (query, { port, address }) => own.send(answer(query), port, address));
  await new Promise<void>((resolve, reject) => {
    own.once('error', reject);
    own.bind(53, '127.0.0.1', resolve);
  });
}

/** Nothing answers any more. */
export function close(): void {
  socket?.close();
  socket = undefined;
}

/** The addresses of names from now on, and their TTL in seconds. */
export function set(names: Readonly<Record<string, readonly string[]>>, seconds: number): void {
  [records, ttl] = [names, seconds];
}

function answer(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const type = query.readUInt16BE(end - 4);
  const name = nameIn(query);
  const known = records[name];
  const addresses = (known ?? []).filter((one) => (isIPv6(one) ? AAAA : A) === type);
  const header = Buffer.from(query.subarray(0, 12));
  // A response of an authority, to the one question, without further sections.
  header.writeUInt16BE(0x8580 | (known === undefined ? NXDOMAIN : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(12, end), ...addresses.map((one) => record(type, one))]);
}

function nameIn(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; query[at] !== 0; at += 1 + (query[at] ?? 0)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] ?? 0)));
  }
  return labels.join('.').toLowerCase();
}

function record(type: number, address: string): Buffer {
  const data = type === A ? Buffer.from(address.split('.').map(Number)) : ipv6Octets(address);
  const head = Buffer.alloc(12);
  // The name is that of the question.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(IN, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function ipv6Octets(address: string): Buffer {
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((one) => Number.parseInt(one, 16));
  const [before, after] = [groups(left), groups(right)];
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}
