import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { NetworkNamespace } from './network-namespace.ts';

it('goes with the next one when the process that made it was killed', async () => {
  const dead = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
  const abandoned = `bgplb-spk-${dead}-m`;
  execFileSync('ip', ['netns', 'add', abandoned]);
  const namespace = new NetworkNamespace('gone');
  expect(existsSync(`/run/netns/${abandoned}`)).toBe(false);
  expect(existsSync(`/run/netns/${namespace.name}`)).toBe(true);
  await namespace.remove();
  expect(existsSync(`/run/netns/${namespace.name}`)).toBe(false);
});
