import { describe, expect, it } from 'vitest';
import { ProbeMarks } from './probe-marks.ts';

describe('marks of probed members', () => {
  it('stay with their member, and those that are free are given again, the lowest first', () => {
    const marks = new ProbeMarks(0x84000);
    marks.set(['a', 'b', 'c']);
    marks.set(['c', 'd', 'b']);
    expect(Object.fromEntries(marks.all)).toEqual({ b: 0x84002, c: 0x84003, d: 0x84001 });
  });

  it('are no more than there are tables for, and none is given twice', () => {
    const marks = new ProbeMarks(0x84000);
    marks.set(Array.from({ length: 5000 }, (_, n) => `member ${n}`));
    const given = [...marks.all.values()];
    expect(new Set(given).size).toBe(1023);
    expect([Math.min(...given), Math.max(...given)]).toEqual([0x84001, 0x843ff]);
  });
});
