import { describe, expect, it } from 'vitest';
import { EventLog } from './event-log.ts';

function numbered(log: EventLog, count: number): void {
  for (let index = 1; index <= count; index++) log.append('tick', { index });
}

describe('EventLog', () => {
  it('gives each event a sequence number, both clocks and its fields', () => {
    let now = 1234.5678;
    const log = new EventLog({
      capacity: 3,
      clock: { now: () => now },
      wallClock: () => new Date('2026-01-02T03:04:05.678Z'),
    });
    expect(log.append('member-out', { member: 'm1', reason: 'BFD down' })).toEqual({
      sequence: 1,
      time: '2026-01-02T03:04:05.678Z',
      monotonicMs: 1234.568,
      type: 'member-out',
      member: 'm1',
      reason: 'BFD down',
    });
    now += 1;
    expect(log.append('x').monotonicMs).toBe(1235.568);
  });

  it('keeps the newest events only', () => {
    const log = new EventLog({ capacity: 3 });
    numbered(log, 5);
    expect(log.recent().map((event) => event.sequence)).toEqual([3, 4, 5]);
    expect(log.recent(2).map((event) => event.sequence)).toEqual([4, 5]);
    expect(log.recent(0)).toEqual([]);
    expect(log.lastSequence).toBe(5);
  });

  it('says how many events a reader has missed', () => {
    const log = new EventLog({ capacity: 3 });
    numbered(log, 5);
    expect(log.since(0)).toMatchObject({
      missed: 2,
      events: [{ sequence: 3 }, { sequence: 4 }, { sequence: 5 }],
    });
    expect(log.since(4)).toMatchObject({ missed: 0, events: [{ sequence: 5 }] });
    expect(log.since(99)).toEqual({ missed: 0, events: [] });
  });

  it('does not let a field replace its own', () => {
    const event = new EventLog({ capacity: 1 }).append('real', { type: 'forged', sequence: 99 });
    expect(event).toMatchObject({ type: 'real', sequence: 1 });
  });

  it("cuts long text, which may be a stranger's", () => {
    const { text } = new EventLog({ capacity: 1 }).append('x', { text: 'y'.repeat(5000) });
    expect(String(text)).toHaveLength(1027);
  });

  it('tells subscribers until they leave', () => {
    const log = new EventLog({ capacity: 1 });
    const heard: number[] = [];
    const leave = log.subscribe((event) => heard.push(event.sequence));
    numbered(log, 2);
    leave();
    numbered(log, 1);
    expect(heard).toEqual([1, 2]);
  });

  it('drops a subscriber that throws, and goes on', () => {
    const errors: unknown[] = [];
    const heard: number[] = [];
    const log = new EventLog({ capacity: 1, onSubscriberError: (error) => errors.push(error) });
    log.subscribe(() => {
      throw new Error('bad');
    });
    log.subscribe((event) => heard.push(event.sequence));
    numbered(log, 2);
    expect(errors).toHaveLength(1);
    expect(heard).toEqual([1, 2]);
  });

  it('needs room for one event', () => {
    expect(() => new EventLog({ capacity: 0 })).toThrow(RangeError);
  });
});
