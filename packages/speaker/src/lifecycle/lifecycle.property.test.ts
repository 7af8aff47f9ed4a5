/** Random histories of a master with a kernel that is slow and refuses, and checks that fail: invariants 1 and 2 of ARCHITECTURE.md. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { VipCheckResult } from '../health/vip-check.ts';
import { Lifecycle, type SharedInput } from './lifecycle.ts';
import { type DrainRequest, drainPace } from './lifecycle-input.ts';
import type { Advertisement } from './vip-state.ts';

const vips = [
  { address: '10.0.0.100', port: 6443, machinePort: 6443 },
  { address: '10.0.0.101', port: 6443, machinePort: 6443 },
];

type Event =
  | { readonly type: 'look'; readonly input: SharedInput; readonly wait: number }
  | { readonly type: 'kernel'; readonly isRefused: boolean }
  | {
      readonly type: 'turn';
      readonly clients: number | undefined;
      readonly others: number;
      readonly isHoldRefused: boolean;
      readonly doMoveOn: boolean;
    }
  | { readonly type: 'checked'; readonly check: VipCheckResult['check'] };

const look: fc.Arbitrary<Event> = fc.record({
  type: fc.constant('look' as const),
  wait: fc.constantFrom(0, 200, 1_000, 4_000),
  input: fc.record({
    role: fc.constantFrom('init' as const, 'join' as const),
    bootstrap: fc.constantFrom(
      'unproven' as const,
      'proven' as const,
      'proven' as const,
      'proven' as const,
      'void' as const,
    ),
    bootstrapDetail: fc.constant('b'),
    readiness: fc.constantFrom(
      ...(['unknown', 'ready', 'ready', 'ready', 'soft', 'unauthorized', 'stopping', 'hard'] as const),
    ),
    readinessDetail: fc.constant('r'),
    isPortClosed: fc.boolean(),
    drain: fc.constantFrom<DrainRequest | undefined>(
      undefined,
      undefined,
      { by: 'drain file', isForced: true },
      { by: 'command', isForced: false },
    ),
    isHurried: fc.boolean(),
  }),
});
const turn: fc.Arbitrary<Event> = fc.record({
  type: fc.constant('turn' as const),
  clients: fc.constantFrom(undefined, 0, 3),
  others: fc.constantFrom(0, 2),
  isHoldRefused: fc.boolean(),
  doMoveOn: fc.boolean(),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 1, arbitrary: turn },
  { weight: 9, arbitrary: look },
  { weight: 9, arbitrary: fc.record({ type: fc.constant('kernel' as const), isRefused: fc.boolean() }) },
  {
    weight: 9,
    arbitrary: fc.record({
      type: fc.constant('checked' as const),
      check: fc.constantFrom(
        'passed' as const,
        'passed' as const,
        'failed' as const,
        'wrong-certificate' as const,
      ),
    }),
  },
);

/** A kernel and an API server that answer when the history says so. */
class World {
  readonly lifecycle: Lifecycle;
  readonly advertised = new Map<string, Advertisement>();
  readonly broken: string[] = [];
  bound = new Set<string>();
  input: SharedInput | undefined;
  now = 0;
  isSettled = false;
  hasAdvertised = false;
  clients: number | undefined = 0;
  others = 1;
  isHoldRefused = false;
  doMoveOn = true;
  readonly #binds: { readonly addresses: ReadonlySet<string>; answer(isRefused: boolean): void }[] = [];
  readonly #checks: ((check: VipCheckResult['check']) => void)[] = [];

  constructor(adopted: readonly string[]) {
    this.bound = new Set(adopted);
    this.lifecycle = new Lifecycle({
      vips,
      vipBind: true,
      times: { drainTimeout: 3_000, ...drainPace },
      clock: { now: () => this.now, after: () => () => undefined },
      adopted: new Set(adopted),
      bind: (addresses) => this.#bind(addresses),
      advertise: (wanted, isSettled) => {
        this.isSettled = isSettled;
        for (const [address, how] of wanted) this.#advertise(address, how);
      },
      check: () => new Promise((resolve) => this.#checks.push((check) => resolve({ check, detail: check }))),
      hold: () => (this.isHoldRefused ? Promise.reject(new Error('refused')) : Promise.resolve()),
      movedOn: () => (this.doMoveOn ? Promise.resolve() : new Promise(() => undefined)),
      clients: () => this.clients,
      others: () => this.others,
      hasAdvertised: () => false,
      transition: () => undefined,
    });
  }

  async take(event: Event): Promise<void> {
    if (event.type === 'look') {
      this.now += event.wait;
      this.input = event.input;
      this.lifecycle.update(event.input);
    } else if (event.type === 'turn') {
      const { type: _, ...circumstances } = event;
      Object.assign(this, circumstances);
    } else if (event.type === 'kernel') {
      this.#binds.shift()?.answer(event.isRefused);
    } else {
      this.#checks.shift()?.(event.check);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }

  #bind(addresses: ReadonlySet<string>): Promise<void> {
    for (const address of this.bound) {
      const how = this.advertised.get(address) ?? 'none';
      if (this.isSettled && !addresses.has(address) && how !== 'none')
        this.broken.push(`${address} is unbound while it is advertised`);
    }
    if (this.input?.role === 'join' && this.input.bootstrap !== 'proven' && addresses.size > 0)
      this.broken.push('a joiner without proof binds');
    return new Promise((resolve, reject) => {
      this.#binds.push({
        addresses,
        answer: (isRefused) => {
          if (isRefused) return reject(new Error('refused'));
          this.bound = new Set(addresses);
          resolve();
        },
      });
    });
  }

  #advertise(address: string, how: Advertisement): void {
    this.advertised.set(address, how);
    if (how === 'none') return;
    this.hasAdvertised = true;
    if (this.input?.bootstrap !== 'proven') this.broken.push(`${address} is advertised without proof`);
    if (this.input?.readiness === 'hard') this.broken.push(`${address} is advertised without an API server`);
    if (!this.bound.has(address)) this.broken.push(`${address} is advertised and not bound`);
  }
}

it('over any history no VIP is advertised that is unproven, dead or not bound, and none is unbound before it is withdrawn', async () => {
  let advertised = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom([], [vips[0]?.address ?? '']),
      fc.array(event, { minLength: 15, maxLength: 80 }),
      async (adopted, history) => {
        const world = new World(adopted);
        for (const item of history) await world.take(item);
        if (world.hasAdvertised) advertised += 1;
        expect(world.broken).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
  // Histories in which nothing is ever advertised would show nothing.
  expect(advertised).toBeGreaterThan(30);
});
