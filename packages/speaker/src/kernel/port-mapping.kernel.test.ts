import { ipVersion } from '@bgp-lb/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { field, type LineProcess, NetworkNamespace } from '../testing/network-namespace.ts';

/** The port mapping and the guard beside the rules of others, as clients, the master itself and a pod on it see them. */
const VIP = '10.100.0.1';
const VIP6 = '2001:db8:100::1';
const targets = [
  [VIP, 443],
  [VIP6, 443],
];
const mapped = [`${VIP}:6443`, `${VIP6}:6443`];
const refused = ['ECONNREFUSED', 'ECONNREFUSED'];

const driver = new URL('../testing/host-network-process.ts', import.meta.url).pathname;
const connector = new URL('../testing/connect-process.ts', import.meta.url).pathname;
const echo = new URL('../testing/echo-address.ts', import.meta.url).pathname;

let client: NetworkNamespace;
let master: NetworkNamespace;
let pod: NetworkNamespace;
let speaker: LineProcess;
let fromClient: LineProcess;
let fromMaster: LineProcess;
let fromPod: LineProcess;

beforeAll(async () => {
  client = new NetworkNamespace('client');
  master = new NetworkNamespace('master');
  pod = new NetworkNamespace('pod');
  link(client, 'e0', ['10.9.0.1/24', '2001:db8:9::1/64'], ['10.9.0.2/24', '2001:db8:9::2/64']);
  link(pod, 'p0', ['10.8.0.2/24', '2001:db8:8::2/64'], ['10.8.0.1/24', '2001:db8:8::1/64']);
  client.ip('route', 'add', VIP, 'via', '10.9.0.2');
  client.ip('route', 'add', VIP6, 'via', '2001:db8:9::2');
  pod.ip('route', 'add', 'default', 'via', '10.8.0.1');
  pod.ip('route', 'add', 'default', 'via', '2001:db8:8::1');
  master.ip('route', 'add', 'default', 'via', '10.9.0.1');
  master.ip('route', 'add', 'default', 'via', '2001:db8:9::1');
  master.run('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
  await master.start(echo, '6443').next(field('listening'));
  [fromClient, fromMaster, fromPod] = [
    client.start(connector),
    master.start(connector),
    pod.start(connector),
  ];
  const vips = [VIP, VIP6].map((address) => ({ address, port: 443, machinePort: 6443 }));
  speaker = master.start(driver, JSON.stringify(vips));
});

afterEach(() => {
  const others = ['ip nat', 'ip filter', 'ip6 nat', 'ip6 filter', 'ip kube-proxy', 'ip6 kube-proxy'];
  const removals = [...others, 'inet firewalld', 'inet ufw'].map(
    (table) => `add table ${table}; delete table ${table};`,
  );
  master.run('nft', removals.join(' '));
});

afterAll(async () => {
  await Promise.all([client.remove(), master.remove(), pod.remove()]);
});

function link(
  other: NetworkNamespace,
  name: string,
  theirs: readonly string[],
  ours: readonly string[],
): void {
  other.connect(name, master);
  // Otherwise the IPv6 address is not usable before duplicate address detection has ended.
  const options = (address: string): readonly string[] => (ipVersion(address) === 6 ? ['nodad'] : []);
  for (const address of theirs) other.ip('address', 'add', address, 'dev', name, ...options(address));
  for (const address of ours) master.ip('address', 'add', address, 'dev', name, ...options(address));
}

async function bind(...bound: string[]): Promise<void> {
  speaker.send({ bound });
  expect(await speaker.next(field('done'))).toEqual(bound);
  if (bound.includes(VIP6)) await hasLocalRoute();
}

/** The kernel's own work queue (addrconf) makes the local route of an IPv6 address, a moment after the address is there. */
async function hasLocalRoute(): Promise<void> {
  await vi.waitUntil(() => master.ip('-6', 'route', 'show', 'table', 'local', VIP6) !== '', {
    timeout: 10_000,
  });
}

/** Binds both VIPs as a speaker that has just been started. */
async function restart(): Promise<void> {
  speaker.send({ restarted: [VIP, VIP6] });
  expect(await speaker.next(field('done'))).toEqual([VIP, VIP6]);
  await hasLocalRoute();
}

function load(name: string): void {
  master.run('nft', '-f', new URL(`../testing/rule-sets/${name}.nft`, import.meta.url).pathname);
}

/** Connects to both VIPs on port 443, from everywhere; the answers, one per family. */
function connect(...from: readonly LineProcess[]): Promise<readonly unknown[]> {
  return Promise.all(
    from.map((clients) => {
      clients.send(targets);
      return clients.next(field('answers'));
    }),
  );
}

describe('beside the rules of others', () => {
  // The daemons of a host start in any order.
  it.each([
    ['kube-proxy-iptables', 'before'],
    ['kube-proxy-iptables', 'after'],
    ['kube-proxy-nftables', 'before'],
    ['kube-proxy-nftables', 'after'],
    ['firewalld', 'before'],
    ['ufw', 'before'],
  ])('%s, loaded %s ours, VIP:443 leads to the API server for everybody', async (name, when) => {
    master.run('nft', 'add table inet bgp_lb_speaker; delete table inet bgp_lb_speaker');
    if (when === 'before') load(name);
    await restart();
    if (when === 'after') load(name);
    expect(await connect(fromClient, fromMaster, fromPod)).toEqual([mapped, mapped, mapped]);
    await bind();
    // The guard's resets pass them too.
    expect(await connect(fromClient)).toEqual([refused]);
  });

  it('all of them together', async () => {
    for (const name of ['kube-proxy-iptables', 'kube-proxy-nftables', 'firewalld', 'ufw']) load(name);
    await bind(VIP, VIP6);
    expect(await connect(fromClient, fromMaster, fromPod)).toEqual([mapped, mapped, mapped]);
  });
});

describe('the replacement of the table', () => {
  it('is never seen by a connection, neither by the speaker starting anew nor by the renewal of the leases', async () => {
    await bind(VIP, VIP6);
    fromClient.send({ repeat: targets });
    for (let round = 0; round < 10; round += 1) {
      await restart();
      speaker.send({ pass: 'full' });
      await speaker.next(field('done'));
    }
    fromClient.send('enough');
    const counts = await fromClient.next(field('counts'));
    expect(Object.keys(counts ?? {})).toEqual(mapped);
  });
});
