import {
  AdjRibOut,
  type AttributeTable,
  type CodecContext,
  type EncodedUpdates,
  endOfRib,
  type Family,
  families,
  type GroupMember,
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
  sendUpdates(updates: EncodedUpdates): void;
}

type Outgoing = UpdateMessage | RouteRefreshMessage | EncodedUpdates;

/**
 * Brings the peer from what it has to what it is to have, at the speed at which it reads, and says End-of-RIB after the
 * first full set of each family (RFC 4724 section 2).
 */
export class RouteSender {
  readonly #rib: AdjRibOut;
  readonly #sink: UpdateSink;
  /** In these families the peer has what its group has; in the others, what the Adj-RIB-Out says. */
  readonly #members = new Map<Family, GroupMember>();
  /** UPDATEs that the Adj-RIB-Out or a group counts as sent and that wait for room in the socket. */
  #waiting: readonly Outgoing[] = [];
  #next = 0;
  #context: CodecContext | undefined;
  /** Families that the peer wants again. */
  readonly #refreshDue = new Set<Family>();
  /** What a group gives again. */
  #refreshing: GroupMember | undefined;
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

  /** What the peer has, as far as it was sent; of a group without what has changed since. Nothing without a session. */
  *advertised(): IterableIterator<Route> {
    if (this.#context === undefined) return;
    yield* this.#rib.advertised();
    for (const member of this.#members.values()) yield* member.advertised();
  }

  /** How many wanted routes the peer cannot be sent. */
  get unsentCount(): number {
    if (this.#context === undefined) return 0;
    const members = [...this.#members.values()];
    return members.reduce((sum, { unsent }) => sum + unsent.length, this.#rib.unsent.length);
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

  /** In this session the peer has what a group has, in its family. */
  follow(member: GroupMember): void {
    this.#filled.add(member.family);
    this.#members.set(member.family, member);
    this.pump();
  }

  established(context: CodecContext): void {
    this.#rib.reset();
    this.#context = context;
    this.#waiting = [];
    this.#refreshDue.clear();
    this.#refreshing = undefined;
    this.#isChanged = true;
    for (const family of context.families) this.#endOfRibDue.add(family);
    this.pump();
  }

  down(): void {
    this.#context = undefined;
    this.#waiting = [];
    this.#endOfRibDue.clear();
    this.#members.clear();
    this.#refreshing = undefined;
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
      if (message === undefined) continue;
      if ('bytes' in message) this.#sink.sendUpdates(message);
      else this.#sink.send(message);
    }
    this.#waiting = [];
    this.#next = 0;
    return true;
  }

  /** Asks what is next when nothing waits; false when there is nothing. */
  #refill(context: CodecContext): boolean {
    if (this.#isChanged) {
      this.#isChanged = false;
      this.#waiting = this.#rib.flush(this.#own(context));
      return true;
    }
    this.#sayEndOfRib();
    if (this.#refreshing !== undefined) {
      this.#waiting = this.#nextAgain(this.#refreshing, context);
      return true;
    }
    for (const member of this.#members.values()) {
      const updates = member.next();
      if (updates === undefined) continue;
      this.#waiting = updates;
      return true;
    }
    this.#sayEndOfRib();
    return this.#beginRefresh(context);
  }

  /** All routes of a family, between BoRR and EoRR where the peer understands them (RFC 7313 section 4). */
  #beginRefresh(context: CodecContext): boolean {
    for (const family of this.#refreshDue) {
      // RFC 7313 section 4: what comes before the first End-of-RIB is no refresh.
      if (this.#endOfRibDue.has(family)) continue;
      this.#refreshDue.delete(family);
      const beginning = refreshMark(family, RouteRefreshSubtype.Beginning, context);
      const member = this.#members.get(family);
      if (member === undefined) {
        this.#rib.refresh(family);
        const updates = this.#rib.flush(this.#own(context));
        this.#waiting = [...beginning, ...updates, ...refreshMark(family, RouteRefreshSubtype.End, context)];
      } else {
        member.refresh();
        this.#refreshing = member;
        this.#waiting = beginning;
      }
      return true;
    }
    return false;
  }

  /** The families in which the Adj-RIB-Out says what the peer is to have. */
  #own(context: CodecContext): CodecContext {
    if (this.#members.size === 0) return context;
    return { ...context, families: context.families.filter((family) => !this.#members.has(family)) };
  }

  /** What has changed since the BoRR comes before the EoRR too: the peer would remove it otherwise. */
  #nextAgain(member: GroupMember, context: CodecContext): readonly Outgoing[] {
    const updates = member.nextAgain() ?? member.next();
    if (updates !== undefined) return updates;
    this.#refreshing = undefined;
    return refreshMark(member.family, RouteRefreshSubtype.End, context);
  }

  #sayEndOfRib(): void {
    for (const family of this.#endOfRibDue) {
      if (this.#waitsForFirstSet && !this.#filled.has(family)) continue;
      if (this.#members.get(family)?.hasFirstSet === false) continue;
      this.#endOfRibDue.delete(family);
      this.#sink.send(endOfRib(family));
    }
  }
}

/** BoRR or EoRR, for a peer that knows them. */
function refreshMark(
  { afi, safi }: Family,
  subtype: number,
  { enhancedRouteRefresh }: CodecContext,
): readonly RouteRefreshMessage[] {
  return enhancedRouteRefresh === true ? [{ type: 'ROUTE-REFRESH', afi, safi, subtype }] : [];
}
