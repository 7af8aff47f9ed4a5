import { describe, expect, it } from 'vitest';
import { type ClaimContext, type ClaimEvent, type ClaimState, initialClaim, stepClaim } from './claim.ts';

const own = '02:00:00:00:00:05';
const lower = '02:00:00:00:00:01';
const higher = '02:00:00:00:00:09';
const replyTo = { link: new Uint8Array(6), address: new Uint8Array(4), isPeer: false };
const question: ClaimEvent = { type: 'question', from: higher, replyTo };
const probeOf = (from: string | undefined): ClaimEvent => ({ type: 'probe', from, replyTo });
/** Of another load balancer, unless it is said not to be. */
const claimOf = (from: string, isPeer = true): ClaimEvent => ({
  type: 'claim',
  from,
  isPeer,
});

/** A claim over time. */
class Claim {
  state: ClaimState = initialClaim(0);
  now = 0;
  isServing: boolean;
  sent: string[] = [];

  constructor(isServing = true) {
    this.isServing = isServing;
  }

  hear(event: ClaimEvent): string[] {
    const context: ClaimContext = { own, isServing: this.isServing, now: this.now };
    const { state, actions } = stepClaim(this.state, event, context);
    this.state = state;
    const sent = actions.map(({ send }) => send);
    this.sent.push(...sent);
    return sent;
  }

  /** Lets time pass, tick by tick. */
  wait(milliseconds: number): string[] {
    const before = this.sent.length;
    const end = this.now + milliseconds;
    while (this.state.dueAt <= end) {
      this.now = Math.max(this.now, this.state.dueAt);
      this.hear({ type: 'tick' });
    }
    this.now = end;
    return this.sent.slice(before);
  }

  serve(isServing: boolean): void {
    this.isServing = isServing;
    this.hear({ type: 'serving', isServing });
  }
}

describe('the claim of a VIP on a link', () => {
  it('asks three times whether somebody has it, takes it, and says so three times', () => {
    const claim = new Claim();
    expect(claim.hear(question)).toEqual([]);
    expect(claim.wait(749)).toEqual(['probe', 'probe', 'probe']);
    expect(claim.state.phase).toBe('probing');
    expect(claim.wait(10_000)).toEqual(['announcement', 'announcement', 'announcement']);
    expect(claim.state.phase).toBe('answering');
    expect(claim.hear(question)).toEqual(['answer']);
  });

  it('stands by while somebody else answers, and asks on', () => {
    const claim = new Claim();
    claim.wait(300);
    claim.hear(claimOf(higher));
    expect(claim.state).toMatchObject({ phase: 'standby', owner: higher });
    for (let probes = 0; probes < 20; probes += 1) {
      expect(claim.wait(500)).toEqual(['probe']);
      claim.hear(claimOf(higher));
      expect(claim.hear(question)).toEqual([]);
    }
    expect(claim.state.phase).toBe('standby');
  });

  it('takes it when who had it is silent for three probes', () => {
    const claim = new Claim();
    claim.hear(claimOf(lower));
    expect(claim.wait(1_999)).toEqual(['probe', 'probe', 'probe']);
    expect(claim.wait(1)).toEqual(['announcement']);
    expect(claim.state).toMatchObject({ phase: 'answering', owner: undefined });
  });

  it('answers without members too, so that clients need not wait, but last, and says nothing of it', () => {
    const claim = new Claim(false);
    expect(claim.wait(2_000)).not.toContain('announcement');
    expect(claim.state.phase).toBe('probing');
    claim.wait(1_000);
    expect(claim.state.phase).toBe('answering');
    expect(claim.sent).not.toContain('announcement');
    expect(claim.hear(question)).toEqual(['answer']);
  });

  it('does not hold it without members against one who asks for it, and gives way to one who takes it', () => {
    const claim = new Claim(false);
    claim.wait(5_000);
    expect(claim.hear(probeOf(higher))).toEqual([]);
    claim.hear(claimOf(higher));
    expect(claim.state).toMatchObject({ phase: 'standby', owner: higher });
  });

  it('says that it has it when the first member comes, and holds it then', () => {
    const claim = new Claim(false);
    claim.wait(5_000);
    claim.serve(true);
    expect(claim.wait(5_000)).toEqual(['announcement', 'announcement', 'announcement']);
    expect(claim.hear(probeOf(higher))).toEqual(['answer']);
    claim.serve(false);
    expect(claim.hear(probeOf(higher))).toEqual([]);
  });

  it('of two that ask at the same time leaves it to the lower link-layer address', () => {
    const claim = new Claim();
    claim.wait(100);
    claim.hear(probeOf(higher));
    claim.hear(probeOf(undefined));
    expect(claim.state.phase).toBe('probing');
    claim.hear(probeOf(lower));
    expect(claim.state).toMatchObject({ phase: 'standby', owner: lower });
  });

  it('of two that both have it gives way to the lower one, and tells the higher one, not more than once a second', () => {
    const claim = new Claim();
    claim.wait(10_000);
    expect(claim.hear(claimOf(higher))).toEqual(['announcement']);
    expect(claim.state).toMatchObject({ phase: 'answering', owner: higher });
    expect(claim.hear(claimOf(higher))).toEqual([]);
    expect(claim.wait(1_000)).toEqual(['announcement']);
    expect(claim.hear(claimOf(higher))).toEqual([]);
    expect(claim.hear(claimOf(lower))).toEqual([]);
    expect(claim.state).toMatchObject({ phase: 'standby', owner: lower });
  });

  it.each([
    ['the other one asks for it, and so has given it up', (claim: Claim) => claim.hear(probeOf(higher))],
    ['the other one says so no more', (claim: Claim) => claim.wait(15_000)],
    ['it serves nobody itself', (claim: Claim) => claim.serve(false)],
  ])('knows of no other owner any more when %s', (_, settle) => {
    const claim = new Claim();
    claim.wait(10_000);
    claim.hear(claimOf(higher));
    claim.hear(probeOf(lower));
    claim.wait(20_000);
    expect(claim.state).toMatchObject({ phase: 'answering', owner: higher });
    settle(claim);
    expect(claim.state).toMatchObject({ phase: 'answering', owner: undefined });
  });

  it('does not give way to an address that goes with the VIP, by which two would give way to each other', () => {
    const shared = { type: 'claim', from: lower, isPeer: true, isShared: true } as const;
    const claim = new Claim();
    claim.hear(shared);
    expect(claim.state).toMatchObject({ phase: 'standby', isOwnerPeer: true });
    claim.wait(10_000);
    expect(claim.hear(shared)).toEqual(['announcement']);
    expect(claim.state).toMatchObject({ phase: 'answering', owner: lower, isOwnerPeer: true });
  });

  it('says again every ten seconds that it has it, and asks who else has', () => {
    const claim = new Claim();
    claim.wait(10_000);
    const each = ['question', 'announcement'];
    expect(claim.wait(20_000)).toEqual([...each, ...each]);
    claim.serve(false);
    expect(claim.wait(60_000)).toEqual([]);
  });

  it('goes on answering where the kernel has since before the process began', () => {
    const claim = new Claim(false);
    claim.state = initialClaim(0, true);
    expect(claim.hear(question)).toEqual(['answer']);
    expect(claim.wait(1_000)).toEqual([]);
    claim.serve(true);
    expect(claim.wait(1_000)).toEqual(['announcement', 'announcement', 'announcement']);
    expect(claim.hear(probeOf(lower))).toEqual(['answer']);
  });

  it('is not disturbed by what it sent itself', () => {
    const claim = new Claim();
    claim.wait(10_000);
    claim.hear(claimOf(own));
    claim.hear(probeOf(own));
    expect(claim.state).toMatchObject({ phase: 'answering', owner: undefined });
  });
});

describe('the claim of a VIP that a host has which is no load balancer', () => {
  const foreign = (from: string): ClaimEvent => claimOf(from, false);

  it.each([lower, higher])('stands by while %s had it first, until that is silent', (owner) => {
    const claim = new Claim();
    claim.hear(foreign(owner));
    expect(claim.state).toMatchObject({ phase: 'standby', owner, isOwnerPeer: false });
    claim.wait(2_000);
    expect(claim.state).toMatchObject({ phase: 'answering', owner: undefined });
  });

  it.each([lower, higher])('does not give it up while it serves, and names %s', (owner) => {
    const claim = new Claim();
    claim.wait(10_000);
    expect(claim.hear(foreign(owner))).toEqual(['announcement']);
    expect(claim.state).toMatchObject({ phase: 'answering', owner, isOwnerPeer: false });
    // It fills no link: one packet in a second, whatever the other does.
    for (let claims = 0; claims < 100; claims += 1) expect(claim.hear(foreign(owner))).toEqual([]);
    // The last word is its own, and nothing more is said of it until the next reminder.
    expect(claim.wait(1_000)).toEqual(['announcement']);
    expect(claim.wait(9_999)).toEqual([]);
    expect(claim.wait(1)).toEqual(['question', 'announcement']);
    claim.wait(36_000);
    expect(claim.state).toMatchObject({ phase: 'answering', owner: undefined });
  });

  it('gives it up where it serves nobody', () => {
    const claim = new Claim(false);
    claim.wait(10_000);
    claim.hear(foreign(higher));
    expect(claim.state).toMatchObject({ phase: 'standby', owner: higher });
  });

  const reply = (from: string): ClaimEvent => ({ type: 'claim', from, isPeer: undefined });

  it('knows a load balancer again by replies, which do not say what it is, and no other host', () => {
    const claim = new Claim();
    claim.hear(claimOf(lower, true));
    claim.hear(reply(lower));
    expect(claim.state).toMatchObject({ owner: lower, isOwnerPeer: true });
    claim.hear(reply(higher));
    expect(claim.state).toMatchObject({ owner: higher, isOwnerPeer: false });
  });

  it('takes one that probes for a load balancer until it claims the address and is none', () => {
    const claim = new Claim();
    claim.hear(probeOf(lower));
    expect(claim.state).toMatchObject({ phase: 'standby', isOwnerPeer: true });
    claim.hear(foreign(lower));
    expect(claim.state).toMatchObject({ phase: 'standby', isOwnerPeer: false });
  });
});

describe('two load balancers on one link', () => {
  it('end with one that answers, whoever begins, and the other takes over when that one has no member any more', () => {
    for (const offset of [0, 1, 100, 249, 250, 600, 2_000]) {
      const two = [new Member(lower), new Member(higher)] as const;
      run(two, offset, 10_000);
      expect(two.filter(({ phase }) => phase === 'answering')).toHaveLength(1);
      const [first] = two.filter(({ phase }) => phase === 'answering');
      first?.serve(false);
      run(two, 0, 10_000);
      const answering = two.filter(({ phase }) => phase === 'answering');
      expect(answering).toHaveLength(1);
      expect(answering[0]).not.toBe(first);
    }
  });

  it('end with one that answers also when both began to while they could not hear each other', () => {
    const two = [new Member(lower), new Member(higher)] as const;
    for (const one of two) for (let at = 0; at < 10_000; at += 250) one.step({ type: 'tick' }, time + at);
    expect(two.map(({ phase }) => phase)).toEqual(['answering', 'answering']);
    time += 10_000;
    run(two, 0, 35_000);
    expect(two.map(({ phase }) => phase)).toEqual(['answering', 'standby']);
  });

  class Member {
    readonly own: string;
    #state = initialClaim(0);
    #isServing = true;

    constructor(mac: string) {
      this.own = mac;
    }

    get phase() {
      return this.#state.phase;
    }

    serve(isServing: boolean): void {
      this.#isServing = isServing;
      this.step({ type: 'serving', isServing }, 0);
    }

    /** What others hear of it. */
    step(event: ClaimEvent, now: number): ClaimEvent[] {
      const { state, actions } = stepClaim(this.#state, event, {
        own: this.own,
        isServing: this.#isServing,
        now,
      });
      this.#state = state;
      return actions.map(({ send }) => {
        if (send === 'question') return { type: 'question', from: this.own, replyTo };
        return send === 'probe' ? probeOf(this.own) : claimOf(this.own);
      });
    }
  }

  let time = 0;
  function run([a, b]: readonly [Member, Member], offset: number, milliseconds: number): void {
    const end = time + offset + milliseconds;
    const begin = time;
    for (; time < end; time += 1) {
      deliver(a.step({ type: 'tick' }, time), b, a);
      if (time - begin >= offset) deliver(b.step({ type: 'tick' }, time), a, b);
    }
  }

  function deliver(events: readonly ClaimEvent[], to: Member, from: Member): void {
    for (const event of events) deliver(to.step(event, time), from, to);
  }
});
