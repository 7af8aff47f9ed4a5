/**
 * A HostNetwork in a process of its own, so that a test can put it into a network namespace. Input: `{bound: [address]}` or
 * `{pass: 'full'}`, each answered by `{done: [VIPs on lo]}` or `{failed}`. Repairs are told as `{repaired}`.
 */
import { createInterface } from 'node:readline';
import { Nftables, RouteSocket } from '@bgp-lb/linux';
import { HostNetwork } from '../kernel/host-network.ts';

const vips: readonly { address: string; port: number; machinePort: number }[] = JSON.parse(
  process.argv[2] ?? '[]',
);

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const network = new HostNetwork({
  routes: new RouteSocket(),
  nft: new Nftables(),
  vips,
  routers: ['10.9.0.1'],
  nodeAddress: '10.9.0.2',
  repaired: (object, what) => say({ repaired: `${object}: ${what}` }),
});

createInterface({ input: process.stdin }).on('line', (line) => {
  const message: { bound?: string[]; pass?: 'full' } = JSON.parse(line);
  const run =
    message.bound === undefined ? network.reconcile('full') : network.setBound(new Set(message.bound));
  run.then(
    () => say({ done: network.found().map(({ address }) => address), uplinks: network.uplinks }),
    (error: unknown) => say({ failed: String(error) }),
  );
});
