/**
 * A HostNetwork in a process of its own, so that a test can put it into a network namespace. Input: `{bound: [address]}` or
 * `{pass}`, each answered by `{done: [VIPs on lo]}` or `{failed}`. `{restarted: [address]}` binds as the next speaker
 * would, which knows nothing of this one. `{keep: true}` has a HostKeeper listen to the kernel, each of whose passes is then
 * told as `{passed}`. Repairs are told as `{repaired}`, VIPs on links as `{elsewhere}`.
 */
import { createInterface } from 'node:readline';
import { Nftables, NftElements, RouteSocket } from '@bgp-lb/linux';
import { HostKeeper } from '../kernel/host-keeper.ts';
import { HostNetwork, type Pass } from '../kernel/host-network.ts';

const vips: readonly { address: string; port: number; machinePort: number }[] = JSON.parse(
  process.argv[2] ?? '[]',
);

function say(message: object): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

const routes = new RouteSocket();
const nft = new Nftables();
const elements = new NftElements();

let keeper: HostKeeper | undefined;

class ToldNetwork extends HostNetwork {
  override reconcile(pass: Pass): Promise<void> {
    if (keeper !== undefined) say({ passed: pass });
    return super.reconcile(pass);
  }
}

function newNetwork(): HostNetwork {
  return new ToldNetwork({
    routes,
    nft,
    elements,
    vips,
    routers: () => ['10.9.0.1'],
    nodeAddress: '10.9.0.2',
    routeToVip: false,
    vipBind: true,
    repaired: (object, what) => say({ repaired: `${object}: ${what}` }),
    routesMissing: (why) => say({ routesMissing: why }),
    elsewhere: (found) => say({ elsewhere: found }),
  });
}

let network = newNetwork();

function keep(): void {
  const hold = { repair: () => Promise.resolve() };
  keeper = new HostKeeper(network, hold, {
    failed: (error) => say({ failed: String(error) }),
    leaving: () => undefined,
    isOwn: (portId) => elements.isOwn(portId),
  });
  keeper.start();
  say({ keeping: true });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message: { bound?: string[]; restarted?: string[]; pass?: Pass; keep?: true } = JSON.parse(line);
  if (message.keep === true) {
    keep();
    return;
  }
  if (message.restarted !== undefined) network = newNetwork();
  const bound = message.bound ?? message.restarted;
  const run =
    bound === undefined ? network.reconcile(message.pass ?? 'full') : network.setBound(new Set(bound));
  run.then(
    () => say({ done: network.found().map(({ address }) => address), uplinks: network.uplinks }),
    (error: unknown) => say({ failed: String(error) }),
  );
});
