import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/** Bundles the daemons of this very tree before tests that start them. */
export function setup(): void {
  execFileSync(process.execPath, ['scripts/bundle.ts'], { cwd: resolve(import.meta.dirname, '../..') });
}
