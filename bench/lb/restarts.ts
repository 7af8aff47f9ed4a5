/** Packets through a router that is stopped or killed, and started again: how many of some 1000 a second are lost. */
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { addSources, type EchoCount, EchoStream } from '../../test/kit/echo-stream.ts';
import type { BenchLab } from './bench-lab.ts';

/** How the router ends. */
const ends = ['stop', 'kill -9'] as const;

/** What became of the packets of one end and start. */
export interface RestartRun extends EchoCount {
  readonly end: (typeof ends)[number];
  readonly tookMs: number;
}

const poolSize = 3;
/** Packets before the end, between end and start, and after the start. */
const packetsEach = 1_000;
const patience = 60_000;

/** Addresses of the client that the packets come from; made once. */
export function echoSources(bench: BenchLab): Promise<readonly string[]> {
  return addSources(bench.lab.client, '10.0.2', 100, 24);
}

/** Ends and starts our router once in each way, with three members. */
export function measureRestarts(bench: BenchLab, sources: readonly string[]): Promise<RestartRun[]> {
  const { lab } = bench;
  const { router } = lab.lb;
  return bench.running(bench.balancer('bgp-lb'), poolSize, async ({ balancer }) => {
    const runs: RestartRun[] = [];
    for (const end of ends) {
      const since = performance.now();
      const stream = await EchoStream.start(lab.client, vipAddress, sources);
      try {
        await packets(stream);
        await (end === 'stop' ? router.stop() : router.kill());
        await packets(stream);
        await balancer.start();
        await router.waitFor(
          'all members active',
          ({ vips }) => vips[0]?.members.filter(({ state }) => state === 'active').length === poolSize,
          patience,
        );
        await packets(stream);
        const count = await stream.stop();
        runs.push({ end, ...count, tookMs: Math.round(performance.now() - since) });
      } finally {
        await stream.kill();
      }
    }
    return runs;
  });
}

/** Waits until so many more are sent. */
async function packets(stream: EchoStream): Promise<void> {
  const wanted = (await stream.sent()) + packetsEach;
  await waitUntil(async () => (await stream.sent()) >= wanted || undefined, {
    what: `${packetsEach} packets`,
    timeoutMs: patience,
  });
}
