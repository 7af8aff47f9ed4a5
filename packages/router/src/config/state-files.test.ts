import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { stateFiles } from './state-files.ts';

it('files of the router are all removed when its Debian package is purged', () => {
  const script = readFileSync(new URL('../../../../deploy/debian/router/postrm', import.meta.url), 'utf8');
  const removed = /^for name in (.*); do$/m.exec(script)?.[1]?.split(' ');
  expect(removed?.sort()).toEqual(Object.values(stateFiles).sort());
});
