import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventLog } from './event-log.ts';
import { SnapshotStream } from './snapshot-stream.ts';

describe('a stream of snapshots', () => {
  let events: EventLog;
  let taken: number;
  let fault: Error | undefined;
  let errors: unknown[];
  let stream: SnapshotStream;

  beforeEach(() => {
    vi.useFakeTimers();
    events = new EventLog({ capacity: 10 });
    taken = 0;
    fault = undefined;
    errors = [];
    stream = new SnapshotStream({
      take: async () => {
        taken += 1;
        if (fault !== undefined) throw fault;
        return { taken };
      },
      events,
      onError: (error) => errors.push(error),
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function listen(): { readonly texts: string[]; end(): void } {
    const texts: string[] = [];
    const end = stream.open().start((bytes) => texts.push(new TextDecoder().decode(bytes)));
    return { texts, end };
  }

  it('takes none while no one listens', async () => {
    events.append('something');
    await vi.advanceTimersByTimeAsync(5000);
    const { end } = listen();
    await vi.advanceTimersByTimeAsync(10);
    end();
    const before = taken;
    events.append('something');
    await vi.advanceTimersByTimeAsync(5000);
    expect(before).toBe(1);
    expect(taken).toBe(1);
  });

  it('sends one at once, then one each second, the same to all', async () => {
    const [first, second] = [listen(), listen()];
    await vi.advanceTimersByTimeAsync(2100);
    expect(taken).toBe(3);
    expect(first.texts).toEqual(second.texts);
    expect(first.texts[1]).toBe('event: snapshot\ndata: {"taken":1}\n\n');
    first.end();
    second.end();
  });

  it('sends one soon after an event, and one for a storm of them', async () => {
    const { end } = listen();
    await vi.advanceTimersByTimeAsync(400);
    expect(taken).toBe(1);
    for (let number = 0; number < 100; number++) events.append('storm');
    await vi.advanceTimersByTimeAsync(50);
    expect(taken).toBe(2);
    for (let number = 0; number < 100; number++) {
      events.append('storm');
      await vi.advanceTimersByTimeAsync(10);
    }
    // A second of storm, four pictures.
    expect(taken).toBe(6);
    end();
  });

  it('goes on after one that could not be taken', async () => {
    const { texts, end } = listen();
    fault = new Error('netlink says no');
    await vi.advanceTimersByTimeAsync(10);
    expect(errors).toEqual([fault]);
    fault = undefined;
    await vi.advanceTimersByTimeAsync(1000);
    expect(texts.at(-1)).toContain('"taken":2');
    end();
  });
});
