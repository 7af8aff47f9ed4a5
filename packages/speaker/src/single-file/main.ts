/** The program of the single-file executable (scripts/single-file.ts): what main.ts is for the bundle. */
import { getAsset } from 'node:sea';
import { preferSmallHeap } from '@bgp-lb/daemon/small-heap';
import { ASSETS } from './native-koffi.ts';

preferSmallHeap();
run().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  },
);

async function run(): Promise<number> {
  const { speakerCommandLine } = await import('../cli.ts');
  return speakerCommandLine(getAsset(ASSETS.bfd, 'utf8'), process.argv.slice(2));
}
