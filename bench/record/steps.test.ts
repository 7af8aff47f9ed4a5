import { describe, expect, it } from 'vitest';
import { benchNames } from './recorded-report.ts';
import { stepsOfAll } from './steps.ts';

describe('the steps of all benchmarks', () => {
  it('are every benchmark once, recorded in the folder, after what they need', () => {
    const [singleFile, ...steps] = stepsOfAll('/somewhere');
    expect(singleFile?.argv[0]).toMatch(/scripts\/single-file\.ts$/);
    expect(steps.map(({ argv }) => argv[1])).toEqual([...benchNames]);
    for (const { argv } of steps) expect(argv.slice(2, 4)).toEqual(['--record', '/somewhere']);
  });

  it('have as many rounds as are asked for', () => {
    for (const { argv } of stepsOfAll('/somewhere', 7).slice(1)) {
      expect(argv.slice(4, 6)).toEqual(['--rounds', '7']);
    }
  });

  it('leave traffic to its own step where lb alone would run it too', () => {
    const alone = stepsOfAll('/somewhere').filter(({ argv }) => argv.includes('--alone'));
    expect(alone.map(({ name }) => name)).toEqual(['lb']);
  });
});
