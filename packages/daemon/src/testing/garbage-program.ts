/**
 * A program that begins as the daemons do, on one processor, with a thread as SCHED_FIFO that makes garbage. Prints a JSON
 * line: the full collections of that thread's heap, and the turns of its event loop for each time that its timer called.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { constants, PerformanceObserver, performance } from 'node:perf_hooks';
import { isMainThread, Worker } from 'node:worker_threads';
import { preferSmallHeap } from '../process/small-heap.ts';

const collections = 4;

if (isMainThread) {
  preferSmallHeap();
  const limits = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 2 };
  new Worker(new URL(import.meta.url), { name: 'garbage', resourceLimits: limits });
} else {
  execFileSync('chrt', ['--fifo', '--pid', '10', ownThread()]);
  collect();
}

function collect(): void {
  let seen = 0;
  let calls = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as { detail?: { kind?: number } }[]) {
      if (detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR) seen += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  const before = turns();
  let kept: object[] = [];
  const timer = setInterval(() => {
    calls += 1;
    for (let i = 0; i < 1000; i++)
      kept.push({ numbers: [i, i, i], octets: i % 20 === 0 ? Buffer.alloc(200) : '' });
    if (kept.length > 30_000) kept = kept.slice(25_000);
    if (seen < collections) return;
    clearInterval(timer);
    observer.disconnect();
    writeSync(1, JSON.stringify({ collections: seen, turnsPerCall: (turns() - before) / calls }));
    process.exit(0);
  }, 5);
}

/** Turns of this thread's event loop so far. */
function turns(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount;
}

function ownThread(): string {
  const id = readdirSync('/proc/self/task').find(
    (one) => readFileSync(`/proc/self/task/${one}/comm`, 'utf8').trim() === 'garbage',
  );
  if (id === undefined) throw new Error('this thread has no entry in /proc/self/task');
  return id;
}
