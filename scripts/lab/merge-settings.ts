/** Puts a test's settings over the lab's default configuration of a daemon. */
import { isJsonObject, type JsonObject } from './object-store.ts';

/** Objects are merged key by key; everything else, lists too, is replaced. A key set to undefined is left out. */
export function mergeSettings(base: JsonObject, over: JsonObject): JsonObject {
  const merged: { [name: string]: JsonObject[string] } = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const old = merged[name];
    merged[name] = isJsonObject(old) && isJsonObject(value) ? mergeSettings(old, value) : value;
  }
  return merged;
}
