import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveSnapshots } from './live-snapshots.ts';

class FakeSource {
  readyState = 1;
  isClosed = false;
  readonly #listeners = new Map<string, (event: { readonly data: string }) => void>();
  addEventListener(type: string, listener: (event: { readonly data: string }) => void): void {
    this.#listeners.set(type, listener);
  }
  emit(type: string, data = ''): void {
    this.#listeners.get(type)?.({ data });
  }
  close(): void {
    this.isClosed = true;
  }
}

describe('the stream of snapshots in the browser', () => {
  let sources: FakeSource[];
  let seen: unknown[];
  let lost: number;
  let live: LiveSnapshots<unknown>;

  beforeEach(() => {
    vi.useFakeTimers();
    sources = [];
    seen = [];
    lost = 0;
    live = new LiveSnapshots({
      open: () => {
        const source = new FakeSource();
        sources.push(source);
        return source;
      },
      onSnapshot: (snapshot) => seen.push(snapshot),
      onLost: () => {
        lost += 1;
      },
    });
    live.start();
  });
  afterEach(() => {
    live.stop();
    vi.useRealTimers();
  });

  it('gives each snapshot', () => {
    sources[0]?.emit('snapshot', '{"n":1}');
    expect(seen).toEqual([{ n: 1 }]);
  });

  it('leaves a broken stream to the browser, which opens it again', () => {
    if (sources[0] !== undefined) sources[0].readyState = 0;
    sources[0]?.emit('error');
    vi.advanceTimersByTime(1000);
    expect({ lost, opened: sources.length }).toEqual({ lost: 1, opened: 1 });
  });

  it('opens another once the browser has given up', () => {
    if (sources[0] !== undefined) sources[0].readyState = 2;
    sources[0]?.emit('error');
    vi.advanceTimersByTime(1000);
    expect(sources).toHaveLength(2);
    expect(sources[0]?.isClosed).toBe(true);
    sources[1]?.emit('snapshot', '1');
    expect(seen).toEqual([1]);
  });

  it('takes silence for the death of a daemon whose connection stays', () => {
    sources[0]?.emit('snapshot', '1');
    vi.advanceTimersByTime(2999);
    expect(lost).toBe(0);
    vi.advanceTimersByTime(1);
    expect({ lost, opened: sources.length }).toEqual({ lost: 1, opened: 2 });
  });
});
