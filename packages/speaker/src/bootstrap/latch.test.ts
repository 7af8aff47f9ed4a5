import { describe, expect, it } from 'vitest';
import { type BootstrapState, noBootstrap } from './bootstrap-state.ts';
import { type CaReading, effectiveRole, judge, type Marker, type Observation } from './latch.ts';

const file = { inode: 5, bornAt: 900 };
const ca = {
  kind: 'present',
  keys: ['key-1'],
  digest: 'digest-1',
  modifiedAt: 1_000,
  file,
} satisfies CaReading;
const marker: Marker = { path: '/state/bootstrapped', modifiedAt: 2_000, inode: 7, isEmpty: true };

const seen: Observation = {
  machineId: 'machine-1',
  ca,
  markers: [],
  missingReads: 0,
  now: '2026-01-01T00:00:00.000Z',
};

function look(state: BootstrapState, changes: Partial<Observation> = {}): ReturnType<typeof judge> {
  return judge(state, { ...seen, ...changes });
}

function fail(): never {
  throw new Error('there is no latch');
}

const proven: BootstrapState = look(noBootstrap, { markers: [marker] }).state;

describe('the proof of bootstrap', () => {
  it('is unproven without a marker', () => {
    expect(look(noBootstrap).proof).toBe('unproven');
  });

  it('is proven by a marker, tied to machine and CA, and the marker is consumed', () => {
    const verdict = look(noBootstrap, { markers: [marker] });
    expect(verdict.proof).toBe('proven');
    expect(verdict.consumed).toEqual([marker]);
    expect(verdict.state.latch).toMatchObject({
      machineId: 'machine-1',
      caKeys: ['key-1'],
      caModifiedAt: 1_000,
    });
  });

  it('stays proven without the marker', () => {
    expect(look(proven).proof).toBe('proven');
  });

  it('does not come from an empty marker that is older than ca.crt', () => {
    const verdict = look(noBootstrap, { markers: [{ ...marker, modifiedAt: 999 }] });
    expect(verdict.proof).toBe('unproven');
    expect(verdict.detail).toContain('older than ca.crt');
  });

  it('does come from a marker with content, whatever its age', () => {
    expect(look(noBootstrap, { markers: [{ ...marker, modifiedAt: 999, isEmpty: false }] }).proof).toBe(
      'proven',
    );
  });

  it('waits for ca.crt and for machine-id', () => {
    const missing: CaReading = { kind: 'missing', detail: 'ENOENT' };
    expect(look(noBootstrap, { markers: [marker], ca: missing, missingReads: 1 }).proof).toBe('unproven');
    expect(look(noBootstrap, { markers: [marker], machineId: undefined }).proof).toBe('unproven');
  });

  it('takes away a marker that says nothing new, which could prove something on a clone', () => {
    const again = { ...marker, inode: 8, modifiedAt: 9_000 };
    const { proof, consumed, isNewProof, state } = look(proven, { markers: [again] });
    expect({ proof, consumed, isNewProof }).toEqual({
      proof: 'proven',
      consumed: [again],
      isNewProof: false,
    });
    const cloned = look(state, { machineId: 'machine-2', markers: [again] });
    expect(cloned.proof).toBe('void');
    expect(cloned.detail).toContain('has served already');
  });

  it('does not come twice from one marker that could not be deleted', () => {
    const voided = look(proven, { machineId: 'machine-2', markers: [marker] });
    expect(voided.proof).toBe('void');
    expect(voided.detail).toContain('has served already');
  });
});

describe('the latch is void', () => {
  it('when the machine-id differs', () => {
    expect(look(proven, { machineId: 'machine-2' }).proof).toBe('void');
  });

  it('when ca.crt is missing in three reads in a row', () => {
    const missing: CaReading = { kind: 'missing', detail: 'ENOENT' };
    expect(look(proven, { ca: missing, missingReads: 2 }).proof).toBe('proven');
    expect(look(proven, { ca: missing, missingReads: 3 }).proof).toBe('void');
  });

  it('but not when ca.crt cannot be read, however often: that says nothing of it, and proves nothing either', () => {
    const unread: CaReading = { kind: 'unread', detail: 'EMFILE' };
    const { proof, detail, state } = look(proven, { ca: unread, missingReads: 0 });
    expect({ proof, state }).toEqual({ proof: 'proven', state: proven });
    expect(detail).toContain('ca.crt cannot be read (EMFILE)');
    expect(look(noBootstrap, { ca: unread, markers: [marker] })).toMatchObject({
      proof: 'unproven',
      consumed: [],
      detail: expect.stringContaining('ca.crt cannot be read (EMFILE)'),
    });
  });

  it('when ca.crt has no key in common', () => {
    expect(look(proven, { ca: { ...ca, keys: ['key-2'], digest: 'digest-2' } }).proof).toBe('void');
  });

  it('when ca.crt has the same bytes and a newer time in a new file, also where the inode number is the old one', () => {
    const bornAgain = { inode: 5, bornAt: 1_001 };
    expect(look(proven, { ca: { ...ca, modifiedAt: 3_001, file: bornAgain } }).proof).toBe('void');
    expect(look(proven, { ca: { ...ca, modifiedAt: 3_001, file: { inode: 6, bornAt: 900 } } }).proof).toBe(
      'void',
    );
  });

  it('when only the time of ca.crt is known to be newer, where the file system does not tell when a file was made', () => {
    const unborn = { ...ca, file: { inode: 5, bornAt: 0 } };
    const latched = look(noBootstrap, { markers: [marker], ca: unborn }).state;
    expect(look(latched, { ca: { ...unborn, modifiedAt: 3_001 } }).proof).toBe('void');
    expect(look(latched, { ca: unborn }).proof).toBe('proven');
  });

  it('when the latch is of a version that did not note the file, and the time is newer', () => {
    const { caFile: _, ...older } = proven.latch ?? fail();
    expect(look({ ...proven, latch: older }, { ca: { ...ca, modifiedAt: 3_001 } }).proof).toBe('void');
    const { proof, state } = look({ ...proven, latch: older });
    expect(proof).toBe('proven');
    expect(state.latch?.caFile).toEqual(file);
  });

  it('but not when ca.crt is touched, or written in place with what was there', () => {
    const { proof, state } = look(proven, { ca: { ...ca, modifiedAt: 5_000 } });
    expect(proof).toBe('proven');
    expect(state.latch?.caModifiedAt).toBe(5_000);
    // What comes after is still seen.
    const rejoined = { ...ca, modifiedAt: 9_000, file: { inode: 5, bornAt: 6_000 } };
    expect(look(state, { ca: rejoined }).proof).toBe('void');
  });

  it.each([900, 1_001, 3_000])(
    'but not when ca.crt comes from a backup: a new file with its time, rounded to %i',
    (modifiedAt) => {
      const restored = { ...ca, modifiedAt, file: { inode: 9, bornAt: 7_000 } };
      const { proof, state } = look(proven, { ca: restored });
      expect(proof).toBe('proven');
      expect(look(state, { ca: restored }).proof).toBe('proven');
    },
  );

  it('and stays void after a restart, until there is a new proof', () => {
    const { state } = look(proven, { machineId: 'machine-2' });
    expect(look(state, { machineId: 'machine-2' }).proof).toBe('void');
    const fresh = { ...marker, inode: 8, modifiedAt: 3_000 };
    const again = look(state, { machineId: 'machine-2', markers: [fresh] });
    expect(again.proof).toBe('proven');
    expect(again.state.void).toBeUndefined();
  });

  it('for as long as machine-id cannot be read, but not for good', () => {
    const { proof, state } = look(proven, { machineId: undefined });
    expect(proof).toBe('void');
    expect(look(state).proof).toBe('proven');
  });

  it('but not by a rotation of the CA that keeps one key in common, step by step', () => {
    const both = look(proven, {
      ca: { ...ca, keys: ['key-1', 'key-2'], digest: 'digest-2', modifiedAt: 1_500 },
    });
    expect(both.proof).toBe('proven');
    expect(
      look(both.state, { ca: { ...ca, keys: ['key-2'], digest: 'digest-3', modifiedAt: 1_600 } }).proof,
    ).toBe('proven');
    expect(
      look(proven, { ca: { ...ca, keys: ['key-2'], digest: 'digest-3', modifiedAt: 1_600 } }).proof,
    ).toBe('void');
  });
});

describe('the role', () => {
  const none = { hasInitConfiguration: false, hasJoinConfiguration: false };

  it('is the configured one', () => {
    expect(effectiveRole('init', undefined, none)).toBe('init');
    expect(effectiveRole('join', undefined, { ...none, hasInitConfiguration: true })).toBe('join');
  });

  it('is what prepare said, where it said something', () => {
    expect(effectiveRole('init', 'join', none)).toBe('join');
  });

  it('comes with Cluster API from the file of its kubeadm provider, and is join until there is one', () => {
    expect(effectiveRole('cluster-api', undefined, none)).toBe('join');
    expect(effectiveRole('cluster-api', undefined, { ...none, hasInitConfiguration: true })).toBe('init');
    expect(effectiveRole('cluster-api', undefined, { ...none, hasJoinConfiguration: true })).toBe('join');
  });
});
