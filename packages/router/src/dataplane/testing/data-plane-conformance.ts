import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { DataPlaneStatus } from '../data-plane.ts';

/** A running data plane, as the conformance test drives it. */
interface DrivenDataPlane {
  /** `start` of the interface: the members of the VIP that were found. */
  start(): Promise<readonly WeightedNextHop[]>;
  /** `setVips` of the interface, with the VIP or without any: the members of it that were found. */
  setCarried(isCarried: boolean): Promise<readonly WeightedNextHop[] | undefined>;
  setNextHops(nextHops: readonly WeightedNextHop[]): Promise<unknown>;
  status(): Promise<DataPlaneStatus>;
  stop(): Promise<void>;
  /** Ends the process as kill -9 does. */
  kill(): Promise<void>;
}

/** One whose probes have ways of their own. */
export interface DrivenProbeWays extends DrivenDataPlane {
  setProbed(nextHops: readonly string[]): Promise<void>;
  /** Connects to the VIP by `socketThrough` and returns the first octets, or the error's code. */
  probe(nextHop: string): Promise<string>;
}

/** What an implementation brings to its conformance test. */
export interface DataPlaneHarness<D extends DrivenDataPlane = DrivenDataPlane> {
  /** Two members that serve the VIP: each answers a connection with its own next hop. */
  readonly members: readonly [string, string];
  /** A new instance on the same host. */
  launch(): Promise<D>;
  /** Connects to the VIP as a client does: which member answered, or the error's code. */
  connect(): Promise<string>;
  close(): Promise<void>;
}

/** A client that is refused at once sees a reset or an ICMP error; one that hangs sees a timeout. */
const refusals = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH'];

const full = (...nextHops: string[]): WeightedNextHop[] =>
  nextHops.map((nextHop) => ({ nextHop, weight: 256 }));

/** The promises of `DataPlane`, checked against an implementation by what clients see. */
export function dataPlaneConformance(name: string, make: () => Promise<DataPlaneHarness>): void {
  describe(`${name} as a data plane`, () => {
    let harness: DataPlaneHarness;
    let plane: DrivenDataPlane;

    beforeEach(async () => {
      harness = await make();
      plane = await harness.launch();
    });

    afterEach(async () => {
      await plane?.kill();
      await harness?.close();
    });

    async function owners(connections: number): Promise<Set<string>> {
      const seen = await Promise.all(Array.from({ length: connections }, () => harness.connect()));
      return new Set(seen);
    }

    it('begins with nothing on a host where nothing was, and refuses clients at once', async () => {
      expect(await plane.start()).toEqual([]);
      expect(refusals).toContain(await harness.connect());
      expect((await plane.status()).vips.map(({ forwarding }) => forwarding)).toEqual([false]);
    });

    it('carries connections to every member that is set, and to no other', async () => {
      await plane.start();
      await plane.setNextHops(full(...harness.members));
      expect(await owners(24)).toEqual(new Set(harness.members));
      await plane.setNextHops(full(harness.members[1]));
      expect(await owners(8)).toEqual(new Set([harness.members[1]]));
    });

    it('refuses clients at once when the last member is taken out', async () => {
      await plane.start();
      await plane.setNextHops(full(harness.members[0]));
      expect(await harness.connect()).toBe(harness.members[0]);
      await plane.setNextHops([]);
      expect(refusals).toContain(await harness.connect());
    });

    it('gives each member its share of new connections, and next to none to one of weight 1', async () => {
      await plane.start();
      const [first, second] = harness.members;
      await plane.setNextHops([...full(first), { nextHop: second, weight: 1 }]);
      const shares = (await plane.status()).vips.flatMap(({ members }) => members);
      const shareOf = (nextHop: string) => shares.find((one) => one.nextHop === nextHop)?.share ?? 0;
      expect(shareOf(first)).toBeGreaterThan(0.98);
      expect(shareOf(second)).toBeLessThan(0.02);
      expect(shares.map(({ weight }) => weight).sort()).toEqual([1, 256]);
    });

    it('says how much each member gets', async () => {
      await plane.start();
      await plane.setNextHops(full(...harness.members));
      const [vip] = (await plane.status()).vips;
      expect(vip?.members.map(({ nextHop }) => nextHop).sort()).toEqual([...harness.members].sort());
      const total = vip?.members.reduce((sum, { share }) => sum + share, 0) ?? 0;
      expect(total).toBeCloseTo(1, 3);
    });

    it('forwards a VIP that is there no more for a moment, and has it as it was when it comes back', async () => {
      await plane.start();
      await plane.setNextHops(full(harness.members[0]));
      expect(await plane.setCarried(false)).toBeUndefined();
      expect(await harness.connect()).toBe(harness.members[0]);
      expect(await plane.setCarried(true)).toEqual(full(harness.members[0]));
      await plane.setNextHops(full(harness.members[1]));
      expect(await harness.connect()).toBe(harness.members[1]);
    });

    it.each(['stop', 'kill'] as const)(
      'forwards on after %s, and the next instance finds it',
      async (how) => {
        await plane.start();
        await plane.setNextHops(full(harness.members[0]));
        await plane[how]();
        expect(await harness.connect()).toBe(harness.members[0]);
        await plane.kill();
        plane = await harness.launch();
        expect(await plane.start()).toEqual(full(harness.members[0]));
        expect(await harness.connect()).toBe(harness.members[0]);
      },
    );
  });
}

/** The promises of `ProbeWays`, for an implementation that has them. */
export function probeWaysConformance(
  name: string,
  make: () => Promise<DataPlaneHarness<DrivenProbeWays>>,
): void {
  describe(`${name} as a data plane with ways for probes`, () => {
    let harness: DataPlaneHarness<DrivenProbeWays>;
    let plane: DrivenProbeWays;

    beforeEach(async () => {
      harness = await make();
      plane = await harness.launch();
    });

    afterEach(async () => {
      await plane?.kill();
      await harness?.close();
    });

    it('reaches a member that is not in use, and that member only', async () => {
      await plane.start();
      await plane.setNextHops(full(harness.members[1]));
      await plane.setProbed(harness.members);
      expect(await plane.probe(harness.members[0])).toBe(harness.members[0]);
      expect(await plane.probe(harness.members[1])).toBe(harness.members[1]);
    });
  });
}
