import type { CodecContext, GroupMember, PathSource, Prefix } from '@bgp-lb/protocol';
import { AdjRibIn, type AttributeTable, decodeMessage, Framer } from '@bgp-lb/protocol';
import { expect } from 'vitest';
import { modelKey } from './rib-arbitraries.ts';

/** A neighbor that reads what it is sent, when it is made to. */
export class LaggingNeighbor {
  readonly #context: CodecContext;
  readonly #member: GroupMember;
  readonly #rib: AdjRibIn;
  #isRefreshing = false;
  #again = new Set<string>();
  /** It had everything when the last flush came, and that was not cut into several batches. */
  #isExact = false;

  constructor(member: GroupMember, context: CodecContext, table: AttributeTable, source: PathSource) {
    this.#member = member;
    this.#context = context;
    this.#rib = new AdjRibIn({ table, source });
  }

  /** New changes are passed on. */
  beforeFlush(isCut: boolean): void {
    this.#isExact = !isCut && !this.#isRefreshing && !this.#member.hasNews;
  }

  /** What the sender does with a socket that takes `count` times. */
  read(count: number): void {
    for (let n = 0; n < count; n += 1) {
      const again = this.#isRefreshing ? this.#member.nextAgain() : undefined;
      const updates = again ?? this.#member.next();
      if (updates !== undefined) {
        for (const { bytes, count: messages } of updates) this.#take(bytes, messages);
        continue;
      }
      if (!this.#isRefreshing) return;
      this.#isRefreshing = false;
      // RFC 7313 section 4.2: at the EoRR, what was not sent since the BoRR is removed.
      expect([...this.holds().keys()].filter((key) => !this.#again.has(key))).toEqual([]);
    }
  }

  refresh(): void {
    this.read(99);
    if (this.#isRefreshing) return;
    this.#isExact = false;
    this.#member.refresh();
    this.#again = new Set();
    this.#isRefreshing = true;
  }

  holds(): ReadonlyMap<string, unknown> {
    return new Map(
      [...this.#rib.paths()].map(({ prefix, pathId, attributes }) => [modelKey(prefix, pathId), attributes]),
    );
  }

  /** What the member says that it has sent, and what it cannot send. */
  says(): { advertised: readonly string[]; unsent: ReadonlySet<string> } {
    const key = ({ prefix, pathId = 0 }: { prefix: Prefix; pathId?: number }): string =>
      modelKey(prefix, pathId);
    return {
      advertised: [...this.#member.advertised()].map(key).sort(),
      unsent: new Set(this.#member.unsent.map(({ route }) => key(route))),
    };
  }

  end(): void {
    this.#rib.clear();
  }

  #take(bytes: Uint8Array, messages: number): void {
    const framer = new Framer(this.#context.maxReceiveLength);
    framer.push(bytes);
    let frames = 0;
    for (let frame = framer.next(); frame !== undefined; frame = framer.next()) {
      frames += 1;
      expect(frame.bytes.length).toBeLessThanOrEqual(this.#context.maxSendLength);
      const update = decodeMessage(frame, this.#context);
      if (update.type !== 'UPDATE') throw new Error(`${update.type} instead of an UPDATE`);
      expect(update.faults).toEqual([]);
      const change = this.#rib.apply(update, 0);
      for (const { prefix, pathId } of update.nlri) this.#again.add(modelKey(prefix, pathId ?? 0));
      if (!this.#isExact) continue;
      // Who was not behind is told nothing that it knows.
      expect(change.announced).toHaveLength(update.nlri.length);
      expect(change.withdrawn).toHaveLength(update.withdrawn.length);
    }
    expect(frames).toBe(messages);
  }
}
