import {
  AdjRibOut,
  type AttributeTable,
  type CodecContext,
  endOfRib,
  type Family,
  families,
  type Route,
  type RouteId,
  type UpdateMessage,
} from '../index.ts';

/** Where UPDATEs go. */
export interface UpdateSink {
  readonly isBlocked: boolean;
  batch(write: () => void): void;
  send(update: UpdateMessage): void;
}

/**
 * Brings the peer from what it has to what it is to have, at the speed at which it reads, and says End-of-RIB after the
 * first full set of each family (RFC 4724 section 2).
 */
export class RouteSender {
  readonly #rib: AdjRibOut;
  readonly #sink: UpdateSink;
  /** UPDATEs that the Adj-RIB-Out counts as sent and that wait for room in the socket. */
  #waiting: readonly UpdateMessage[] = [];
  #next = 0;
  #context: CodecContext | undefined;
  #isChanged = false;
  readonly #filled = new Set<Family>();
  readonly #endOfRibDue = new Set<Family>();
  #waitsForFirstSet: boolean;

  /** @param waitsForFirstSet We have restarted: End-of-RIB only after the first `set` of the family (RFC 4724 section 4.1) */
  constructor(table: AttributeTable, sink: UpdateSink, waitsForFirstSet: boolean) {
    this.#rib = new AdjRibOut(table);
    this.#sink = sink;
    this.#waitsForFirstSet = waitsForFirstSet;
  }

  get adjRibOut(): AdjRibOut {
    return this.#rib;
  }

  set(family: Family, routes: readonly Route[]): void {
    this.#filled.add(family);
    // Also when the set is the same: the order of routes counts where ADD-PATH does not carry them all.
    this.#rib.set(family, routes);
    this.#isChanged = true;
    this.pump();
  }

  /** Changes some of the routes of a family. */
  change(family: Family, announced: readonly Route[], withdrawn: readonly RouteId[]): void {
    this.#rib.change(family, announced, withdrawn);
    this.#isChanged = true;
    this.pump();
  }

  established(context: CodecContext): void {
    this.#rib.reset();
    this.#context = context;
    this.#waiting = [];
    this.#isChanged = true;
    for (const family of context.families) this.#endOfRibDue.add(family);
    this.pump();
  }

  down(): void {
    this.#context = undefined;
    this.#waiting = [];
    this.#endOfRibDue.clear();
  }

  /** Gives back the attributes that the Adj-RIB-Out holds. */
  dispose(): void {
    this.down();
    for (const family of families) this.#rib.set(family, []);
    this.#rib.reset();
  }

  /** The peer wants everything again (RFC 2918 section 4). */
  refresh(family: Family): void {
    if (this.#context?.families.includes(family) !== true) return;
    this.#rib.refresh(family);
    this.#isChanged = true;
    this.pump();
  }

  /** The wait for the first set is over, whether it came or not. */
  stopWaiting(): void {
    this.#waitsForFirstSet = false;
    this.pump();
  }

  /** Sends what the socket takes; the rest follows when it has room again. */
  pump(): void {
    const context = this.#context;
    if (context === undefined) return;
    this.#sink.batch(() => {
      while (this.#refill(context)) {
        for (; this.#next < this.#waiting.length; this.#next += 1) {
          if (this.#sink.isBlocked) return;
          const update = this.#waiting[this.#next];
          if (update !== undefined) this.#sink.send(update);
        }
      }
      this.#sayEndOfRib();
    });
  }

  /** Asks the Adj-RIB-Out when nothing waits; true when there is something to send. */
  #refill(context: CodecContext): boolean {
    if (this.#next < this.#waiting.length) return true;
    this.#waiting = [];
    this.#next = 0;
    if (!this.#isChanged) return false;
    this.#isChanged = false;
    this.#waiting = this.#rib.flush(context);
    return this.#waiting.length > 0;
  }

  #sayEndOfRib(): void {
    for (const family of this.#endOfRibDue) {
      if (this.#waitsForFirstSet && !this.#filled.has(family)) continue;
      this.#endOfRibDue.delete(family);
      this.#sink.send(endOfRib(family));
    }
  }
}
