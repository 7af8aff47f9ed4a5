/** What rp_filter has dropped: it is counted here, and logged only with log_martians. */
import { readFileSync } from 'node:fs';
import { parseNetstat } from './tcp-md5-counters.ts';

/** Packets that rp_filter dropped since boot in this network namespace (TcpExtIPReversePathFilter). */
export function reversePathDrops(): number {
  return (
    parseNetstat(readFileSync('/proc/self/net/netstat', 'utf8'), 'TcpExt').get('IPReversePathFilter') ?? 0
  );
}
