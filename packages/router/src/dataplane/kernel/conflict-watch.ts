import type { Difference } from '../data-plane.ts';
import { type ClientPathFault, type ClientPathQuestion, clientPathFaults } from './client-paths.ts';
import type { KernelVip } from './kernel-data-plane-options.ts';
import type { Uplinks } from './possible-clients.ts';
import { vipConflicts } from './vip-conflicts.ts';

export interface ConflictWatchOptions {
  readonly socket: ClientPathQuestion['socket'];
  readonly protocol: number;
  readonly table: number;
  readonly vips: () => readonly KernelVip[];
  /** To a member. */
  readonly isForwarding: (prefix: string) => boolean;
  readonly uplinks: () => Uplinks;
  /** What keeps all clients of a VIP from its members has changed, in words; undefined when nothing does any more. */
  readonly changed: (vip: string, obstacle: string | undefined) => void;
}

/** What others have put in the way of packets to a VIP, which is not ours to remove. */
export class ConflictWatch {
  readonly #options: ConflictWatchOptions;
  #obstacles = new Map<string, string>();
  #problems: readonly string[] = [];

  constructor(options: ConflictWatchOptions) {
    this.#options = options;
  }

  /** One sentence each. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Why no client of the VIP gets to a member. */
  obstacle(vip: string): string | undefined {
    return this.#obstacles.get(vip);
  }

  look(): void {
    const faults = this.#faults();
    const { socket, table, vips, isForwarding } = this.#options;
    const own = vipConflicts(socket, vips(), isForwarding, table);
    this.#problems = [...own, ...faults.map(({ text }) => text)];
    const before = this.#obstacles;
    this.#obstacles = new Map(faults.filter(({ isForAll }) => isForAll).map(({ vip, text }) => [vip, text]));
    for (const vip of new Set([...before.keys(), ...this.#obstacles.keys()])) {
      if (before.has(vip) !== this.#obstacles.has(vip)) this.#options.changed(vip, this.#obstacles.get(vip));
    }
  }

  /** The same, for a comparison of the kernel with what is wanted. */
  differences(): readonly Difference[] {
    return this.#faults().map(({ vip, text }) => ({ vip, object: 'route', difference: text }));
  }

  #faults(): readonly ClientPathFault[] {
    const { socket, protocol, vips, isForwarding, uplinks } = this.#options;
    const forwarded = vips().filter(({ prefix }) => isForwarding(prefix));
    return clientPathFaults({ socket, vips: forwarded, protocol, uplinks: uplinks() });
  }
}
