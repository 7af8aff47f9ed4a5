/**
 * A HostNetwork in a process of its own, so that a test can put it into a network namespace. Input: `{bound: [address]}` or
 * `{pass}`, each answered by `{done: [VIPs on lo]}` or `{failed}`. `{restarted: [address]}` binds as the next speaker
 * would, which knows nothing of this one. Repairs are told as `{repaired}`, VIPs on links as `{elsewhere}`.
 */
import { createInterface } from 'node:readline';
import { Nftables, RouteSocket, replaceSetElements } from '@bgp-lb/linux';
import { HostNetwork, type Pass } from '../kernel/host-network.ts';

const vips: readonly { address: string; port: number; machinePort: number }[] = JSON.parse(
  process.argv[2] ?? '[]',
);

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const routes = new RouteSocket();
const nft = new Nftables();

function newNetwork(): HostNetwork {
  return new HostNetwork({
    routes,
    nft,
    replaceElements: replaceSetElements,
    vips,
    routers: () => ['10.9.0.1'],
    nodeAddress: '10.9.0.2',
    routeToVip: false,
    repaired: (object, what) => say({ repaired: `${object}: ${what}` }),
    routesMissing: (why) => say({ routesMissing: why }),
    elsewhere: (found) => say({ elsewhere: found }),
  });
}

let network = newNetwork();

createInterface({ input: process.stdin }).on('line', (line) => {
  const message: { bound?: string[]; restarted?: string[]; pass?: Pass } = JSON.parse(line);
  if (message.restarted !== undefined) network = newNetwork();
  const bound = message.bound ?? message.restarted;
  const run =
    bound === undefined ? network.reconcile(message.pass ?? 'full') : network.setBound(new Set(bound));
  run.then(
    () => say({ done: network.found().map(({ address }) => address), uplinks: network.uplinks }),
    (error: unknown) => say({ failed: String(error) }),
  );
});
