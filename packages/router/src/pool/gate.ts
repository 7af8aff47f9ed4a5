/** `link`: the interface towards the member has no carrier. `bfd`: the operator wants BFD Up first (strict). */
export type Barrier = 'link' | 'bfd';

/** Something that must be so for a member to have its full share. */
export interface Gate {
  readonly name:
    | 'session'
    | 'announcement'
    | 'link'
    | 'BFD'
    | 'cluster'
    | 'health check'
    | 'clients'
    | 'operator'
    | 'flap back-off'
    | 'initial hold';
  readonly pass: boolean;
  /** In words; empty where there is nothing to say. */
  readonly detail: string;
  /** Monotonic milliseconds since when it passes, or does not. */
  readonly since: number;
}

/** A gate as it is now. */
export type GateNow = Omit<Gate, 'since'>;

/** The gates of one member, each with since when. */
export class MemberGates {
  #gates: readonly Gate[] = [];

  get all(): readonly Gate[] {
    return this.#gates;
  }

  /** What they are now. */
  look(gates: readonly GateNow[], now: number): void {
    const before = this.#gates;
    this.#gates = gates.map((gate, i) => {
      const was = before[i];
      return { ...gate, since: was?.pass === gate.pass ? was.since : now };
    });
  }
}
