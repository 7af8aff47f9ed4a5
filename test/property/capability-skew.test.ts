/** A speaker and a router of different versions: what one of them does not know, neither uses, and the pool is right all the same. */
import { describe, expect, it } from 'vitest';
import { type CapabilityName, capabilityCodes, SkewBench, VIP } from '../kit/skew-bench.ts';

const names = Object.keys(capabilityCodes) as readonly CapabilityName[];
const identity = 0x0123abcd;
const active = `announced active of ${identity}`;

/** The life of two masters and a router whose peers lack these capabilities, in one text each. */
async function liveWithout(missing: readonly CapabilityName[]): Promise<void> {
  const lacks = (name: CapabilityName): boolean => missing.includes(name);
  const bench = new SkewBench(missing);
  try {
    await bench.start();
    let first = await bench.startSpeaker(11);
    const second = await bench.startSpeaker(12);
    for (const [number, speaker] of [
      [11, first],
      [12, second],
    ] as const) {
      await bench.advertise(speaker, 'normal');
      expect(bench.took(number), 'in service').toEqual([active]);
    }
    const negotiated = first.peers()[0]?.negotiated;
    expect(negotiated).toMatchObject({
      context: { asn4: !lacks('four-octet AS'), maxSendLength: lacks('extended message') ? 4096 : 65535 },
      routeRefresh: !lacks('route refresh'),
      enhancedRouteRefresh: !lacks('enhanced route refresh'),
    });
    expect(negotiated?.gracefulRestart === undefined).toBe(lacks('graceful restart'));

    // Without path identifiers a router reflects its best path only, and never to whom it has it from.
    const others = [first, second].map((one) => [...one.others(VIP)]);
    if (lacks('ADD-PATH')) expect(others.flat()).toHaveLength(1);
    else expect(others).toEqual([['10.0.0.12'], ['10.0.0.11']]);

    // A restart: what was announced stays, also with a peer that has no graceful restart.
    await first.closeForSuccessor();
    await bench.clock.advance(1);
    expect(bench.took(11), 'its process has gone').toEqual(['stale']);
    first = await bench.startSpeaker(11, true);
    await bench.advertise(first, 'normal');
    expect(bench.took(11), 'its successor is there').toEqual([active]);

    await bench.advertise(first, 'draining');
    expect(bench.took(11), 'draining').toEqual([`announced draining of ${identity}`]);
    await bench.advertise(first, 'none');
    expect(bench.took(11), 'drained').toEqual(['withdrawn']);
    // The end of a refresh shows that the router has moved on; a router that cannot say so is given a second instead.
    let hasMovedOn = false;
    void first.movedOn().then(() => {
      hasMovedOn = true;
    });
    await bench.clock.advance(1);
    expect(hasMovedOn).toBe(!lacks('route refresh') && !lacks('enhanced route refresh'));

    await bench.advertise(first, 'last-resort');
    expect(bench.took(11), 'last resort').toEqual([`announced last-resort of ${identity}`]);
    await first.shutdown('for a test');
    await bench.clock.advance(1);
    expect(bench.took(11), 'shut down').toEqual(['withdrawn']);
    expect(bench.troubles).toEqual([]);
    expect(bench.router.states()).toContain('Established');
  } finally {
    await bench.stop();
  }
}

describe('speakers and a router that do not know', () => {
  it.each(names)('%s', (name) => liveWithout([name]));

  it('any capability at all (RFC 4271)', () => liveWithout(names));

  it('any other combination of them', async () => {
    for (let set = 0; set < 1 << names.length; set += 1) {
      const missing = names.filter((_, index) => (set & (1 << index)) !== 0);
      await liveWithout(missing).catch((error: unknown) => {
        throw new Error(`without ${missing.join(', ')}`, { cause: error });
      });
    }
  });
});

describe('a speaker and a router with IPv6', () => {
  it('exchange the VIP', async () => {
    const bench = new SkewBench([], 'IPv6');
    try {
      await bench.start();
      await bench.advertise(await bench.startSpeaker(11), 'normal');
      expect(bench.took(11)).toEqual([active]);
    } finally {
      await bench.stop();
    }
  });

  // Without it a session is of IPv4 alone (RFC 4760 section 8), and none of the VIPs of an IPv6 session could be said in it.
  it('have no session without multiprotocol, say what is missing, and have one as soon as it is there', async () => {
    const bench = new SkewBench(['multiprotocol'], 'IPv6');
    try {
      await bench.start();
      const speaker = await bench.startSpeaker(11);
      await bench.advertise(speaker, 'normal');
      // An hour of attempts: they go on, and nothing grows or ends.
      await bench.clock.advance(3_600_000);
      expect(bench.took(11)).toEqual([]);
      expect(bench.router.states()).not.toContain('Established');
      const [peer] = speaker.peers();
      expect(peer?.state).not.toBe('Established');
      const text = 'OPEN Message Error/Unsupported Capability: missing: multiprotocol ipv6-unicast';
      expect(peer?.status().lastNotificationSent).toMatchObject({ code: 2, subcode: 7, text });
      expect([...bench.notifications]).toContain(`fd00:9::11: notification-sent: ${text}`);
      for (const said of bench.notifications) expect(said).toContain(text);

      bench.lack([]);
      await bench.clock.advance(600_000);
      expect(peer?.state).toBe('Established');
      expect(bench.took(11)).toEqual([active]);
      expect(bench.troubles).toEqual([]);
    } finally {
      await bench.stop();
    }
  });
});
