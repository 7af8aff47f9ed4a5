import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** Files of the kernel, whose size it bounds, one that is read by a descriptor whose size was looked at, and one beside the program. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'packages/daemon/src/control/page-routes.ts': ['new URL(isBundle ? file : `../../../../dist/{file}`'],
  'packages/router/src/vrrp/keepalived-process.ts': ['`/proc/{pid}/stat`', '`/proc/{pid}/cmdline`'],
  'packages/linux/src/sysctl.ts': ['path'],
  'packages/linux/src/tcp-md5-counters.ts': ["'/proc/self/net/netstat'"],
  'packages/linux/src/reverse-path-drops.ts': ["'/proc/self/net/netstat'"],
  'packages/linux/src/release-memory.ts': ["'/proc/self/smaps'"],
  'packages/linux/src/firewall/read-firewall.ts': ['file'],
  'packages/speaker/src/lifecycle/drain-order.ts': ['BOOT_ID'],
  'packages/speaker/src/single-file/native-library.ts': ['file'],
};

/** Calls that read a file whole, whatever its size, and wait for a pipe that has no writer. */
function readsOf(text: string): string[] {
  return [...text.matchAll(/\breadFile(?:Sync)?\(\s*([^,)]+)/g)].map(([, argument = '']) =>
    argument.trim().replaceAll('$', ''),
  );
}

const files = globSync('packages/*/src/**/*.ts', { cwd: root }).filter(
  (file) => !/\.test\.ts$|\/testing\//.test(file),
);

describe('files that are not ours', () => {
  it('are found, so that the rest can fail', () => {
    expect(files.length).toBeGreaterThan(300);
    expect(readsOf("readFileSync(path, 'utf8'); await readFile(other)")).toEqual(['path', 'other']);
  });

  it('are read by readRegularFile, which has a bound and waits for nothing, in all that ships', () => {
    const found = files.flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      if (!/'node:fs(\/promises)?'/.test(text)) return [];
      const reads = readsOf(text).filter((argument) => !(allowed[file] ?? []).includes(argument));
      return reads.map((argument) => `${file}: ${argument}`);
    });
    expect(found).toEqual([]);
  });
});
