import { MAX_STATE_SIZE, readRegularFile, replaceFile } from '@bgp-lb/daemon';
import * as z from 'zod';

/** What `dataplane.kind: auto` has come to. */
export interface DataPlaneChoice {
  readonly kind: 'kernel' | 'haproxy';
  /** In a sentence. */
  readonly reason: string;
  /** ISO 8601. */
  readonly decidedAt: string;
}

/** The same for `status`, before it is decided too. */
export interface AutoStatus {
  /** `null`: it is not decided yet, and no client is served. */
  readonly kind: DataPlaneChoice['kind'] | null;
  /** Why it is so, or what is waited for. */
  readonly reason: string;
  readonly decidedAt: string | null;
}

const file = z.strictObject({
  version: z.literal(1),
  kind: z.enum(['kernel', 'haproxy']),
  reason: z.string().max(1000),
  decidedAt: z.iso.datetime(),
});

/** The choice is not what this release writes. */
export class ChoiceError extends Error {
  override readonly name = 'ChoiceError';
}

/** Reads what was decided; undefined where nothing was. @throws ChoiceError: who changes it without knowing cuts connections */
export function readChoice(path: string): DataPlaneChoice | undefined {
  let text: string;
  try {
    text = readRegularFile(path, MAX_STATE_SIZE).toString();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const parsed = file.safeParse(parseJson(text));
  if (!parsed.success) {
    throw new ChoiceError(
      `${path} is not what this release writes: bgp-lb-router uninstall removes it, and the next start decides again`,
    );
  }
  const { version: _, ...choice } = parsed.data;
  return choice;
}

/** @throws Error when the disk does not take it */
export function writeChoice(path: string, choice: DataPlaneChoice): void {
  replaceFile(path, `${JSON.stringify({ version: 1, ...choice })}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
