import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ListedMember } from '../../pool/member-claims.ts';
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

/** What an implementation whose members have sessions brings to its conformance test. */
export interface SessionHarness {
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

  /** What was listed for a VIP, in order. */
  lists(vip: string): (readonly ListedMember[])[] {
    return this.events.flatMap((event) =>
      event.type === 'listed' && event.vip === vip ? [event.members] : [],
    );
  }

  /** Types of the events about a member's paths, in order. */
  paths(nextHop: string): string[] {
    return this.events
      .filter((event) => 'nextHop' in event && event.nextHop === nextHop)
      .filter(({ type }) => type !== 'session' && type !== 'complete')
      .map(({ type }) => type);
  }
}

/** The promises of a `MembershipSource` whose members have sessions, checked against an implementation. */
export function sessionConformance(name: string, make: () => Promise<SessionHarness>): void {
  describe(`${name} as a membership source with sessions`, () => {
    let harness: SessionHarness;
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
      await expect(seen.next('session', member.nextHop)).resolves.toMatchObject({
        session: { isLive: true },
      });
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

    it('reports a member whose host is dead as lost, in the same tick, and its path not as withdrawn', async () => {
      const [first, second] = [await harness.join(1), await harness.join(2)];
      first.announce(harness.vip);
      second.announce(harness.vip);
      await seen.next('announced', first.nextHop);
      await seen.next('announced', second.nextHop);
      const addresses = [first.nextHop, second.nextHop, '10.9.9.9'];
      harness.source.liveness?.hostsDead({ addresses, doubtful: new Set([second.nextHop]), window: 900 });
      const lost = seen.events.filter(({ type }) => type === 'lost');
      expect(lost).toEqual([
        {
          type: 'lost',
          members: [
            { nextHop: first.nextHop, reason: expect.stringMatching(/./), isDoubtful: false },
            { nextHop: second.nextHop, reason: expect.stringMatching(/./), isDoubtful: true },
          ],
          window: 900,
        },
      ]);
      await seen.next('session', first.nextHop, seen.events.indexOf(lost[0] as MembershipEvent));
      expect(seen.paths(first.nextHop)).not.toContain('withdrawn');
    });

    it('reports that a member must have BFD, until it has, and tells that to a VIP that comes later', async () => {
      const member = await harness.join(1);
      await seen.next('session', member.nextHop);
      const barrier = { type: 'barrier', nextHop: member.nextHop, barrier: 'bfd' };
      const standing = () => harness.source.standing().filter(({ type }) => type === 'barrier');
      harness.source.liveness?.bfdRequired(member.nextHop, false);
      expect(seen.events.at(-1)).toEqual({ ...barrier, reason: expect.stringMatching(/BFD/) });
      expect(standing()).toEqual([{ ...barrier, reason: expect.stringMatching(/BFD/) }]);
      harness.source.liveness?.bfdRequired(member.nextHop, true);
      expect(seen.events.at(-1)).toEqual({ ...barrier, reason: undefined });
      expect(standing()).toEqual([]);
    });

    it('tells a VIP that comes later which members have a session', async () => {
      const member = await harness.join(1);
      await seen.next('session', member.nextHop);
      expect(harness.source.standing()).toContainEqual(
        expect.objectContaining({ type: 'session', nextHop: member.nextHop }),
      );
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

/** What an implementation that has lists brings to its conformance test. */
export interface ListHarness {
  readonly source: MembershipSource;
  /** A VIP that is configured. */
  readonly vip: string;
  /** What a list of this source can say of such a member; everything, where this is missing. */
  sayable?(member: ListedMember): ListedMember;
  /** The list says this from now on, and the source has had the occasion to see it. */
  write(members: readonly ListedMember[]): Promise<void>;
  close(): Promise<void>;
}

/** The promises of a `MembershipSource` that lists members without sessions, checked against an implementation. */
export function listConformance(name: string, make: () => Promise<ListHarness>): void {
  const [first, second] = [
    { name: 'm1', address: '10.0.0.11', draining: false },
    { name: 'm2', address: '10.0.0.12', draining: false },
  ] as const;

  describe(`${name} as a membership source with a list`, () => {
    let harness: ListHarness;
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

    it('reports the whole list each time that it changes, and nothing when it does not', async () => {
      const other = { ...second, draining: true, port: 7443, zone: 'a' };
      const said = harness.sayable?.(other) ?? other;
      await harness.write([first]);
      await harness.write([first]);
      await harness.write([first, said]);
      await harness.write([]);
      expect(seen.lists(harness.vip)).toEqual([[first], [first, said], []]);
    });

    it('reports nothing else: its members have no sessions, and BFD tells it nothing', async () => {
      await harness.write([first, second]);
      expect(new Set(seen.events.map(({ type }) => type))).toEqual(new Set(['listed']));
      expect(harness.source.standing()).toEqual([]);
      expect(harness.source.liveness).toBeUndefined();
    });

    it('reports nothing after it was stopped, so that nobody is taken out of service', async () => {
      await harness.write([first, second]);
      const before = seen.events.length;
      await harness.source.stop();
      await harness.write([]);
      expect(seen.events.slice(before)).toEqual([]);
    });
  });
}
