import { preferSmallHeap } from './small-heap.ts';

// Before anything else is loaded.
preferSmallHeap();
const { speakerCommandLine } = await import('./cli.ts');

process.exitCode = await speakerCommandLine();
