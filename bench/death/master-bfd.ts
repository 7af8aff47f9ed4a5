/** BFD of the masters towards the load balancer: our engine, whichever daemon is measured at the other end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../scripts/lab/host.ts';
import { NamespaceProcess } from '../../test/kit/namespace-process.ts';

type OurEnd = typeof import('../soak/programs/our-end.ts');

const patience = 20_000;

/** One process on each master, from `start` to `stop`. */
export class MasterBfd {
  readonly #hosts: readonly Host[];
  #ends: NamespaceProcess<OurEnd>[] = [];

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts;
  }

  /** @param interval ms, in both directions; the multiplier is 3 */
  async start(remoteAddress: string, interval: number): Promise<void> {
    for (const host of this.#hosts) {
      const end = await NamespaceProcess.start<OurEnd>(
        ['ip', 'netns', 'exec', host.namespace],
        new URL('../soak/programs/our-end.ts', import.meta.url),
      );
      this.#ends.push(end);
      const session = {
        id: remoteAddress,
        remoteAddress,
        localAddress: host.address,
        transmitInterval: interval,
        receiveInterval: interval,
        detectMultiplier: 3,
      };
      await end.run((e, all) => e.add(all), { sessions: [session], isOrdinary: false });
    }
  }

  /** Resolves when the load balancer's daemon agrees that each master is Up. Rejects after 20 s. */
  async allUp(): Promise<void> {
    const isUp = Promise.all(this.#ends.map((end) => end.run((e) => e.allUp(1)))).then(() => true);
    if (await Promise.race([isUp, sleep(patience, false)])) return;
    throw new Error('the load balancer has no BFD session with a master');
  }

  async stop(): Promise<void> {
    const ends = this.#ends;
    this.#ends = [];
    await Promise.all(ends.map((end) => end.stop()));
  }
}
