import {
  AdjRibOut,
  type AttributeTable,
  type CodecContext,
  endOfRib,
  type Family,
  families,
  type Route,
  type RouteId,
  type RouteRefreshMessage,
  RouteRefreshSubtype,
  type UpdateMessage,
} from '../index.ts';

/** Where UPDATEs go. */
export interface UpdateSink {
  readonly isBlocked: boolean;
  batch(write: () => void): void;
  send(message: UpdateMessage | RouteRefreshMessage): void;
}

/**
 * Brings the peer from what it has to what it is to have, at the speed at which it reads, and says End-of-RIB after the
 * first full set of each family (RFC 4724 section 2).
 */
export class RouteSender {
  readonly #rib: AdjRibOut;
  readonly #sink: UpdateSink;
  /** UPDATEs that the Adj-RIB-Out counts as sent and that wait for room in the socket. */
  #waiting: readonly (UpdateMessage | RouteRefreshMessage)[] = [];
  #next = 0;
  #context: CodecContext | undefined;
  /** Families that the peer wants again. */
  readonly #refreshDue = new Set<Family>();
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
    this.#refreshDue.clear();
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

  /** The peer wants everything of a family again (RFC 2918 section 4). What it asks for while it is being sent is sent once more. */
  refresh(family: Family): void {
    if (this.#context?.families.includes(family) !== true) return;
    this.#refreshDue.add(family);
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
      while (this.#writeWaiting() && this.#refill(context));
    });
  }

  /** @returns false when the socket takes no more */
  #writeWaiting(): boolean {
    for (; this.#next < this.#waiting.length; this.#next += 1) {
      if (this.#sink.isBlocked) return false;
      const message = this.#waiting[this.#next];
      if (message !== undefined) this.#sink.send(message);
    }
    this.#waiting = [];
    this.#next = 0;
    return true;
  }

  /** Asks what is next when nothing waits; false when there is nothing. */
  #refill(context: CodecContext): boolean {
    if (this.#isChanged) {
      this.#isChanged = false;
      this.#waiting = this.#rib.flush(context);
      return true;
    }
    this.#sayEndOfRib();
    for (const family of this.#refreshDue) {
      // RFC 7313 section 4.1: what comes before the first End-of-RIB is no refresh.
      if (this.#endOfRibDue.has(family)) continue;
      this.#refreshDue.delete(family);
      this.#waiting = this.#refreshOf(family, context);
      return true;
    }
    return false;
  }

  /** All routes of the family, between BoRR and EoRR where the peer understands them (RFC 7313 section 4.1). */
  #refreshOf(family: Family, context: CodecContext): readonly (UpdateMessage | RouteRefreshMessage)[] {
    this.#rib.refresh(family);
    const updates = this.#rib.flush(context);
    if (context.enhancedRouteRefresh !== true) return updates;
    const { Beginning, End } = RouteRefreshSubtype;
    const mark = (subtype: number): RouteRefreshMessage => ({
      type: 'ROUTE-REFRESH',
      afi: family.afi,
      safi: family.safi,
      subtype,
    });
    return [mark(Beginning), ...updates, mark(End)];
  }

  #sayEndOfRib(): void {
    for (const family of this.#endOfRibDue) {
      if (this.#waitsForFirstSet && !this.#filled.has(family)) continue;
      this.#endOfRibDue.delete(family);
      this.#sink.send(endOfRib(family));
    }
  }
}
