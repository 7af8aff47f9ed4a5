import { describe, expect, it } from 'vitest';
import { RiseFall } from './rise-fall.ts';

/** The transitions of a row of reports: `+` good, `-` bad. */
function transitions(check: RiseFall, reports: string): (string | undefined)[] {
  return [...reports].map((report) => check.report(report === '+'));
}

describe('RiseFall', () => {
  it('rises with the rise-th good report in a row', () => {
    const check = new RiseFall({ rise: 2, fall: 3, initial: 'down' });
    expect(transitions(check, '+-++')).toEqual([undefined, undefined, undefined, 'up']);
    expect(check.state).toBe('up');
  });

  it('falls with the fall-th bad report in a row', () => {
    const check = new RiseFall({ rise: 2, fall: 3, initial: 'up' });
    expect(transitions(check, '--+---')).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      'down',
    ]);
  });

  it('reports a transition once', () => {
    const check = new RiseFall({ rise: 1, fall: 1, initial: 'down' });
    expect(transitions(check, '++--')).toEqual(['up', undefined, 'down', undefined]);
  });

  it('counts the reports that contradict its state', () => {
    const check = new RiseFall({ rise: 3, fall: 3, initial: 'up' });
    transitions(check, '--');
    expect(check.contradicting).toBe(2);
    check.report(true);
    expect(check.contradicting).toBe(0);
  });

  it('can be set at once, and counts anew from there', () => {
    const check = new RiseFall({ rise: 2, fall: 2, initial: 'up' });
    check.report(false);
    expect(check.force('down')).toBe('down');
    expect(check.force('down')).toBeUndefined();
    expect(transitions(check, '+')).toEqual([undefined]);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %d as a count', (count) => {
    expect(() => new RiseFall({ rise: count, fall: 1, initial: 'up' })).toThrow(RangeError);
    expect(() => new RiseFall({ rise: 1, fall: count, initial: 'up' })).toThrow(RangeError);
  });
});
