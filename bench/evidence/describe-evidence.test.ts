import { describe, expect, it } from 'vitest';
import { sampled } from '../statistics.ts';
import { machine } from '../testing/small-reports.ts';
import { evidenceTable } from './describe-evidence.ts';
import type { EvidenceReport } from './measure-evidence.ts';

const took = (...samples: readonly number[]) => {
  const all = sampled(samples, 3);
  if (all === undefined) throw new RangeError('no samples');
  return all;
};

describe('what the counting of packets costs', () => {
  it('is how much longer the median takes, and what a core forwards', () => {
    const report: EvidenceReport = {
      ...{ bench: 'evidence', machine, rounds: 3, segments: 10, failures: [], tookMs: 1 },
      results: [
        { kind: 'ack', isCounted: false, took: took(3.9, 4, 4.4) },
        { kind: 'ack', isCounted: true, took: took(4.5, 5, 5.1) },
      ],
    };
    const rows = evidenceTable(report).split('\n').slice(2);
    expect(rows[0]).toMatch(/ACK +\| +not counted \| 4\.00 \(3\.90 to 4\.40\) \| +250 \| +\| +3 \|/);
    expect(rows[1]).toMatch(/ACK +\| +counted \| 5\.00 \(4\.50 to 5\.10\) \| +200 \| +25 % \| +3 \|/);
  });
});
