import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { cleanFileMappings } from './release-memory.ts';

/** An entry of smaps, shortened to what is looked at and one line that is not. */
function entry(range: string, permissions: string, file: string, anonymousKb: number): string {
  const inode = file === '' ? 0 : 42;
  return `${range} ${permissions} 00000000 fe:00 ${inode}   ${file}\nRss:  8 kB\nAnonymous:  ${anonymousKb} kB\n`;
}

describe('the mappings of files whose pages can be taken back', () => {
  it('are those of programs and libraries that are as on disk', () => {
    const smaps = [
      entry('00400000-00746000', 'r--p', '/usr/bin/node', 0),
      entry('0074a000-03044000', 'r-xp', '/usr/bin/node', 0),
    ].join('');
    expect(cleanFileMappings(smaps)).toEqual([
      { start: 0x400000n, length: 0x346000n },
      { start: 0x74a000n, length: 0x28fa000n },
    ]);
  });

  it.each([
    ['writable data', entry('06b56000-06b7d000', 'rw-p', '/usr/bin/node', 0)],
    ['relocated data, which differs from the file', entry('06b52000-06b56000', 'r--p', '/usr/bin/node', 8)],
    ['memory of its own', entry('7fb804000000-7fb823dc0000', 'r-xp', '', 0)],
    ['mappings shared with others', entry('7fb804000000-7fb804001000', 'r--s', '/dev/shm/x', 0)],
    ['nothing', ''],
  ])('are not %s', (_what, smaps) => {
    expect(cleanFileMappings(smaps)).toEqual([]);
  });

  it('shrink the process, and it works on', () => {
    const script = `
      import { readFileSync } from 'node:fs';
      import { releaseMemory } from ${JSON.stringify(new URL('./release-memory.ts', import.meta.url).href)};
      const fileKb = () => Number(/^RssFile:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
      const before = fileKb();
      releaseMemory();
      const after = fileKb();
      const { createHash } = await import('node:crypto');
      console.log(JSON.stringify({ before, after, works: createHash('sha256').update('x').digest('hex').length }));`;
    const argv = ['--input-type=module', '-e', script];
    const env = { ...process.env, NODE_OPTIONS: '' };
    const seen = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8', env })) as {
      before: number;
      after: number;
      works: number;
    };
    expect(seen.works).toBe(64);
    expect(seen.after).toBeLessThan(seen.before / 2);
  });
});
