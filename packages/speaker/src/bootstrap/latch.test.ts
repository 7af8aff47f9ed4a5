import { describe, expect, it } from 'vitest';
import { type BootstrapState, noBootstrap } from './bootstrap-state.ts';
import { type CaReading, effectiveRole, judge, type Marker, type Observation } from './latch.ts';

const ca: CaReading = { kind: 'present', keys: ['key-1'], digest: 'digest-1', modifiedAt: 1_000 };
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

  it('when ca.crt has no key in common', () => {
    expect(look(proven, { ca: { ...ca, keys: ['key-2'], digest: 'digest-2' } }).proof).toBe('void');
  });

  it('when ca.crt has the same bytes and a newer time', () => {
    expect(look(proven, { ca: { ...ca, modifiedAt: 1_001 } }).proof).toBe('void');
    expect(look(proven, { ca: { ...ca, modifiedAt: 900 } }).proof).toBe('proven');
  });

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
