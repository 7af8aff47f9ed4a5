import { ipVersion } from '@bgp-lb/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { ROUTER, SpeakerLab, VIP } from './testing/speaker-lab.ts';

const TIMEOUT = 60_000;

const VIP6 = 'fd00:100::1';
const NODE6 = 'fd00:9::2';
const FIRST = 'fd00:9::1';
const SECOND = 'fd00:9::4';
const FORMER_VIP = 'fd00:100::7';

let lab: SpeakerLab;
let speaker: LineProcess;

/** What makes the master know its subnet: the kernel takes it away with the link, and the network manager brings it back. */
function addNodeAddress(): void {
  lab.master.ip('-6', 'address', 'replace', `${NODE6}/64`, 'dev', 'e0', 'nodad');
}

function configure(role: 'init' | 'join', ...routers: readonly string[]): void {
  lab.configure({
    role,
    routeToVip: 'true',
    vips: `[{ address: ${VIP}, port: 6443 }, { address: "${VIP6}", port: 6443 }]`,
    routers: `[${routers.map((address) => `{ address: "${address}", asn: 64512 }`).join(', ')}]`,
  });
}

beforeAll(async () => {
  lab = new SpeakerLab();
  addNodeAddress();
  for (const address of [FIRST, SECOND, 'fd00:9::3'])
    lab.peer.ip('-6', 'address', 'add', `${address}/64`, 'dev', 'e0', 'nodad');
  configure('join', ROUTER, FIRST, SECOND);
  // What `prepare` of an earlier configuration left.
  lab.master.ip('-6', 'route', 'add', FORMER_VIP, 'via', FIRST, 'proto', '84', 'metric', '8400');
  speaker = await lab.startSpeaker();
}, TIMEOUT);

afterAll(() => lab.remove(), TIMEOUT);

/** The routes to an address by a gateway, `GATEWAY proto PROTOCOL metric METRIC` each. */
function routesTo(address: string): readonly string[] {
  const argv = ['-json', '-details', '-N', ipVersion(address) === 6 ? '-6' : '-4', 'route', 'show', address];
  const routes = JSON.parse(lab.master.ip(...argv)) as {
    gateway?: string;
    protocol: string;
    metric: number;
  }[];
  return routes
    .filter(({ gateway }) => gateway !== undefined)
    .map(({ gateway, protocol, metric }) => `${gateway} proto ${protocol} metric ${metric}`);
}

/** Where a packet to the VIP goes now. */
function way(): string {
  return lab.master.ip('-6', '-o', 'route', 'get', VIP6);
}

// The metric is the place in the list of routers, whatever the family of those before.
const first = `${FIRST} proto 84 metric 8401`;
const second = `${SECOND} proto 84 metric 8402`;

/** The next repair that is told of. */
function repair(): Promise<string> {
  return speaker.next((line) => {
    const text = String(field('msg')(line));
    return text.startsWith('kernel repaired: ') ? text.slice('kernel repaired: '.length) : undefined;
  });
}

describe('the routes to an IPv6 VIP', { timeout: 2 * TIMEOUT }, () => {
  it('go by the routers of its family, the first in use, and leftovers of ours are removed', async () => {
    await expect.poll(() => routesTo(VIP6), { timeout: TIMEOUT }).toEqual([first, second]);
    expect(routesTo(VIP)).toEqual([`${ROUTER} proto 84 metric 8400`]);
    expect(routesTo(FORMER_VIP)).toEqual([]);
    expect(way()).toContain(`via ${FIRST} dev e0`);
    expect((await lab.status()).kernel.routesMissing).toEqual([]);
  });

  it('come back when somebody deletes, replaces or widens one', async () => {
    const since = performance.now();
    lab.master.ip('-6', 'route', 'delete', VIP6, 'via', FIRST);
    expect(await repair()).toBe(`${VIP6}/128 goes by ${FIRST}`);
    lab.master.ip('-6', 'route', 'replace', VIP6, 'via', 'fd00:9::3', 'metric', '8402', 'proto', 'static');
    expect(await repair()).toBe(`${VIP6}/128 goes by ${SECOND}`);
    // Of the same metric: to the kernel one route with two gateways.
    lab.master.ip('-6', 'route', 'append', VIP6, 'via', 'fd00:9::3', 'metric', '8401', 'proto', '84');
    expect(await repair()).toBe(`${VIP6}/128 goes by ${FIRST}`);
    expect(routesTo(VIP6)).toEqual([first, second]);
    expect(lab.master.ip('-6', 'route', 'show', VIP6)).not.toContain('nexthop');
    // The timer alone, every 10 s, would have taken 20 s at least for three.
    expect(performance.now() - since).toBeLessThan(20_000);
  });

  it('come back with the address that their link had', async () => {
    lab.master.ip('link', 'set', 'e0', 'down');
    await lab.until(({ kernel }) => kernel.routesMissing?.length === 3);
    expect(routesTo(VIP6)).toEqual([]);
    lab.master.ip('link', 'set', 'e0', 'up');
    addNodeAddress();
    await expect.poll(() => routesTo(VIP6), { timeout: TIMEOUT }).toEqual([first, second]);
    await lab.until(({ kernel }) => kernel.routesMissing?.length === 0);
  });

  it('of others stay', async () => {
    lab.master.ip('-6', 'route', 'add', VIP6, 'via', FIRST, 'metric', '50', 'proto', 'static');
    lab.master.ip('-6', 'route', 'add', VIP6, 'via', FIRST, 'metric', '9000', 'proto', '84');
    lab.master.ip('-6', 'route', 'delete', VIP6, 'metric', '8402');
    await expect
      .poll(() => routesTo(VIP6), { timeout: TIMEOUT })
      .toEqual([`${FIRST} proto 4 metric 50`, first, second, `${FIRST} proto 84 metric 9000`]);
    lab.master.ip('-6', 'route', 'delete', VIP6, 'metric', '50');
    lab.master.ip('-6', 'route', 'delete', VIP6, 'metric', '9000');
  });

  it('follow the routers of a reload', async () => {
    configure('join', ROUTER, SECOND);
    await lab.reload();
    const only = `${SECOND} proto 84 metric 8401`;
    await expect.poll(() => routesTo(VIP6), { timeout: TIMEOUT }).toEqual([only]);
  });

  it('stay when the speaker stops, give way to the address on lo, and go with uninstall', async () => {
    const only = `${SECOND} proto 84 metric 8401`;
    await speaker.stop('SIGTERM');
    expect(routesTo(VIP6)).toEqual([only]);
    expect(way()).toContain(`via ${SECOND} dev e0`);
    // A first master has the VIP on itself before kubeadm init.
    configure('init', ROUTER, SECOND);
    speaker = await lab.startSpeaker();
    await expect.poll(way, { timeout: TIMEOUT }).toMatch(/^local .* dev lo /);
    expect(routesTo(VIP6)).toEqual([only]);
    await speaker.stop('SIGTERM');
    expect(way()).toMatch(/^local .* dev lo /);
    expect(lab.command('uninstall')).toContain(`removed the route to ${VIP6}/128`);
    expect(routesTo(VIP6)).toEqual([]);
    expect(routesTo(VIP)).toEqual([]);
  });
});
