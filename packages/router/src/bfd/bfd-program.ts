/** The program of the BFD thread, alone: scripts/bundle.ts makes a file of its own of it. */
import { runBfd } from './bfd-worker.ts';

runBfd();
