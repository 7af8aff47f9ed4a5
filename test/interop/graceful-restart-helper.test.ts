import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localAsn } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';
import type { BgpEnd, BgpEndSettings } from './bgp-end.ts';
import { BirdNeighbor, FrrNeighbor, type Neighbor } from './graceful-restart-daemons.ts';

const [first, second] = ['10.201.0.0/24', '10.202.0.0/24'] as const;
const eventually = { timeout: 15_000, interval: 50 };

describe.each([
  { name: 'FRR 8.4', make: (host: Host): Neighbor => new FrrNeighbor(host) },
  { name: 'BIRD 2.0', make: (host: Host): Neighbor => new BirdNeighbor(host) },
])('$name as the helper while our speaker restarts', ({ make }) => {
  let lab: Lab;
  let neighbor: Neighbor;
  let end: NamespaceProcess<BgpEnd> | undefined;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in' });
    neighbor = make(lab.master(1));
    const remote = lab.lb.address;
    await neighbor.start({ remote, prefixes: [], isRestarting: false, isForwarding: true });
  });
  afterAll(async () => {
    await end?.stop();
    await lab?.destroy();
  });

  /** A new process of ours, with a session. */
  async function open(settings: Pick<BgpEndSettings, 'restart' | 'prefixes'>): Promise<void> {
    end = await NamespaceProcess.start<BgpEnd>(
      ['ip', 'netns', 'exec', lab.lb.namespace],
      new URL('./bgp-end.ts', import.meta.url),
    );
    const addresses = { local: lab.lb.address, remote: lab.master(1).address, asn: localAsn };
    await end.run((e, all) => e.open(all), { ...addresses, ...settings });
  }

  /** kill -9: the kernel closes our end of TCP. */
  async function kill(): Promise<void> {
    if (end === undefined) return;
    process.kill(end.pid, 'SIGKILL');
    await end.stop();
    end = undefined;
  }

  /** What the neighbor's kernel forwards by us. */
  async function forwarded(): Promise<string[]> {
    const routes = await lab
      .master(1)
      .ipJson<{ dst: string; gateway?: string }[]>('route', 'show', 'table', 'main');
    return routes
      .filter(({ dst, gateway }) => gateway === lab.lb.address && dst !== 'default')
      .map(({ dst }) => dst)
      .sort();
  }

  beforeEach(async () => {
    await open({ prefixes: [first, second], restart: { isRestarting: false, isForwarding: true } });
    await expect.poll(() => neighbor.received(), eventually).toEqual([first, second]);
    await expect.poll(forwarded, eventually).toEqual([first, second]);
    await kill();
  });

  it('keeps our routes, and drops at our End-of-RIB what we did not announce again', async () => {
    await open({ restart: { isRestarting: true, isForwarding: true } });
    // Established, and nothing said yet.
    expect(await neighbor.received()).toEqual([first, second]);
    expect(await forwarded()).toEqual([first, second]);
    await end?.run((e, prefixes) => e.announce(prefixes), [first]);
    await expect.poll(() => neighbor.received(), eventually).toEqual([first]);
    await expect.poll(forwarded, eventually).toEqual([first]);
    await kill();
  });

  it('drops our routes as soon as we come back without the F bit', async () => {
    expect(await neighbor.received()).toEqual([first, second]);
    await open({ restart: { isRestarting: true, isForwarding: false } });
    await expect.poll(() => neighbor.received(), eventually).toEqual([]);
    await expect.poll(forwarded, eventually).toEqual([]);
    await kill();
  });
});
