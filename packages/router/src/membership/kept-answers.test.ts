import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeptAnswers } from './kept-answers.ts';

let folder: string;
let complaints: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-kept-'));
  complaints = [];
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const open = (): KeptAnswers =>
  new KeptAnswers(join(folder, 'kept.json'), (problem) => complaints.push(problem));

describe('the last good answers', () => {
  it('outlive a restart, and are forgotten with their source', () => {
    const kept = open();
    kept.set('a', '1');
    kept.set('b', '2');
    kept.retain(new Set(['b']));
    expect([open().get('a'), open().get('b')]).toEqual([undefined, '2']);
    expect(complaints).toEqual([]);
  });

  it.each([
    ['half', '{"version":1,"answers":{"a"', /none that this version writes/],
    ['of another version', '{"version":2,"answers":{}}', /none that this version writes/],
    ['too long', `"${'x'.repeat(9 << 20)}"`, /more than 8388608 octets/],
  ])('are not used when the file is %s, which is said', (_, text, complaint) => {
    writeFileSync(join(folder, 'kept.json'), text);
    expect(open().get('a')).toBeUndefined();
    expect(complaints).toEqual([expect.stringMatching(complaint)]);
  });

  it('count also when the disk does not take them, which is said', () => {
    mkdirSync(join(folder, 'kept.json'));
    const kept = open();
    kept.set('a', '1');
    expect(kept.get('a')).toBe('1');
    expect(complaints).toEqual([
      expect.stringMatching(/cannot be read/),
      expect.stringMatching(/a restart will not know/),
    ]);
  });
});
