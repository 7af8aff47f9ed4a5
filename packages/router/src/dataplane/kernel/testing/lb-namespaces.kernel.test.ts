import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LbNamespaces } from './lb-namespaces.ts';

it('removes the namespaces of a test process that was killed, and those of no other', () => {
  const gone = Number(execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }));
  const abandoned = `rt-${gone}-abcdef-lb`;
  execFileSync('ip', ['netns', 'add', abandoned]);
  const first = new LbNamespaces([]);
  try {
    new LbNamespaces([]).remove();
    expect(existsSync(`/run/netns/${abandoned}`)).toBe(false);
    expect(existsSync(`/run/netns/${first.lb}`)).toBe(true);
  } finally {
    first.remove();
  }
  expect(existsSync(`/run/netns/${first.lb}`)).toBe(false);
});
