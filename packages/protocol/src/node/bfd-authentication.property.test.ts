import fc from 'fast-check';
import { expect, it } from 'vitest';
import { configuredBfdKey } from './bfd-key.ts';
import { BfdHost, BfdWire } from './kit/bfd-wire.ts';

const addresses = ['10.0.0.1', '10.0.0.2'] as const;
const keys = [configuredBfdKey('correct horse', 0), configuredBfdKey('battery staple', 0)];
type Side = 0 | 1;
type Mode = 'negotiated' | 'none';

/** Two ends of BFD, and the BGP session by which those that can agree on a key. */
class Ends {
  readonly wire = new BfdWire();
  readonly modes: [Mode, Mode];
  readonly #hosts: [BfdHost, BfdHost];

  constructor(modes: readonly [Mode, Mode]) {
    this.modes = [...modes];
    this.#hosts = [this.#begin(0), this.#begin(1)];
  }

  #begin(side: Side): BfdHost {
    const host = new BfdHost(this.wire, addresses[side]);
    host.add(other(side), { authentication: { mode: this.modes[side] } });
    return host;
  }

  get statuses() {
    return ([0, 1] as const).map((side) => this.#hosts[side].session(other(side)));
  }

  get failures(): number {
    return this.statuses.reduce((sum, { counters }) => sum + counters.failures, 0);
  }

  /** BGP comes up with this key, or ends: one end learns of it some ms after the other. */
  async agree(key: number | undefined, first: Side, lag: number): Promise<void> {
    const areAble = !this.modes.includes('none');
    const agreed = key === undefined || !areAble ? undefined : keys[key];
    for (const side of first === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      this.#hosts[side].engine.authenticate(other(side), agreed);
      await this.wire.clock.advance(lag);
    }
  }

  async cut(side: Side, ms: number): Promise<void> {
    this.wire.cut.add(addresses[side]);
    await this.wire.clock.advance(ms);
    this.wire.cut.delete(addresses[side]);
  }

  /** The process of an end becomes another one; by `isSilent` the peer is not told. BGP ends with it. */
  async replace(side: Side, mode: Mode, isSilent: boolean, lag: number): Promise<void> {
    if (isSilent) this.wire.cut.add(addresses[side]);
    this.#hosts[side].engine.remove(other(side));
    await this.wire.clock.advance(1000);
    this.wire.cut.delete(addresses[side]);
    this.modes[side] = mode;
    this.#hosts[side] = this.#begin(side);
    await this.agree(undefined, side, lag);
  }
}

function other(side: Side): string {
  return addresses[side === 0 ? 1 : 0];
}

const side = fc.constantFrom<Side>(0, 1);
const mode = fc.constantFrom<Mode>('negotiated', 'negotiated', 'none');
const lag = fc.constantFrom(0, 20, 400, 3000);
const step: fc.Arbitrary<(ends: Ends) => Promise<void>> = fc.oneof(
  fc.tuple(fc.constantFrom(0, 1, undefined), side, lag).map(
    ([key, first, late]) =>
      (ends: Ends) =>
        ends.agree(key, first, late),
  ),
  fc.tuple(side, fc.constantFrom(60, 200, 2000)).map(
    ([of, ms]) =>
      (ends: Ends) =>
        ends.cut(of, ms),
  ),
  fc.tuple(side, mode, fc.boolean(), lag).map(
    ([of, next, isSilent, late]) =>
      (ends: Ends) =>
        ends.replace(of, next, isSilent, late),
  ),
);

it('whatever two ends agreed on, and whoever takes the place of one, BFD comes Up when it is over and stays', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(mode, mode), fc.array(step, { maxLength: 8 }), async (modes, steps) => {
      const ends = new Ends(modes);
      await ends.wire.clock.advance(3000);
      for (const each of steps) await each(ends);
      // BGP ends with BFD, and all that it agreed on.
      await ends.agree(undefined, 0, 0);
      await ends.wire.clock.advance(5000);
      const { failures } = ends;
      await ends.wire.clock.advance(10_000);
      expect(ends.statuses.map(({ state }) => state)).toEqual(['Up', 'Up']);
      await ends.agree(0, 1, 20);
      await ends.wire.clock.advance(5000);
      const authentication = ends.modes.includes('none') ? 'not required' : 'required';
      for (const status of ends.statuses) {
        expect(status.state).toBe('Up');
        expect(status.authentication === 'required' ? 'required' : 'not required').toBe(authentication);
      }
      expect(ends.failures).toBe(failures);
    }),
    { numRuns: 100 },
  );
});
