import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localAsn } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';
import type { BgpEnd } from './bgp-end.ts';
import { BirdNeighbor, FrrNeighbor, type Neighbor } from './graceful-restart-daemons.ts';

const [first, second] = ['10.201.0.0/24', '10.202.0.0/24'] as const;

describe.each([
  { name: 'bgpd of FRR 8.4', make: (host: Host): Neighbor => new FrrNeighbor(host) },
  { name: 'BIRD 2.0', make: (host: Host): Neighbor => new BirdNeighbor(host) },
])('a $name that is killed and started again', ({ make }) => {
  let lab: Lab;
  let neighbor: Neighbor;
  let end: NamespaceProcess<BgpEnd>;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in' });
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  beforeEach(async () => {
    neighbor = make(lab.master(1));
    const remote = lab.lb.address;
    await neighbor.start({ remote, prefixes: [first, second], isRestarting: false, isForwarding: true });
    end = await NamespaceProcess.start<BgpEnd>(
      ['ip', 'netns', 'exec', lab.lb.namespace],
      new URL('./bgp-end.ts', import.meta.url),
    );
    await end.run((e, settings) => e.open(settings), {
      local: lab.lb.address,
      remote: lab.master(1).address,
      asn: localAsn,
      prefixes: [],
      restart: { isRestarting: false, isForwarding: true },
    });
    await end.run((e, wanted) => e.holds(wanted), [first, second]);
    await end.run((e) => e.takeChanges());
    await neighbor.kill();
    await end.run((e, wanted) => e.holds(wanted), [`${first} stale`, `${second} stale`]);
  });
  afterEach(async () => {
    await end.stop();
    await neighbor.kill();
    await lab.master(1).powerOff();
    await lab.master(1).powerOn();
  });

  const returns = (isForwarding: boolean): Promise<void> =>
    neighbor.start({ remote: lab.lb.address, prefixes: [first], isRestarting: true, isForwarding });

  it('leaves its paths stale, and nobody is told of a loss', async () => {
    expect(await end.run((e) => e.wentDown())).toMatchObject({ pathsKept: true });
    expect(await end.run((e) => e.takeChanges())).toEqual([]);
  });

  it('replaces the paths that it announces again, and loses the rest at its End-of-RIB', async () => {
    await returns(true);
    await end.run((e, wanted) => e.holds(wanted), [first]);
    expect(await end.run((e) => e.takeChanges())).toEqual([
      `refreshed ${first}`,
      `withdrawn ${second} stale`,
    ]);
  });

  it('loses all its paths with its first message when it comes back without the F bit', async () => {
    await returns(false);
    await end.run((e, wanted) => e.holds(wanted), [first]);
    expect(await end.run((e) => e.takeChanges())).toEqual([
      `withdrawn ${first} stale`,
      `withdrawn ${second} stale`,
      `announced ${first}`,
    ]);
  });
});
