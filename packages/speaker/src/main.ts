#!/usr/bin/env node
import { preferSmallHeap } from '@bgp-lb/daemon/small-heap';

// Before anything else is loaded.
preferSmallHeap();
const { speakerCommandLine } = await import('./cli.ts');

process.exitCode = await speakerCommandLine();
