/**
 * A program that begins as the daemons do, with a second thread that does nothing but collect garbage. Prints a JSON line:
 * the full collections of that thread's heap, and how often V8's own threads were woken during them.
 */
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread, Worker } from 'node:worker_threads';
import { preferSmallHeap } from '../process/small-heap.ts';

const collections = 4;

if (isMainThread) {
  preferSmallHeap();
  new Worker(new URL(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 24 } });
} else {
  collect();
}

function collect(): void {
  const before = wakeUps();
  let seen = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as { detail?: { kind?: number } }[]) {
      if (detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR) seen += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  let kept: object[] = [];
  const timer = setInterval(() => {
    for (let i = 0; i < 5000; i++)
      kept.push({ numbers: [i, i, i], octets: i % 20 === 0 ? Buffer.alloc(200) : '' });
    if (kept.length > 30_000) kept = kept.slice(25_000);
    if (seen < collections) return;
    clearInterval(timer);
    observer.disconnect();
    writeSync(1, JSON.stringify({ collections: seen, wakeUps: wakeUps() - before }));
    process.exit(0);
  }, 5);
}

/** How often the threads to which V8 hands work have slept so far. */
function wakeUps(): number {
  return readdirSync('/proc/self/task')
    .map((id) => readFileSync(`/proc/self/task/${id}/status`, 'utf8'))
    .filter((status) => status.startsWith('Name:\tV8Worker'))
    .reduce((sum, status) => sum + Number(/^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1]), 0);
}
