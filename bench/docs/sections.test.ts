import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRecorded, record, reportText } from '../record/recorded-report.ts';
import { ingestReport, machine, sessionsReport } from '../testing/small-reports.ts';
import { generate } from './sections.ts';

describe('the generated parts of the benchmarks page', () => {
  it('are made of what was recorded, after it was written to files and read again', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-recorded-'));
    try {
      record(folder, ingestReport);
      const recorded = readRecorded(folder);
      expect(recorded).toEqual({ ingest: ingestReport });
      expect(generate(recorded, 'plots')).toEqual(generate({ ingest: ingestReport }, 'plots'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('say what is not recorded', () => {
    const { sections, plots } = generate({ ingest: ingestReport }, 'plots');
    expect(sections['reflect']).toBe('Not recorded.');
    expect(sections['plots-reflect']).toBe('');
    expect(Object.keys(plots)).toEqual(['ingest-1000000-wall.svg', 'ingest-1000000-memory.svg']);
    expect(sections['plots-ingest']).toContain('(plots/ingest-1000000-wall.svg)');
    expect(sections['machine']).toContain('| ingest | abc1234 | 2026-01-02T03:04:05Z | 0.10 0.20 0.30 |');
  });

  it('name each machine when benchmarks were recorded on two', () => {
    const other = { ...sessionsReport(1000), machine: { ...machine, cpu: 'another' } };
    const { sections } = generate({ ingest: ingestReport, sessions: other }, 'plots');
    expect(sections['machine']).toMatch(/^- ingest: 2 x a processor.*\n- sessions: 2 x another/);
  });

  it('have plots that are the same each time: a page that is checked must be', () => {
    const [first, second] = [1, 2].map(() => generate({ ingest: ingestReport }, 'plots').plots);
    expect(first).toEqual(second);
    expect(first?.['ingest-1000000-wall.svg']).toMatch(/^<svg .*<\/svg>\n$/s);
  });
});

describe('a recorded report', () => {
  it('has lists of numbers on one line, and is the same report', () => {
    const report = { ...sessionsReport(1000) };
    const text = reportText(report);
    expect(JSON.parse(text)).toEqual(report);
    expect(text).toContain('"loadBefore": [0.1, 0.2, 0.3]');
  });
});
