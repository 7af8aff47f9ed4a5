/** Sixteen VIPs with sixteen members each: from one change that touches all of them to the last object in the kernel. */
import { setTimeout as sleep } from 'node:timers/promises';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { NamespaceProcess } from '../../test/kit/namespace-process.ts';
import type { BenchLab, BenchMaster } from './bench-lab.ts';
import { vipPort } from './bench-lab.ts';
import type { WantedGroups } from './programs/many-watcher.ts';

type ManyWatcher = typeof import('./programs/many-watcher.ts');

/**
 * What changes at once: one member asks for less in every pool, or for its full share again, by one UPDATE; it leaves every pool
 * by the end of its session; every member leaves a pool of its own, and comes back.
 */
export const manyKinds = ['lesser', 'full', 'cease', 'withdraw-each'] as const;
export type ManyKind = (typeof manyKinds)[number];

/** Milliseconds, by kind. */
export type ManySamples = Record<ManyKind, number[]>;

const vips = Array.from({ length: 16 }, (_, n) => `10.100.1.${n + 1}`);
const prefixes = vips.map((address) => `${address}/32`);
const patience = 60_000;
/** Milliseconds in which the router and its probes come to rest. */
const pause = 1_500;
const weightChanges = 4;

/** No samples yet. */
export function noManySamples(): ManySamples {
  return { lesser: [], full: [], cease: [], 'withdraw-each': [] };
}

/** Measures our router once through, with every master of the lab in every pool, and adds to the samples. */
export async function measureMany(bench: BenchLab, samples: ManySamples): Promise<void> {
  const { masters } = bench;
  const balancer = bench.balancer('bgp-lb', {
    vips: vips.map((address) => ({ address, port: vipPort, machinePort: vipPort })),
    // 256 probes: more often they would be most of the load, and a slow one would change a pool.
    healthCheck: { interval: '10s', timeout: '10s', rise: 1, fall: 3 },
  });
  await Promise.all(masters.map((master) => changeAddresses(master, 'add')));
  await bench.freshLoadBalancer();
  const watcher = await bench.startOnLoadBalancer<ManyWatcher>('many-watcher');
  try {
    await watcher.run((w) => w.watch());
    await balancer.start();
    await Promise.all(
      masters.map(async ({ program }) => {
        await program.run((m, list) => m.setVips(list), prefixes);
        await program.run((m) => m.join());
      }),
    );
    await new Run(watcher, masters, samples).run();
  } finally {
    await Promise.all(
      masters.map(async (master) => {
        await master.program.run((m) => m.leave());
        await master.program.run((m, vip) => m.setVips([vip]), `${vipAddress}/32`);
        await changeAddresses(master, 'delete');
      }),
    );
    await balancer.stop();
    await watcher.stop();
  }
}

/** Gives a master the VIPs, or takes them away. */
async function changeAddresses({ host }: BenchMaster, what: 'add' | 'delete'): Promise<void> {
  const input = prefixes.map((prefix) => `address ${what} ${prefix} dev lo\n`).join('');
  await host.exec(['ip', '-batch', '-'], { input });
}

class Run {
  readonly #watcher: NamespaceProcess<ManyWatcher>;
  readonly #masters: readonly BenchMaster[];
  readonly #samples: ManySamples;

  constructor(watcher: NamespaceProcess<ManyWatcher>, masters: readonly BenchMaster[], samples: ManySamples) {
    this.#watcher = watcher;
    this.#masters = masters;
    this.#samples = samples;
  }

  async run(): Promise<void> {
    const all = this.#masters.map(({ host }) => host.address);
    await this.#settle(wantedOf(() => ({ full: all, lesser: [] })));
    const victim = this.#masters.at(-1);
    if (victim === undefined) throw new RangeError('no masters');
    const { address } = victim.host;
    const rest = all.filter((one) => one !== address);
    for (let n = 0; n < weightChanges; n += 1) {
      await this.#timed(
        'lesser',
        wantedOf(() => ({ full: rest, lesser: [address] })),
        () => victim.program.run((m) => m.update('lesser')),
      );
      await this.#timed(
        'full',
        wantedOf(() => ({ full: all, lesser: [] })),
        () => victim.program.run((m) => m.update('full')),
      );
    }
    await this.#timed(
      'withdraw-each',
      wantedOf((n) => ({ full: all.filter((_, member) => member !== n), lesser: [] })),
      () => this.#each('none'),
    );
    await this.#each('full');
    await this.#settle(wantedOf(() => ({ full: all, lesser: [] })));
    await this.#timed('cease', { ...wantedOf(() => ({ full: rest, lesser: [] })), gone: [address] }, () =>
      victim.program.run((m) => m.cease()),
    );
  }

  /** Every master speaks of a VIP of its own. @returns when the last of them did */
  async #each(what: 'full' | 'none'): Promise<bigint> {
    const written = await Promise.all(
      this.#masters.map(({ program }, n) =>
        program.run((m, [said, vip]) => m.update(said, vip), [what, prefixes[n] ?? ''] as const),
      ),
    );
    return written.toSorted((a, b) => Number(a - b)).at(-1) ?? 0n;
  }

  async #timed(kind: ManyKind, wanted: WantedGroups, change: () => Promise<bigint>): Promise<void> {
    await this.#watcher.run((w, groups) => w.expectGroups(groups), wanted);
    const since = await change();
    const at = await this.#reached(kind);
    this.#samples[kind].push(Number(at - since) / 1e6);
    await sleep(pause);
  }

  /** Waits until everything is so, which is no figure, and the router is at rest. */
  async #settle(wanted: WantedGroups): Promise<void> {
    await this.#watcher.run((w, groups) => w.expectGroups(groups), wanted);
    await this.#reached('settling');
    await sleep(pause);
  }

  async #reached(what: string): Promise<bigint> {
    const at = await this.#watcher.run((w, timeout) => w.reached(timeout), patience);
    if (at === undefined)
      throw new Error(`16 VIPs, ${what}: the kernel was not as wanted within ${patience} ms`);
    return at;
  }
}

function wantedOf(of: (vip: number) => WantedGroups['vips'][string]): WantedGroups {
  return { vips: Object.fromEntries(prefixes.map((prefix, n) => [prefix, of(n)])), gone: [] };
}
