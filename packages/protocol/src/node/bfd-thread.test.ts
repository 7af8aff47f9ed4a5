import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import { BfdThread, schedulingText } from './bfd-thread.ts';
import { fastTiming } from './kit/bfd-wire.ts';
import { ManualClock } from './kit/manual-clock.ts';

// Bundled, as the daemons have it: Node.js reads TypeScript by WebAssembly, whose code V8 may abort over
// (`UnregisterWasmAllocation`) when the thread that used it ends.
const {
  outputFiles: [{ text: entry } = { text: '' }],
} = await build({
  entryPoints: [fileURLToPath(new URL('./kit/bfd-thread-program.ts', import.meta.url))],
  write: false,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  logLevel: 'error',
});
const session = { id: 'peer', remoteAddress: '10.0.0.2', ...fastTiming };

describe('a BFD thread', () => {
  const threads: BfdThread[] = [];

  afterEach(async () => {
    await Promise.all(threads.splice(0).map((thread) => thread.stop()));
  });

  function start() {
    const clock = new ManualClock();
    const told = new EventEmitter();
    const heard: string[] = [];
    const tell = (text: string): void => {
      heard.push(text);
      told.emit('told');
    };
    const thread = new BfdThread({
      entry,
      clock,
      handlers: {
        started: (scheduling) => tell(`started ${schedulingText(scheduling)}`),
        changed: ({ id, to }) => tell(`${id} is ${to}`),
        removed: (id) => tell(`removed ${id}`),
        refused: (id, message) => tell(`refused ${id}: ${message}`),
        failed: ({ message }) => tell(`failed: ${message}`),
      },
    });
    threads.push(thread);
    const until = async (text: string, times = 1): Promise<void> => {
      while (heard.filter((one) => one === text).length < times) await once(told, 'told');
    };
    return { thread, clock, heard, until };
  }

  it('is not there before the first session', async () => {
    const { thread, heard } = start();
    expect((await thread.status()).sessions).toEqual([]);
    thread.remove('peer');
    await thread.stop();
    expect(heard).toEqual([]);
  });

  it('says how it is scheduled, and runs its sessions', async () => {
    const { thread, heard, until } = start();
    expect(thread.scheduling).toBeUndefined();
    thread.add(session);
    await until('peer is Up');
    expect(heard[0]).toBe('started SCHED_FIFO 10');
    expect(thread.scheduling).toEqual({ policy: 'fifo', value: 10, refusals: [] });
    expect((await thread.status()).sessions).toMatchObject([{ id: 'peer', state: 'Up' }]);
    thread.add(session);
    await until('refused peer: BFD session peer: exists already');
    thread.remove('peer');
    await until('removed peer');
    expect((await thread.status()).sessions).toEqual([]);
  });

  it.each([
    ['deadly', 'failed: a session of death'],
    ['silent', 'failed: the BFD worker ended with exit code 3'],
  ])(
    'that dies of a session named %s is started again with the other sessions as they were',
    async (id, failed) => {
      const { thread, clock, until } = start();
      thread.add(session);
      await until('peer is Up');
      thread.setAdminDown('peer', true);
      thread.add({ ...session, id });
      await until(failed);
      await expect(thread.status()).rejects.toThrow(failed.slice('failed: '.length));
      thread.remove(id);
      await until(`removed ${id}`);
      await clock.advance(100);
      await until('started SCHED_FIFO 10', 2);
      expect((await thread.status()).sessions).toMatchObject([{ id: 'peer', state: 'AdminDown' }]);
      thread.setAdminDown('peer', false);
      await until('peer is Up', 2);
    },
  );

  it('that dies again and again is started less and less often', async () => {
    const { thread, clock, until } = start();
    thread.add({ ...session, id: 'deadly' });
    for (const [deaths, wait] of [100, 200, 400].entries()) {
      await until('failed: a session of death', deaths + 1);
      await clock.advance(wait - 1);
      expect(thread.scheduling).toBeUndefined();
      await expect(thread.status()).rejects.toThrow('a session of death');
      await clock.advance(1);
    }
    await until('failed: a session of death', 4);
  });

  it('is not started again for nobody, but for the next session', async () => {
    const { thread, clock, until } = start();
    thread.add({ ...session, id: 'deadly' });
    await until('failed: a session of death');
    thread.remove('deadly');
    await clock.advance(100);
    expect((await thread.status()).sessions).toEqual([]);
    thread.add(session);
    await until('peer is Up');
  });

  it('takes its sessions down before it stops', async () => {
    const { thread, heard, until } = start();
    thread.add(session);
    await until('peer is Up');
    await thread.stop();
    expect(heard.slice(-2).sort()).toEqual(['peer is AdminDown', 'removed peer']);
    thread.add({ ...session, id: 'late' });
    expect((await thread.status()).sessions).toEqual([]);
  });
});

describe('scheduling in words', () => {
  const refused = (wanted: string, message: string) => ({ wanted, code: 'EPERM', message });

  it.each([
    [{ policy: 'fifo', value: 10, refusals: [] }, 'SCHED_FIFO 10'],
    [{ policy: 'nice', value: -15, refusals: [refused('fifo', 'a: EPERM')] }, 'nice -15 (a: EPERM)'],
    [
      { policy: 'ordinary', value: 0, refusals: [refused('fifo', 'a: EPERM'), refused('nice', 'b: EACCES')] },
      'ordinary (a: EPERM; b: EACCES)',
    ],
  ] as const)('%j', (scheduling, text) => {
    expect(schedulingText(scheduling)).toBe(text);
  });
});
