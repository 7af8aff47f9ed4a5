#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// The only other thread that this program starts is that of BFD, which loads nothing else.
if (isMainThread) {
  const { preferSmallHeap } = await import('@bgp-lb/daemon/small-heap');
  // Before anything else is loaded.
  preferSmallHeap();
  const { runCli } = await import('./cli.ts');
  process.exitCode = await runCli(bfdProgram(new URL(import.meta.url)));
} else {
  const { runBfd } = await import('./bfd/bfd-worker.ts');
  runBfd();
}

/**
 * What the BFD thread runs: the small file that the bundle has for it, or this one. The thread has to read all of its
 * program, and a whole daemon's text costs it 6 MB.
 */
function bfdProgram(self: URL): URL {
  const small = new URL(self.href.replace(/\.mjs$/, '-bfd.mjs'));
  return existsSync(small) ? small : self;
}
