import { formatTable } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { GateHistory } from '../gate-history.ts';
import { type ExplainedStatus, explain, explanationTables } from './explain.ts';

const noErrors = {
  lastDown: null,
  lastNotificationSent: null,
  lastNotificationReceived: null,
  lastFailure: null,
};
const status: ExplainedStatus = {
  vips: [
    {
      vip: '10.0.0.100/32',
      state: 'absent',
      bound: false,
      advertisement: 'none',
      advertisedTo: [],
      reason: 'bootstrap not proven',
    },
  ],
  gates: [
    { name: 'readyz', pass: true, detail: 'answered 200', sinceMs: 61_000 },
    { name: 'bootstrap', pass: false, detail: 'no marker yet', sinceMs: 125_000 },
  ],
  routers: [
    { ...noErrors, address: '10.0.0.10', session: 'Established', bfd: 'Up', sinceMs: 60_000 },
    { ...noErrors, address: '10.0.0.9', session: 'Active', bfd: 'Down', sinceMs: 3_000 },
  ],
  bfd: null,
};

describe('explain', () => {
  it('says first what keeps clients away, since when, why, and what changes it', () => {
    const { reasons } = explain(status);
    expect(reasons.map(({ what, pass }) => [what, pass])).toEqual([
      ['gate bootstrap', false],
      ['router 10.0.0.9', false],
      ['gate readyz', true],
      ['router 10.0.0.10', true],
    ]);
    expect(reasons[0]).toMatchObject({ sinceMs: 125_000, reason: 'no marker yet' });
    expect(reasons[0]?.next).toContain('kubeadm has to succeed');
    expect(reasons[1]?.next).toContain('doctor');
    expect(reasons.slice(2).every(({ next }) => next === '')).toBe(true);
  });

  it('says when the last word about the drain annotation came, and what fails since', () => {
    const drainAnnotation = { node: 'm', wish: 'drain', succeededMs: 61_000, error: 'list: 403' } as const;
    const [, , reason] = explain({ ...status, drainAnnotation }).reasons;
    expect(reason).toMatchObject({
      what: 'drain annotation of m',
      pass: false,
      reason: 'drain, last heard 61s ago: list: 403',
    });
    expect(reason?.next).toContain('the last known answer holds');
  });

  it('says which routers have a VIP that is to be advertised', () => {
    const [vip] = status.vips.map(
      (one) => ({ ...one, state: 'advertised', advertisement: 'normal' }) as const,
    );
    const said = (advertisedTo: readonly string[]) =>
      explain({ ...status, vips: vip === undefined ? [] : [{ ...vip, advertisedTo }] }).reasons.find(
        ({ what }) => what === 'VIP 10.0.0.100/32',
      );
    expect(said([])).toMatchObject({ pass: false, reason: 'no router has it' });
    expect(said(['10.0.0.10'])).toMatchObject({ pass: true, reason: 'advertised to 10.0.0.10' });
  });

  it('says what keeps answers from clients', () => {
    const finding = { check: 'way back', place: 'eth0', value: 'rp_filter is strict here', fix: 'sysctl' };
    const kernel = { wayBack: [{ ...finding, level: 'fault' as const }] };
    expect(explain({ ...status, kernel }).reasons).toContainEqual({
      ...{ what: 'way back: eth0', pass: false, sinceMs: null, reason: finding.value, next: 'sysctl' },
    });
  });

  it('is a table for people', () => {
    const text = explanationTables(explain(status))
      .map((table) => formatTable(table))
      .join('\n');
    expect(text).toMatch(/10\.0\.0\.100\/32 +absent +bootstrap not proven/);
    expect(text).toMatch(/gate bootstrap +no +125s +no marker yet +kubeadm has to succeed/);
    expect(text).toMatch(/router 10\.0\.0\.10 +yes +1m +BGP session Established, BFD Up/);
  });
});

describe('the history of gates', () => {
  const gate = (pass: boolean, detail: string) => [{ name: 'readyz', pass, detail }] as const;

  it('counts from the moment at which a gate opened or closed, not from its last reason', () => {
    const history = new GateHistory();
    history.note(gate(false, 'refused'), 1_000);
    history.note(gate(false, 'answered 403'), 5_000);
    expect(history.view(6_000)).toEqual([
      { name: 'readyz', pass: false, detail: 'answered 403', sinceMs: 5_000 },
    ]);
    history.note(gate(true, 'answered 200'), 7_000);
    expect(history.view(7_500)).toMatchObject([{ pass: true, sinceMs: 500 }]);
  });
});
