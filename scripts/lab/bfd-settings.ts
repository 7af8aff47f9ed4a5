import type { JsonObject } from './object-store.ts';

/** The key `bfd` of both daemons, with so many milliseconds between packets and three of them for death. */
export function bfdSettings(interval: number): JsonObject {
  const time = `${interval}ms`;
  return { transmitInterval: time, receiveInterval: time, detectMultiplier: 3 };
}
