import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { arpLanguage } from './arp.ts';
import { LinkSegment, type LinkSegmentOptions } from './link-segment.ts';

const [first, second] = ['10.0.0.100', '10.0.0.101'];
const [own, rival] = ['02:00:00:00:00:05', '02:00:00:00:00:01'];
const shared = { linkOf: () => '02:b4:0a:00:00:64' };

describe('a segment whose answers leave by devices of their own', () => {
  let clock: ManualClock;
  /** Addresses that a device speaks for, and whether the kernel answers by it. */
  let held: Map<string, boolean>;
  let said: string[];
  let refusal: Error | undefined;
  let lost: string[];
  let hear: (packet: Uint8Array) => void;
  let isServing: boolean;

  beforeEach(() => {
    clock = new ManualClock();
    held = new Map();
    said = [];
    refusal = undefined;
    lost = [];
    isServing = true;
  });

  function segment(isHeld = false): LinkSegment {
    const options: LinkSegmentOptions = {
      addresses: [first],
      own,
      language: arpLanguage(own, '10.0.0.10', shared),
      clock,
      open: (_addresses, { packet }) => {
        hear = packet;
        return { send: () => void said.push('link'), close: () => undefined };
      },
      voice: {
        isHeld: () => isHeld,
        hold: (address, serves) => {
          if (refusal !== undefined) throw refusal;
          held.set(address, serves);
          return { send: () => void said.push('device'), close: () => undefined };
        },
        release: (address) => void held.delete(address),
      },
      isServing: () => isServing,
      changed: () => undefined,
      lost: ({ message }) => lost.push(message),
    };
    return new LinkSegment(options);
  }

  it('asks by the link, makes the device when the address is its own, and speaks by that', () => {
    segment();
    clock.advance(700);
    expect([said, held.size]).toEqual([['link', 'link', 'link'], 0]);
    clock.advance(10_000);
    expect(said.slice(3)).toEqual(['device', 'device', 'device']);
    expect([...held]).toEqual([[first, true]]);
  });

  it('lets the kernel answer only while the pool has a member', () => {
    const one = segment();
    clock.advance(10_000);
    isServing = false;
    one.setServing(first, false);
    expect([...held]).toEqual([[first, false]]);
  });

  it('removes the device when another has the address, or it is claimed no more, or the link is lost', () => {
    const one = segment();
    clock.advance(10_000);
    hear(arpLanguage(rival, '10.0.0.11', shared).announcement(first).packet);
    expect(held.size).toBe(0);
    one.close();

    const two = segment();
    clock.advance(10_000);
    two.setAddresses([second]);
    expect(held.has(first)).toBe(false);
    clock.advance(10_000);
    refusal = new Error('EPERM');
    two.setServing(second, true);
    expect([lost, held.size]).toEqual([['EPERM'], 0]);
  });

  it('leaves it when the process ends, and the next one goes on with it', () => {
    segment().close();
    expect(held.size).toBe(0);
    const next = segment(true);
    expect([...held]).toEqual([[first, true]]);
    next.close();
    expect([...held]).toEqual([[first, true]]);
  });
});
