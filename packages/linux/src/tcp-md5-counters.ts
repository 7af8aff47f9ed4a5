/** The kernel's counters of TCP-MD5 failures. A wrong key is silence on the wire; these say that it happened. */
import { readFileSync } from 'node:fs';

/** Segments dropped since boot in this network namespace (RFC 2385). */
export interface TcpMd5Counters {
  /** A key is set for the peer, and the segment was not signed. */
  readonly notFound: number;
  /** No key is set for the peer, and the segment was signed. */
  readonly unexpected: number;
  /** The signature is wrong: the keys differ. */
  readonly failure: number;
}

/** Reads the counters of this network namespace. Zero where the kernel was built without TCP-MD5. */
export function tcpMd5Counters(): TcpMd5Counters {
  const counters = parseNetstat(readFileSync('/proc/self/net/netstat', 'utf8'), 'TcpExt');
  return {
    notFound: counters.get('TCPMD5NotFound') ?? 0,
    unexpected: counters.get('TCPMD5Unexpected') ?? 0,
    failure: counters.get('TCPMD5Failure') ?? 0,
  };
}

/** Reads one group of /proc/net/netstat, which is a line of names and a line of values. */
export function parseNetstat(text: string, group: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line.startsWith(`${group}:`));
  const [names = [], values = []] = lines.map((line) => line.split(/\s+/).slice(1));
  return new Map(names.map((name, index) => [name, Number(values[index] ?? 0)]));
}
