import type { Gate } from './gates.ts';

/** A gate, and for how long it has been as it is. */
export interface DatedGate extends Gate {
  /** Milliseconds since it opened or closed. */
  readonly sinceMs: number;
}

/** Since when each gate is open or closed. A closed gate whose reason changes is the same closed gate. */
export class GateHistory {
  readonly #gates = new Map<string, { gate: Gate; since: number }>();

  /** @param now milliseconds of a monotonic clock */
  note(gates: readonly Gate[], now: number): void {
    for (const gate of gates) {
      const before = this.#gates.get(gate.name);
      this.#gates.set(gate.name, { gate, since: before?.gate.pass === gate.pass ? before.since : now });
    }
  }

  /** The gates as last noted. */
  view(now: number): readonly DatedGate[] {
    return [...this.#gates.values()].map(({ gate, since }) => ({
      ...gate,
      sinceMs: Math.round(now - since),
    }));
  }
}
