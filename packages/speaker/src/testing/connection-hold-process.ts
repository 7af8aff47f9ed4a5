/**
 * A ConnectionHold in a process of its own, so that a test can put it into a network namespace. Arguments: VIPs as JSON. Input:
 * an object of address to hold, or `{"repair":true}`, answered by `{held, runs}` or `{failed}`. `runs` says how often nft was run since the
 * answer before. Repairs are told as `{repaired}`.
 */
import { createInterface } from 'node:readline';
import { Nftables, NftElements } from '@bgp-lb/linux';
import { ConnectionHold } from '../kernel/connection-hold.ts';

const nft = new Nftables();
let runs = 0;

const hold = new ConnectionHold({
  nft: {
    apply(commands) {
      runs += 1;
      return nft.apply(commands);
    },
    table: (family, name) => nft.table(family, name),
  },
  elements: new NftElements(),
  vips: JSON.parse(process.argv[2] ?? '[]'),
  repaired: (what) => say({ repaired: what }),
});

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { repair, ...holds } = JSON.parse(line);
  const work = repair === true ? hold.repair() : hold.apply(new Map(Object.entries(holds)));
  work.then(
    () => {
      say({ held: true, runs });
      runs = 0;
    },
    (error: unknown) => say({ failed: String(error) }),
  );
});
