import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MembershipEvent, MembershipSource } from '../membership-source.ts';

/** A member's agent, as the conformance test drives it. */
interface TestMember {
  readonly nextHop: string;
  /** Asks to serve the VIP. */
  announce(vip: string, intent?: 'active' | 'last-resort' | 'draining'): void;
  withdraw(vip: string): void;
  /** The process ends and its host lives on. */
  die(): Promise<void>;
  /** Leaves in order: it serves no more. */
  leave(): Promise<void>;
}

/** What an implementation brings to its conformance test. */
export interface MembershipHarness {
  readonly source: MembershipSource;
  /** A VIP that is configured, and one that is not. */
  readonly vip: string;
  readonly otherVip: string;
  /** A member that has connected, with a next hop of its own. It announces the VIPs from the first moment. */
  join(number: 1 | 2, vips?: readonly string[]): Promise<TestMember>;
  /** Ends everything that the harness has made. */
  close(): Promise<void>;
}

/** What was reported, and a way to wait for more. */
class Recorder {
  readonly events: MembershipEvent[] = [];
  #waiting = new Set<() => void>();

  readonly sink = (events: readonly MembershipEvent[]): void => {
    this.events.push(...events);
    for (const look of this.#waiting) {
      look();
    }
  };

  /** Resolves with the first event, past or future, of that type about that member. */
  next<T extends MembershipEvent['type']>(
    type: T,
    nextHop: string,
    after = 0,
  ): Promise<Extract<MembershipEvent, { type: T }>> {
    const isIt = (event: MembershipEvent): event is Extract<MembershipEvent, { type: T }> =>
      event.type === type && 'nextHop' in event && event.nextHop === nextHop;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.events.slice(after).find(isIt);
        if (found !== undefined) {
          clearTimeout(timer);
          this.#waiting.delete(look);
          resolve(found);
        }
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`no ${type} of ${nextHop}; seen: ${JSON.stringify(this.events)}`));
      }, 5000);
      this.#waiting.add(look);
      look();
    });
  }

  /** Types of the events about a member's paths, in order. */
  paths(nextHop: string): string[] {
    return this.events
      .filter((event) => 'nextHop' in event && event.nextHop === nextHop)
      .filter(({ type }) => type !== 'session' && type !== 'complete')
      .map(({ type }) => type);
  }
}

/** The promises of `MembershipSource`, checked against an implementation. */
export function membershipConformance(name: string, make: () => Promise<MembershipHarness>): void {
  describe(`${name} as a membership source`, () => {
    let harness: MembershipHarness;
    let seen: Recorder;

    beforeEach(async () => {
      harness = await make();
      seen = new Recorder();
      await harness.source.start(seen.sink);
    });

    afterEach(async () => {
      await harness?.source.stop();
      await harness?.close();
    });

    it('reports the session of a member, and when it has told all', async () => {
      const member = await harness.join(1);
      await expect(seen.next('session', member.nextHop)).resolves.toMatchObject({ session: 'Established' });
      await seen.next('complete', member.nextHop);
      expect(seen.paths(member.nextHop)).toEqual([]);
    });

    it('reports a member with itself as next hop, once', async () => {
      const member = await harness.join(1);
      member.announce(harness.vip);
      const event = await seen.next('announced', member.nextHop);
      expect(event).toMatchObject({ vip: harness.vip, intent: 'active' });
      member.announce(harness.vip);
      member.withdraw(harness.vip);
      await seen.next('withdrawn', member.nextHop);
      expect(seen.paths(member.nextHop)).toEqual(['announced', 'withdrawn']);
    });

    it.each(['last-resort', 'draining'] as const)('reports that a member is %s, and why', async (intent) => {
      const member = await harness.join(1);
      member.announce(harness.vip);
      await seen.next('announced', member.nextHop);
      const after = seen.events.length;
      member.announce(harness.vip, intent);
      const event = await seen.next('announced', member.nextHop, after);
      expect(event.intent).toBe(intent);
      expect(event.why).not.toBe('');
    });

    it('reports nothing about a VIP that is not configured', async () => {
      const member = await harness.join(1);
      member.announce(harness.otherVip);
      member.announce(harness.vip);
      await seen.next('announced', member.nextHop);
      expect(seen.events.filter((event) => 'vip' in event && event.vip !== harness.vip)).toEqual([]);
    });

    it('reports a path as stale, not as withdrawn, when the process of a member ends', async () => {
      const member = await harness.join(1);
      member.announce(harness.vip);
      await seen.next('announced', member.nextHop);
      await member.die();
      const event = await seen.next('stale', member.nextHop);
      expect(event.reason).not.toBe('');
      expect(seen.paths(member.nextHop)).toEqual(['announced', 'stale']);
    });

    it('reports a member that comes back as announced', async () => {
      const member = await harness.join(1);
      member.announce(harness.vip);
      await seen.next('announced', member.nextHop);
      await member.die();
      await seen.next('stale', member.nextHop);
      const after = seen.events.length;
      await harness.join(1, [harness.vip]);
      await seen.next('announced', member.nextHop, after);
      await seen.next('complete', member.nextHop, after);
      expect(seen.paths(member.nextHop)).toEqual(['announced', 'stale', 'announced']);
    });

    it('withdraws the stale path of a member that comes back and does not ask any more', async () => {
      const member = await harness.join(1);
      member.announce(harness.vip);
      await seen.next('announced', member.nextHop);
      await member.die();
      await seen.next('stale', member.nextHop);
      await harness.join(1);
      await seen.next('withdrawn', member.nextHop);
      expect(seen.paths(member.nextHop)).toEqual(['announced', 'stale', 'withdrawn']);
    });

    it('withdraws the path of a member that leaves in order, with the reason', async () => {
      const member = await harness.join(1);
      member.announce(harness.vip);
      await seen.next('announced', member.nextHop);
      await member.leave();
      const event = await seen.next('withdrawn', member.nextHop);
      expect(event.reason).not.toBe('');
      expect(seen.paths(member.nextHop)).toEqual(['announced', 'withdrawn']);
    });

    it('keeps members apart', async () => {
      const [first, second] = [await harness.join(1), await harness.join(2)];
      first.announce(harness.vip);
      second.announce(harness.vip);
      await seen.next('announced', first.nextHop);
      await seen.next('announced', second.nextHop);
      await first.leave();
      await seen.next('withdrawn', first.nextHop);
      expect(seen.paths(second.nextHop)).toEqual(['announced']);
    });

    it('reports nothing after it was stopped, so that nobody is taken out of service', async () => {
      const member = await harness.join(1);
      member.announce(harness.vip);
      await seen.next('announced', member.nextHop);
      const before = seen.events.length;
      await harness.source.stop();
      await member.leave();
      expect(seen.events.slice(before)).toEqual([]);
    });
  });
}
