import { readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { MAX_STATE_SIZE, readRegularFile } from '@bgp-lb/daemon';
import { readSysctl } from '@bgp-lb/linux';
import { z } from 'zod';
import type { SysctlAccess } from './sysctls.ts';

/** A setting of the host that this data plane changed. */
interface ChangedSysctl {
  /** Its value before the first change. */
  readonly before: string;
  /** What was written last. */
  readonly after: string;
}

const document = z.strictObject({
  scope: z.string(),
  settings: z.record(z.string(), z.strictObject({ before: z.string(), after: z.string() })),
});

/** No host has so many interfaces that more settings than this are changed; what is beyond is not kept. */
const LARGEST = 10_000;

/**
 * What the settings of the host were before they were changed, in a file: `uninstall` puts them back. It holds for one boot of one
 * network namespace: after that the kernel has begun again, and so does the record.
 */
export class SysctlRecord {
  readonly #path: string;
  readonly #scope: string;

  constructor(path: string, scope: string = thisBoot()) {
    this.#path = path;
    this.#scope = scope;
  }

  /** By the names of the settings. Empty where nothing is known. */
  read(): ReadonlyMap<string, ChangedSysctl> {
    try {
      const { scope, settings } = document.parse(
        JSON.parse(readRegularFile(this.#path, MAX_STATE_SIZE).toString()),
      );
      return scope === this.#scope ? new Map(Object.entries(settings)) : new Map();
    } catch {
      // Absent, or not what was written: nothing is known.
      return new Map();
    }
  }

  /** @throws the error of the file system */
  note(name: string, before: string, after: string): void {
    const settings = new Map(this.read());
    if (settings.size >= LARGEST) return;
    settings.set(name, { before: settings.get(name)?.before ?? before, after });
    const next = `${this.#path}.new`;
    const text = JSON.stringify({ scope: this.#scope, settings: Object.fromEntries(settings) });
    // Not forced to the disk: after a crash of the host the record is void.
    writeFileSync(next, `${text}\n`, { mode: 0o644 });
    renameSync(next, this.#path);
  }
}

/** The same access, which notes what a setting was before it was written. @param onError hears of what cannot be noted */
export function recorded(
  access: SysctlAccess,
  record: Pick<SysctlRecord, 'note'>,
  onError: (error: Error) => void,
): SysctlAccess {
  return {
    read: (name) => access.read(name),
    write: (name, value) => {
      const before = access.read(name);
      access.write(name, value);
      try {
        record.note(name, before, value);
      } catch (error) {
        // Packets matter more than what uninstall will know.
        onError(new Error(`what ${name} was before cannot be noted for uninstall`, { cause: error }));
      }
    },
  };
}

function thisBoot(): string {
  return `${readSysctl('kernel.random.boot_id')} ${readlinkSync('/proc/self/ns/net')}`;
}
