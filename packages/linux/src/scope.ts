/** How far an address or a route reaches: RT_SCOPE_* (rtnetlink(7)). */

const scopes = { 0: 'global', 200: 'site', 253: 'link', 254: 'host', 255: 'nowhere' } as const;

/** RT_SCOPE_*: how far an address or route reaches. */
export type Scope = (typeof scopes)[keyof typeof scopes];

/** The name of an RT_SCOPE_* number; user-defined numbers count as global. */
export function scopeName(number: number): Scope {
  return Object.entries(scopes).find(([known]) => Number(known) === number)?.[1] ?? 'global';
}

/** The RT_SCOPE_* number of a name. */
export function scopeNumber(scope: Scope): number {
  return Number(Object.entries(scopes).find(([, name]) => name === scope)?.[0] ?? 0);
}
