import { isDeepStrictEqual } from 'node:util';

/** The new configuration changes what only a start can change. Nothing of it was taken. */
export class ReloadError extends Error {
  override readonly name = 'ReloadError';
}

/** What a reload takes, and whom it is told about. */
export interface ReloadRule {
  /** What a reload takes: keys at the top of the configuration (`neighbors`), or of one of its sections (`pool.evictAfter`). */
  readonly takes: readonly string[];
  /** What a start costs, for the message: `a start of the speaker takes (with stopMode keep, no connection breaks)`. */
  readonly otherwise: string;
}

/**
 * Refuses a configuration that differs in more than a reload can change: half of it would be neither what was written nor what was.
 * @throws ReloadError that names every key that differs
 */
export function checkReload(current: object, next: object, { takes, otherwise }: ReloadRule): void {
  const taken = new Set(takes);
  const keys = changedKeys(current, next).filter(
    (key) => !taken.has(key) && !taken.has(key.split('.')[0] ?? key),
  );
  if (keys.length === 0) return;
  const list = `${takes.slice(0, -1).join(', ')} and ${takes.at(-1)}`;
  throw new ReloadError(
    `nothing was reloaded, since ${keys.join(', ')} changed, which only ${otherwise}; a reload takes ${list}`,
  );
}

/** Paths of the keys that differ, one level into sections: `asn`, `pool.staleTime`. */
export function changedKeys(current: object, next: object): readonly string[] {
  const [before, after] = [entries(current), entries(next)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
    .flatMap((name) => {
      const [old, now] = [before.get(name), after.get(name)];
      if (!isSection(old) || !isSection(now)) return [name];
      const inner = new Set([...Object.keys(old), ...Object.keys(now)]);
      return [...inner]
        .filter((key) => !isDeepStrictEqual(Reflect.get(old, key), Reflect.get(now, key)))
        .map((key) => `${name}.${key}`);
    });
}

function entries(config: object): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(config));
}

function isSection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
