import { describe, expect, it } from 'vitest';
import type { BfdKey, Negotiated } from '../index.ts';
import { bfdAuthenticationOf, bfdNonce, configuredBfdKey, negotiatedBfdKey } from './bfd-key.ts';
import type { BfdSessionOptions } from './bfd-status.ts';
import { BfdHost, BfdWire } from './kit/bfd-wire.ts';

const key = configuredBfdKey('correct horse', 1);
const negotiated = { authentication: { mode: 'negotiated' } } as const;
const required = (by: BfdKey) => ({ authentication: { mode: 'required', key: by } }) as const;

const [here, there] = ['10.0.0.1', '10.0.0.2'];

function pair(ofOne: Partial<BfdSessionOptions>, ofOther: Partial<BfdSessionOptions> = ofOne) {
  const wire = new BfdWire();
  const one = new BfdHost(wire, here);
  const other = new BfdHost(wire, there);
  one.add(there, ofOne);
  other.add(here, ofOther);
  return { wire, one, other };
}

const forged = { state: 'Down', yourDiscriminator: 0 } as const;

function failures({ one, other }: Pick<ReturnType<typeof pair>, 'one' | 'other'>): number {
  return [...one.changes, ...other.changes].filter(({ isFailure }) => isFailure).length;
}

describe('one forged packet: Your Discriminator 0, Down, from the address of the neighbor', () => {
  it('ends a session without authentication', async () => {
    const { wire, one } = pair({});
    await wire.clock.advance(3000);
    expect(one.session(there).state).toBe('Up');
    one.hears(there, forged);
    expect(one.changes.at(-1)).toMatchObject({ from: 'Up', to: 'Down', isFailure: true });
  });

  it.each([
    ['is required', required(key)],
    ['was agreed on', negotiated],
  ])('has no effect where authentication %s', async (_, options) => {
    const { wire, one, other } = pair(options);
    await wire.clock.advance(3000);
    one.engine.authenticate(there, key);
    other.engine.authenticate(here, key);
    await wire.clock.advance(3000);
    expect(one.session(there).authentication).toBe('required');
    for (const state of ['Down', 'AdminDown'] as const) one.hears(there, { ...forged, state });
    const { localDiscriminator } = one.session(there);
    for (const state of ['Down', 'Up', 'AdminDown'] as const) {
      one.hears(there, {
        state,
        yourDiscriminator: localDiscriminator,
        poll: true,
        desiredMinTx: 60_000_000,
      });
    }
    expect(one.session(there)).toMatchObject({ state: 'Up', counters: { discarded: 5, failures: 0 } });
    expect(one.engine.status().receive.discarded.authentication).toBe(5);
    expect(one.session(there).detectionTime).toBe(150);
  });
});

describe('authentication that is agreed on', () => {
  it.each([0, 20, 400, 5000])(
    'begins, ends and begins again without a gap when one end learns of it %i ms after the other',
    async (lag) => {
      const both = pair(negotiated);
      const { wire, one, other } = both;
      await wire.clock.advance(3000);
      const states = () =>
        [one.session(there), other.session(here)].map(({ authentication }) => authentication);
      for (const agreed of [key, undefined, configuredBfdKey('another', 0), undefined, undefined, key]) {
        one.engine.authenticate(there, agreed);
        await wire.clock.advance(lag);
        other.engine.authenticate(here, agreed);
        await wire.clock.advance(1000);
        expect(states()).toEqual(agreed ? ['required', 'required'] : ['not agreed', 'not agreed']);
      }
      expect(failures(both)).toBe(0);
      expect([...one.changes, ...other.changes].filter(({ from }) => from === 'Up')).toEqual([]);
    },
  );

  it('by keys that differ, as in the middle of a change of passwords, leaves the session as it was', async () => {
    const both = pair(negotiated);
    const { wire, one, other } = both;
    await wire.clock.advance(3000);
    one.engine.authenticate(there, key);
    other.engine.authenticate(here, configuredBfdKey('another', 0));
    await wire.clock.advance(5000);
    expect(one.session(there)).toMatchObject({ state: 'Up', authentication: 'agreed' });
    expect(failures(both)).toBe(0);
  });

  it('never comes with a neighbor that has none, and costs nothing', async () => {
    const both = pair(negotiated, {});
    const { wire, one } = both;
    await wire.clock.advance(5000);
    expect(one.session(there)).toMatchObject({ state: 'Up', authentication: 'not agreed' });
    expect(failures(both)).toBe(0);
  });

  it('does not keep a neighbor out whose process is another one, once BGP has ended too', async () => {
    const { wire, one, other } = pair(negotiated);
    await wire.clock.advance(3000);
    one.engine.authenticate(there, key);
    other.engine.authenticate(here, key);
    await wire.clock.advance(1000);
    wire.cut.add(there);
    one.engine.authenticate(there, undefined);
    const next = new BfdHost(wire, '10.0.0.3');
    one.engine.remove(there);
    one.add('10.0.0.3', negotiated);
    next.add(here, negotiated);
    await wire.clock.advance(3000);
    expect(one.session('10.0.0.3').state).toBe('Up');
  });
});

describe('a key that two ends had agreed on, when the agreement has ended', () => {
  /** Two ends that have agreed on a key and use it. */
  async function agreed() {
    const both = pair(negotiated);
    await both.wire.clock.advance(3000);
    both.one.engine.authenticate(there, key);
    both.other.engine.authenticate(here, key);
    await both.wire.clock.advance(1000);
    expect([both.one.session(there), both.other.session(here)]).toMatchObject([
      { state: 'Up', authentication: 'required' },
      { state: 'Up', authentication: 'required' },
    ]);
    return both;
  }

  // Before: BGP notices first, while BFD is still Up. After: BGP ends for the sake of BFD.
  const moments = ['before', 'after'] as const;
  const ends = [
    ['the one', here, there],
    ['the other', there, here],
  ] as const;
  const cases = moments.flatMap((moment) => ends.map(([end, from, to]) => [moment, end, from, to] as const));

  it.each(cases)(
    '%s BFD went Down, is of no effect on a successor of %s that has no authentication',
    async (moment, _, replaced, staying) => {
      const { wire, one, other } = await agreed();
      const [gone, stays] = replaced === here ? [one, other] : [other, one];
      if (moment === 'before') stays.engine.authenticate(replaced, undefined);
      // Its process dies.
      wire.cut.add(replaced);
      gone.engine.remove(staying);
      await wire.clock.advance(1000);
      expect(gone.removed).toEqual([staying]);
      expect(stays.session(replaced).state).toBe('Down');
      if (moment === 'after') stays.engine.authenticate(replaced, undefined);
      wire.cut.delete(replaced);
      const { failures: failed } = stays.session(replaced).counters;
      const successor = new BfdHost(wire, replaced);
      successor.add(staying);
      await wire.clock.advance(34_000);
      expect(stays.session(replaced)).toMatchObject({ state: 'Up', counters: { failures: failed } });
      expect(successor.session(staying)).toMatchObject({
        state: 'Up',
        counters: { discarded: 0, failures: 0 },
      });
    },
  );

  it.each(ends)(
    'is of no effect where %s begins again without authentication, and was Up to the last',
    async (_, replaced, staying) => {
      const both = await agreed();
      const { wire, one, other } = both;
      const [gone, stays] = replaced === here ? [one, other] : [other, one];
      stays.engine.authenticate(replaced, undefined);
      gone.engine.authenticate(staying, undefined);
      gone.engine.remove(staying);
      await wire.clock.advance(1000);
      expect(gone.removed).toEqual([staying]);
      gone.add(staying);
      await wire.clock.advance(34_000);
      expect(stays.session(replaced).state).toBe('Up');
      expect(gone.session(staying)).toMatchObject({ state: 'Up', counters: { discarded: 0 } });
      expect(failures(both)).toBe(0);
    },
  );

  it('is used again when it is agreed on again, with numbers that go on', async () => {
    const { wire, one, other } = await agreed();
    for (const [end, peer] of [
      [one, there],
      [other, here],
    ] as const) {
      end.engine.authenticate(peer, undefined);
    }
    wire.cut.add(there);
    await wire.clock.advance(200);
    wire.cut.delete(there);
    await wire.clock.advance(3000);
    const { failures: failed } = one.session(there).counters;
    expect(one.session(there)).toMatchObject({ state: 'Up', authentication: 'not agreed' });
    one.engine.authenticate(there, key);
    other.engine.authenticate(here, key);
    await wire.clock.advance(30_000);
    expect(one.session(there)).toMatchObject({
      state: 'Up',
      authentication: 'required',
      counters: { failures: failed, discarded: 0 },
    });
  });
});

describe('authentication that is required', () => {
  it('comes up by the same key, and never by another, another ID, or without', async () => {
    for (const options of [
      required(configuredBfdKey('another', 1)),
      required({ ...key, id: 2 }),
      {},
      negotiated,
    ]) {
      const { wire, one } = pair(required(key), options);
      await wire.clock.advance(5000);
      expect(one.session(there).state).toBe('Down');
      expect(one.session(there).counters.discarded).toBeGreaterThan(0);
    }
    const { wire, one } = pair(required(key));
    await wire.clock.advance(5000);
    expect(one.session(there).state).toBe('Up');
  });

  it('comes up again after a restart of one end, whose numbers are others', async () => {
    const { wire, one, other } = pair(required(key), { ...required(key), sequence: Uint32Array.of(10) });
    await wire.clock.advance(3000);
    wire.cut.add(there);
    other.engine.remove(here);
    await wire.clock.advance(200);
    expect(other.removed).toEqual([here]);
    const again = new BfdHost(wire, '10.0.0.2', { discriminator: () => 99 });
    wire.cut.delete(there);
    again.add(here, { ...required(key), sequence: Uint32Array.of(4_000_000_000) });
    await wire.clock.advance(5000);
    expect(one.session(there)).toMatchObject({ state: 'Up', remote: { discriminator: 99 } });
  });

  it('goes on when the numbers pass the end of their 32 bits', async () => {
    const both = pair({ ...required(key), sequence: Uint32Array.of(0xffff_fff0) });
    const { wire, one } = both;
    await wire.clock.advance(10_000);
    expect(one.session(there)).toMatchObject({ state: 'Up', counters: { discarded: 0 } });
    expect(failures(both)).toBe(0);
  });
});

describe('the key of two ends', () => {
  const [a, b] = [bfdNonce(), bfdNonce()];
  const from = (local: Uint8Array, remote: Uint8Array) =>
    ({ bfdAuthentication: { local, remote } }) as Negotiated;

  it('is the same for both, and another one with another password or process', () => {
    const ours = negotiatedBfdKey(from(a, b), 'secret');
    expect(ours?.secret).toHaveLength(20);
    expect(negotiatedBfdKey(from(b, a), 'secret')).toEqual(ours);
    expect(negotiatedBfdKey(from(a, b), 'Secret')).not.toEqual(ours);
    expect(negotiatedBfdKey(from(a, bfdNonce()), 'secret')).not.toEqual(ours);
  });

  it('is not there without a password, or where one side did not offer', () => {
    expect(negotiatedBfdKey(from(a, b), undefined)).toBeUndefined();
    expect(negotiatedBfdKey({ bfdAuthentication: undefined } as Negotiated, 'secret')).toBeUndefined();
  });
});

describe('the authentication of a session by its configuration', () => {
  it.each([
    ['none', 'secret', undefined],
    ['auto', undefined, undefined],
    ['auto', 'secret', { mode: 'negotiated' }],
    ['meticulous-keyed-sha1', undefined, undefined],
    ['meticulous-keyed-sha1', 'secret', { mode: 'required', key: { id: 7, secret: Buffer.from('secret') } }],
  ] as const)('%s with the password %s is %j', (authentication, password, mode) => {
    expect(bfdAuthenticationOf({ authentication, keyId: 7 }, password)).toEqual(mode);
  });
});
