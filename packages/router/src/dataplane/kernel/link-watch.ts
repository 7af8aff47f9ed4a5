import type { Resolution } from './desired-objects.ts';

/** Remembers which next hops have no way, and says what has changed. */
export class LinkWatch {
  #withoutWay = new Map<string, string>();

  /**
   * Looks at these next hops; the others are forgotten.
   * @returns those that have lost their way, with the reason, and those that have it again (`undefined`)
   */
  look(
    nextHops: Iterable<string>,
    resolve: (nextHop: string) => Resolution,
  ): { readonly nextHop: string; readonly problem: string | undefined }[] {
    const now = new Map<string, string>();
    for (const nextHop of nextHops) {
      const way = resolve(nextHop);
      // What the kernel refused has a way, and is tried again.
      if ('problem' in way && way.isRefusal !== true) {
        now.set(nextHop, way.problem);
      }
    }
    const before = this.#withoutWay;
    this.#withoutWay = now;
    return [
      ...[...now].filter(([nextHop, problem]) => before.get(nextHop) !== problem),
      ...[...before.keys()].filter((nextHop) => !now.has(nextHop)).map((nextHop) => [nextHop] as const),
    ].map(([nextHop, problem]) => ({ nextHop, problem }));
  }
}
