import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeepalivedFiles, type TrackedValues } from './keepalived-files.ts';
import { type KeepalivedPaths, keepalivedPaths } from './keepalived-paths.ts';

const module = fileURLToPath(new URL('keepalived-files.ts', import.meta.url));

describe('the files that keepalived tracks', () => {
  let paths: KeepalivedPaths;
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-tracked-'));
    paths = keepalivedPaths({ folder, runFolder: folder });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const track = (values: TrackedValues): void => new KeepalivedFiles(paths, 'keepalived').track(values);
  const texts = (): string[] =>
    [paths.faultFile, paths.unfitFile, paths.offsetFile].map((path) => readFileSync(path, 'utf8'));

  /** The same in a process that can write no octet to any file, as on a full disk. @returns what went wrong */
  function trackWithoutRoom(values: TrackedValues): string {
    const script = `
      import { KeepalivedFiles } from ${JSON.stringify(module)};
      new KeepalivedFiles(${JSON.stringify(paths)}, 'keepalived').track(${JSON.stringify(values)});`;
    const limit = `trap '' XFSZ; ulimit -f 0; exec "$0" --input-type=module -e "$1"`;
    return spawnSync('sh', ['-c', limit, process.execPath, script], { encoding: 'utf8' }).stderr;
  }

  it('have numbers of one width, whatever they are', () => {
    track({ gaveUp: true, unfit: false, offset: 0 });
    expect(texts()).toEqual(['  1\n', '  0\n', '  0\n']);
    track({ gaveUp: false, unfit: true, offset: -10 });
    expect(texts()).toEqual(['  0\n', '  1\n', '-10\n']);
  });

  it('keep what they say when there is no room for another, and never read as good by being empty', () => {
    track({ gaveUp: true, unfit: true, offset: -2 });
    const before = texts();
    expect(trackWithoutRoom({ gaveUp: false, unfit: false, offset: 0 })).toContain('EFBIG');
    expect(texts()).toEqual(before);
  });

  it('say the number first in a file that others made longer', () => {
    writeFileSync(paths.faultFile, 'of another, and long\n');
    track({ gaveUp: true, unfit: false, offset: 0 });
    expect(texts()[0]).toMatch(/^ {2}1\n/);
  });
});
