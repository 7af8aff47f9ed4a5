#!/usr/bin/env node
import { isMainThread } from 'node:worker_threads';

// The only other thread that this program starts is that of BFD, which loads nothing else.
if (isMainThread) {
  const { preferSmallHeap } = await import('@bgp-lb/daemon/small-heap');
  // Before anything else is loaded.
  preferSmallHeap();
  const { runCli } = await import('./cli.ts');
  process.exitCode = await runCli(new URL(import.meta.url));
} else {
  const { runBfd } = await import('./bfd/bfd-worker.ts');
  runBfd();
}
