import { describe, expect, it } from 'vitest';
import { figures, figureTable } from './figures.ts';
import type { Recorded } from './record/recorded-report.ts';
import { ingestReport, sessionsReport } from './testing/small-reports.ts';

const named = (recorded: Recorded, what: string) => figures(recorded).find((one) => one.what === what);

describe('the figures that the project is held to', () => {
  it('are all there, and none is met, when nothing is recorded', () => {
    const all = figures({});
    expect(new Set(all.map(({ bench }) => bench))).toEqual(
      new Set(['lb', 'death', 'speaker', 'rest', 'ingest', 'reflect', 'sessions']),
    );
    expect(all.filter(({ met, measured }) => met || measured !== undefined)).toEqual([]);
    expect(figureTable(all).match(/not measured/g)).toHaveLength(all.length);
  });

  it('compares medians with those of FRR', () => {
    // The medians of 2, 3 and 4 s, and of 8 and 10.
    expect(named({ ingest: ingestReport }, '1,000,000 prefixes, wall time')).toMatchObject({
      measured: 3 / 9,
      met: false,
    });
    expect(named({ ingest: ingestReport }, '1,000,000 prefixes, peak RSS')?.met).toBe(true);
  });

  it('takes the worst KEEPALIVE of all rounds, not their median', () => {
    expect(named({ ingest: ingestReport }, 'latest KEEPALIVE meanwhile')).toMatchObject({
      measured: 61,
      met: false,
    });
  });

  it('counts megabytes, not mebibytes', () => {
    // 145 MiB are 152 MB.
    const peak = named({ sessions: sessionsReport(1000) }, '1000 sessions, hold time 90 s, peak RSS');
    expect(peak).toMatchObject({ unit: 'MB', atMost: 150, met: false });
    expect(peak?.measured).toBeCloseTo(152.04, 1);
  });

  it('does not take another size of a benchmark for the one that is promised', () => {
    const of = (sessions: number) =>
      named({ sessions: sessionsReport(sessions) }, '1000 sessions, hold time 90 s, Established');
    expect(of(1000)?.met).toBe(true);
    expect(of(10)).toMatchObject({ measured: undefined, met: false });
  });

  it('are a table with a verdict each', () => {
    const lines = figureTable(figures({ ingest: ingestReport })).split('\n');
    const cells = (what: string) =>
      lines
        .find((line) => line.includes(what))
        ?.split('|')
        .map((cell) => cell.trim())
        .filter(Boolean);
    expect(cells('wall time')).toEqual([
      '1,000,000 prefixes, wall time',
      'ingest',
      "0.25 of FRR's",
      "0.333 of FRR's",
      'missed',
    ]);
    expect(cells('peak RSS')?.at(-1)).toBe('met');
  });
});
