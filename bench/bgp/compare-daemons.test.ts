import { describe, expect, it } from 'vitest';
import { ingestTable } from '../ingest/describe-ingest.ts';
import { ingestReport } from '../testing/small-reports.ts';

describe('the table of the daemons', () => {
  const text = ingestTable(ingestReport);
  const row = (daemon: string) =>
    text
      .split('\n')
      .find((line) => new RegExp(`\\| +${daemon} \\|`).test(line))
      ?.split('|')
      .map((cell) => cell.trim())
      .slice(1, -1);

  it('has the median, the lowest and the highest, and what that is of FRR', () => {
    expect(row('bgp-lb')).toEqual([
      ...['1,000,000 prefixes', 'bgp-lb', '3.00 (2.00 to 4.00)', '0.33', '3.00 (2.00 to 4.00)', '0.33'],
      ...['300 (200 to 400)', '0.33', '61', '3'],
    ]);
    expect(row('FRR')?.slice(2, 4)).toEqual(['9.00 (8.00 to 10.00)', '1.00']);
  });

  it('has how long a daemon had that was too slow', () => {
    expect(row('GoBGP')?.slice(0, 3)).toEqual(['1,000,000 prefixes', 'GoBGP', 'more than 180']);
    expect(row('GoBGP')?.at(-1)).toBe('0');
  });

  it('says why a daemon failed otherwise', () => {
    expect(row('OpenBGPD')?.[2]).toBe('failed');
    expect(text).toContain('Failed: OpenBGPD, 1,000,000 prefixes: OpenBGPD has ended');
  });
});
