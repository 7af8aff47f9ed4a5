/**
 * A ConnectionHold in a process of its own, so that a test can put it into a network namespace. Arguments: VIPs as JSON. Input:
 * an object of address to hold, answered by `{held}` or `{failed}`.
 */
import { createInterface } from 'node:readline';
import { Nftables } from '@bgp-lb/linux';
import { ConnectionHold } from '../kernel/connection-hold.ts';

const hold = new ConnectionHold(new Nftables(), JSON.parse(process.argv[2] ?? '[]'));

createInterface({ input: process.stdin }).on('line', (line) => {
  hold.apply(new Map(Object.entries(JSON.parse(line)))).then(
    () => process.stdout.write(`${JSON.stringify({ held: true })}\n`),
    (error: unknown) => process.stdout.write(`${JSON.stringify({ failed: String(error) })}\n`),
  );
});
