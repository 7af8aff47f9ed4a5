/** Every state with every input, and every pair of inputs one after the other: DESIGN's rules hold without exception. */
import { describe, expect, it } from 'vitest';
import { drainPace, type LifecycleInput } from './lifecycle-input.ts';
import { step } from './step.ts';
import { desiredOf, type VipState, vipStateNames } from './vip-state.ts';

const times = { drainTimeout: 60_000, ...drainPace };
/** Later than any of the times above counted from 0. */
const now = 100_000;

type Draining = Extract<VipState, { name: 'draining' }>;

function drain(changes: Partial<Draining>): Draining {
  return { name: 'draining', startedAt: 0, closing: undefined, withdrawnAt: undefined, ...changes };
}

const early = { isEarly: true, why: 'nobody is left' };
const late = { isEarly: false, why: 'time is up' };

const states: readonly VipState[] = [
  { name: 'absent' },
  { name: 'local-only' },
  { name: 'advertised' },
  { name: 'last-resort' },
  drain({ startedAt: now }),
  drain({}),
  drain({ closing: { at: now, ...early } }),
  drain({ closing: { at: now - times.holdLimit, ...late } }),
  drain({ closing: { at: 0, ...early } }),
  drain({ closing: { at: 0, ...late } }),
  drain({ closing: { at: 0, ...late }, withdrawnAt: now }),
  drain({ closing: { at: 0, ...late }, withdrawnAt: now - times.moveOnLimit }),
];

const allValues = {
  role: ['init', 'join'],
  bootstrap: ['unproven', 'proven', 'void'],
  readiness: ['unknown', 'ready', 'soft', 'unauthorized', 'stopping', 'hard'],
  isPortClosed: [false, true],
  clients: [undefined, 0, 3],
  drain: [undefined, { by: 'stop', isForced: true }, { by: 'command', isForced: false }],
  isHeld: [false, true],
  haveMovedOn: [false, true],
  others: [0, 2],
  bindCheck: ['pending', 'passed', 'failed', 'wrong-certificate'],
  hasAdvertised: [false, true],
} as const;

type Values = { readonly [K in keyof typeof allValues]: readonly (typeof allValues)[K][number][] };

function inputsOf(values: Values): readonly LifecycleInput[] {
  const details = { bootstrapDetail: 'bootstrap', readinessDetail: 'readiness', bindCheckDetail: 'check' };
  return Object.entries(values).reduce<readonly object[]>(
    (inputs, [key, list]) => inputs.flatMap((input) => list.map((value) => ({ ...input, [key]: value }))),
    [{ ...details, isHurried: false }],
  ) as readonly LifecycleInput[];
}

const inputs = inputsOf(allValues);
/** Those that differ in more than how a drain ends. */
const mainInputs = inputsOf({
  ...allValues,
  isPortClosed: [false],
  clients: [undefined],
  drain: [undefined, { by: 'stop', isForced: true }],
  isHeld: [false],
  haveMovedOn: [false],
  others: [2],
});

/** All that one step can be: 12 states with 41,472 inputs. */
function each(
  check: (before: VipState, input: LifecycleInput, after: VipState, reason: string) => boolean,
): string[] {
  const broken: string[] = [];
  for (const before of states) {
    for (const input of inputs) {
      const { state, reason } = step(before, input, times, now);
      if (!check(before, input, state, reason)) broken.push(JSON.stringify({ before, input, state }));
    }
  }
  return broken.slice(0, 3);
}

const isProven = ({ bootstrap }: LifecycleInput): boolean => bootstrap === 'proven';
const wantsDrain = ({ drain, readiness }: LifecycleInput): boolean =>
  drain !== undefined || readiness === 'stopping';
const isInPool = (state: VipState): boolean => desiredOf(state).advertisement !== 'none';
const mayAdvertise = ({ bindCheck, hasAdvertised }: LifecycleInput): boolean =>
  bindCheck === 'passed' || (bindCheck === 'wrong-certificate' && hasAdvertised);
const isNormalTime = (input: LifecycleInput): boolean => isProven(input) && !wantsDrain(input);

describe('whatever the state and the input', () => {
  it.each<[string, Parameters<typeof each>[0]]>([
    [
      'a joiner without proof is absent',
      (_, input, { name }) => isProven(input) || input.role === 'init' || name === 'absent',
    ],
    [
      'the first master has the VIP for itself until the proof',
      (_, input, { name }) =>
        input.role === 'join' || input.bootstrap !== 'unproven' || name === 'local-only',
    ],
    ['a void proof is absent', (_, input, { name }) => input.bootstrap !== 'void' || name === 'absent'],
    ['nothing is advertised without proof', (_, input, after) => isProven(input) || !isInPool(after)],
    [
      'nothing is advertised whose API server does not answer',
      (_, { readiness }, after) => readiness !== 'hard' || !isInPool(after),
    ],
    [
      'a dead API server does not keep the VIP, but for the moment that a drain gives the routers',
      (before, input, after) =>
        !isProven(input) ||
        input.readiness !== 'hard' ||
        after.name === 'absent' ||
        before.name === 'draining',
    ],
    [
      'a master that is not ready is never advertised as one that is',
      (_, { readiness }, { name }) =>
        name !== 'advertised' || readiness === 'ready' || readiness === 'unknown',
    ],
    [
      'a ready master whose VIP answers is advertised from whatever state it is bound in',
      (before, input, { name }) =>
        !isNormalTime(input) ||
        input.readiness !== 'ready' ||
        before.name === 'absent' ||
        !mayAdvertise(input) ||
        name === 'advertised',
    ],
    [
      'from absent the VIP is bound before it is advertised',
      (before, _, after) => before.name !== 'absent' || !isInPool(after),
    ],
    [
      'a VIP enters the pool only after a connection to it has worked on this host',
      (before, input, after) =>
        !isInPool(after) ||
        before.name === 'advertised' ||
        before.name === 'last-resort' ||
        before.name === 'draining' ||
        mayAdvertise(input),
    ],
    [
      'a starting API server that answers 403 does not enter the pool',
      (before, input, after) =>
        input.readiness !== 'unauthorized' ||
        input.hasAdvertised ||
        wantsDrain(input) ||
        before.name !== 'local-only' ||
        !isInPool(after),
    ],
    [
      'a soft failure keeps the master in the pool as a last resort, for as long as it lasts',
      (before, input, { name }) =>
        !isNormalTime(input) || input.readiness !== 'soft' || !isInPool(before) || name === 'last-resort',
    ],
    [
      'a drain begins at first sight',
      (before, input, { name }) =>
        !isProven(input) ||
        !wantsDrain(input) ||
        input.readiness === 'hard' ||
        !isInPool(before) ||
        before.name === 'draining' ||
        name === 'draining',
    ],
    [
      'a drain withdraws first and unbinds later',
      (before, input, { name }) =>
        !isProven(input) ||
        before.name !== 'draining' ||
        name !== 'absent' ||
        (before.withdrawnAt !== undefined &&
          (input.haveMovedOn || now - before.withdrawnAt >= times.moveOnLimit)),
    ],
    [
      'a withdrawn drain does not come back to the routers while the drain is wanted',
      (before, input, after) =>
        before.name !== 'draining' ||
        before.withdrawnAt === undefined ||
        !wantsDrain(input) ||
        !isInPool(after),
    ],
    [
      'a drain withdraws only once new connections are held off, or could not be, or the API server is dead',
      (before, input, after) => {
        const hasWithdrawn = (state: VipState): boolean =>
          state.name === 'draining' && state.withdrawnAt !== undefined;
        if (!hasWithdrawn(after) || hasWithdrawn(before) || input.readiness === 'hard') return true;
        const end = before.name === 'draining' ? before.closing : undefined;
        return end !== undefined && (input.isHeld || now - end.at >= times.holdLimit);
      },
    ],
    ['there is a reason to show', (_, __, ___, reason) => reason !== ''],
  ])('%s', (_, check) => {
    expect(each(check)).toEqual([]);
  });

  it('each pair of states can or cannot follow each other as the table says', () => {
    const seen = new Set<string>();
    each((before, _, after) => seen.add(`${before.name} -> ${after.name}`) !== undefined);
    const never = vipStateNames
      .flatMap((from) => vipStateNames.map((to) => `${from} -> ${to}`))
      .filter((pair) => !seen.has(pair));
    // All others happen: what is bound can become everything.
    expect(never).toEqual(['absent -> advertised', 'absent -> last-resort', 'absent -> draining']);
  });
});

/** The states that one more input may lead to, each once. */
function statesAfter(before: VipState): readonly VipState[] {
  const after = mainInputs.map((input) => step(before, input, times, now).state);
  return [...new Map(after.map((state) => [JSON.stringify(state), state])).values()];
}

describe('whatever two inputs follow each other', () => {
  it('the second decides, and binding comes a step before advertising', () => {
    const isAllowed = (between: VipState, second: LifecycleInput, after: VipState): boolean =>
      (isProven(second) || !isInPool(after)) &&
      (second.readiness !== 'hard' || !isInPool(after)) &&
      (second.role === 'init' || isProven(second) || !desiredOf(after).isBound) &&
      (desiredOf(between).isBound || !isInPool(after));
    const broken = states.flatMap((before) =>
      statesAfter(before).flatMap((between) =>
        mainInputs
          .map((second) => ({ before, between, second, after: step(between, second, times, now).state }))
          .filter(({ second, after }) => !isAllowed(between, second, after)),
      ),
    );
    expect(broken.slice(0, 3)).toEqual([]);
  });

  it('the same input again changes nothing but what time or the check of a new binding brings', () => {
    const broken: string[] = [];
    for (const before of states) {
      for (const input of mainInputs) {
        const once = step(before, input, times, now).state;
        const twice = step(once, input, times, now).state;
        const isNewBinding = before.name === 'absent' && once.name === 'local-only';
        if (!isNewBinding && JSON.stringify(once) !== JSON.stringify(twice)) {
          broken.push(JSON.stringify({ before, input, once, twice }));
        }
      }
    }
    expect(broken.slice(0, 3)).toEqual([]);
  });
});
