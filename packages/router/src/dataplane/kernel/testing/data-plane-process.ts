import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ClientCounts } from '../../../evidence/client-counts.ts';
import type { WeightedNextHop } from '../../../pool/member-view.ts';
import type { BucketMove, DataPlaneStatus, Difference, VipEndpoint } from '../../data-plane.ts';
import type { KernelDataPlaneOptions } from '../kernel-data-plane-options.ts';

/** What the test asks of the process in the namespace. */
export type HostCall = { readonly id: number } & HostMethod;
export type HostMethod =
  | { readonly method: 'start' | 'stop' | 'status' | 'clientCounts' }
  | { readonly method: 'setVips'; readonly vips: readonly VipEndpoint[] }
  | { readonly method: 'setNextHops'; readonly vip: string; readonly nextHops: readonly WeightedNextHop[] }
  | {
      readonly method: 'setNextHopsInFlood';
      readonly flood: readonly string[];
      readonly nextHops: readonly WeightedNextHop[];
    }
  | {
      readonly method: 'setAllNextHops';
      readonly all: readonly (readonly [string, readonly WeightedNextHop[]])[];
    }
  | {
      readonly method: 'moveBuckets';
      readonly nextHop: string;
      readonly limits: { readonly part: number; readonly mostBusy: number };
    }
  | { readonly method: 'differencesAfter'; readonly commands: readonly (readonly string[])[] }
  | { readonly method: 'setProbed'; readonly nextHops: readonly string[] }
  | { readonly method: 'probe'; readonly nextHop: string };
export interface HostReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}
export interface HostEvent {
  readonly event: 'ready' | 'forwarding' | 'obstacle' | 'link' | 'repaired' | 'failing' | 'refused' | 'error';
  readonly text: string;
}

export const VIP: string = '10.100.0.1/32';

/** What the process is started with. */
interface TestOptions extends Omit<KernelDataPlaneOptions, 'upstreams'> {
  readonly upstreams: readonly string[];
  /** False: a kernel that has none is simulated. */
  readonly hasResilientGroups?: boolean;
}

const testOptions: TestOptions = {
  vips: [{ prefix: VIP, address: '10.100.0.1', port: 6443 }],
  table: 254,
  protocol: 84,
  buckets: 1024,
  idleTimer: 120_000,
  upstreams: [],
  markBase: 0x84000,
  manageSysctls: true,
  repairInterval: 1000,
};

/** A kernel data plane in a process of its own, inside a network namespace. */
export class DataPlaneProcess {
  readonly events: HostEvent[] = [];
  #child: ChildProcess;
  #next = 1;
  #waiting = new Map<number, (reply: HostReply) => void>();
  #changed = new Set<() => void>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: HostReply | HostEvent) => {
      if ('event' in message) {
        this.events.push(message);
        for (const look of this.#changed) {
          look();
        }
      } else {
        this.#waiting.get(message.id)?.(message);
      }
    });
  }

  static async in(namespace: string, changed: Partial<TestOptions> = {}): Promise<DataPlaneProcess> {
    const script = fileURLToPath(new URL('./data-plane-host.ts', import.meta.url));
    const argv = [
      'netns',
      'exec',
      namespace,
      process.execPath,
      script,
      JSON.stringify({ ...testOptions, ...changed }),
    ];
    const child = spawn('ip', argv, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const started = new DataPlaneProcess(child);
    await started.event((event) => event.event === 'ready', 60_000);
    return started;
  }

  /**
   * Makes the queues of its netlink sockets as small as can be; those for requests hear of changes from then on.
   * @returns how many sockets those are
   */
  crowd(which: 'requests' | 'notifications'): number {
    const script = fileURLToPath(new URL('../../../../../../test/kit/crowd-netlink.pl', import.meta.url));
    const argv = [script, String(this.#child.pid), which];
    return Number(execFileSync('perl', argv, { encoding: 'utf8' }));
  }

  async start(): Promise<Record<string, WeightedNextHop[]>> {
    return (await this.#call({ method: 'start' })) as Record<string, WeightedNextHop[]>;
  }

  /** What clients have sent to the VIPs, as it is counted there. */
  async clientCounts(): Promise<ClientCounts> {
    return (await this.#call({ method: 'clientCounts' })) as ClientCounts;
  }

  async setVips(vips: readonly VipEndpoint[]): Promise<Record<string, WeightedNextHop[]>> {
    return (await this.#call({ method: 'setVips', vips })) as Record<string, WeightedNextHop[]>;
  }

  /** Returns how long the call took, in milliseconds. */
  async setNextHops(nextHops: readonly WeightedNextHop[], vip: string = VIP): Promise<number> {
    return Number(await this.#call({ method: 'setNextHops', vip, nextHops }));
  }

  /** Commands of ip(8), and the next hops of the VIP, in one turn: nothing is read in between. */
  async setNextHopsInFlood(flood: readonly string[], nextHops: readonly WeightedNextHop[]): Promise<void> {
    await this.#call({ method: 'setNextHopsInFlood', flood, nextHops });
  }

  /** Those of several VIPs in one turn. Returns how long that took, in milliseconds. */
  async setAllNextHops(all: ReadonlyMap<string, readonly WeightedNextHop[]>): Promise<number> {
    return Number(await this.#call({ method: 'setAllNextHops', all: [...all] }));
  }

  /** What differs when these programs have run, before anything that they did is put right. */
  async differencesAfter(...commands: readonly (readonly string[])[]): Promise<readonly string[]> {
    const found = (await this.#call({ method: 'differencesAfter', commands })) as Difference[];
    return found.map(({ vip, object, difference }) => `${vip ?? 'all'} ${object} ${difference}`);
  }

  async moveBuckets(nextHop: string, limits: { part: number; mostBusy: number }): Promise<BucketMove> {
    return (await this.#call({ method: 'moveBuckets', nextHop, limits })) as BucketMove;
  }

  /** Stops reading and writing, as a process that gets no time. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  async setProbed(nextHops: readonly string[]): Promise<void> {
    await this.#call({ method: 'setProbed', nextHops });
  }

  /** What a connection to the VIP through the member reads first, or the error's code. */
  async probe(nextHop: string): Promise<string> {
    return String(await this.#call({ method: 'probe', nextHop }));
  }

  async status(): Promise<DataPlaneStatus> {
    return (await this.#call({ method: 'status' })) as DataPlaneStatus;
  }

  async stop(): Promise<void> {
    await this.#call({ method: 'stop' });
  }

  /** Resolves with the first event, past or future, that fits. */
  event(fits: (event: HostEvent) => boolean, timeout = 10_000): Promise<HostEvent> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.events.find(fits);
        if (found !== undefined) {
          settle();
          resolve(found);
        }
      };
      const settle = (): void => {
        clearTimeout(timer);
        this.#changed.delete(look);
      };
      const timer = setTimeout(() => {
        settle();
        reject(new Error(`no such event within ${timeout} ms; seen: ${JSON.stringify(this.events)}`));
      }, timeout);
      this.#changed.add(look);
      look();
    });
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await gone;
    }
  }

  async #call(method: HostMethod): Promise<unknown> {
    const id = this.#next++;
    const reply = await new Promise<HostReply>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ id, ...method });
    });
    this.#waiting.delete(id);
    if (reply.error !== undefined) {
      throw new Error(reply.error);
    }
    return reply.result;
  }
}
