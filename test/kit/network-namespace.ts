/**
 * Network namespaces for tests. Each test makes its own, does everything in there, and removes it; what a killed test
 * run left behind is removed by the next one. Needs root and iproute2.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { signalProcessesIn } from '../../scripts/lab/namespace-processes.ts';
import { NamespaceProcess } from './namespace-process.ts';

/** Names are `bgp-lb-test-PID-NUMBER-LABEL`: they say whose they are. */
const namePrefix = 'bgp-lb-test-';

const live = new Set<NetworkNamespace>();
let counter = 0;

/** One end of a virtual cable. */
export interface CableEnd {
  readonly namespace: NetworkNamespace;
  /** The interface's name, at most 15 characters. */
  readonly device: string;
  /** `10.0.0.1/24`. IPv6 ones are usable at once. */
  readonly addresses?: readonly string[];
}

/** A network namespace with its loopback interface up. */
export class NetworkNamespace {
  readonly name: string;
  readonly #processes: NamespaceProcess<unknown>[] = [];

  private constructor(name: string) {
    this.name = name;
  }

  /** @param label a few letters for people who look at `ip netns list` */
  static create(label: string): NetworkNamespace {
    if (counter === 0) {
      removeLeftovers();
      process.once('exit', () => {
        for (const namespace of live) namespace.#delete();
      });
    }
    counter += 1;
    const namespace = new NetworkNamespace(`${namePrefix}${process.pid}-${counter}-${label}`);
    ip('netns', 'add', namespace.name);
    live.add(namespace);
    namespace.ip('link', 'set', 'lo', 'up');
    return namespace;
  }

  /** Runs ip(8) on this namespace. @returns what it printed. @throws with its error text */
  ip(...argv: readonly string[]): string {
    return ip('-n', this.name, ...argv);
  }

  /** Runs many commands of ip(8) at once, one on a line: a burst. @throws with the error text of the first that fails */
  batch(commands: readonly string[]): void {
    execFileSync('ip', ['-n', this.name, '-batch', '-'], { input: commands.join('\n') });
  }

  /** Runs a program in this namespace and waits for its end. @returns what it printed */
  execute(program: string, ...argv: readonly string[]): string {
    return ip('netns', 'exec', this.name, program, ...argv);
  }

  /**
   * Starts a Node process in this namespace that has imported a module and runs functions of the test on it.
   * @param module the URL of a TypeScript or JavaScript file
   */
  async start<Subject>(module: URL): Promise<NamespaceProcess<Subject>> {
    const started = await NamespaceProcess.start<Subject>(['ip', 'netns', 'exec', this.name], module);
    this.#processes.push(started);
    return started;
  }

  /** Ends the processes that were started here, kills all others in it, and removes the namespace. A second call does nothing. */
  async remove(): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.stop()));
    this.#delete();
  }

  #delete(): void {
    if (!live.delete(this)) return;
    removeNamespace(this.name);
  }
}

/** Connects two namespaces by a veth pair, both ends up. */
export function cable(left: CableEnd, right: CableEnd): void {
  const peer = ['peer', 'name', right.device, 'netns', right.namespace.name];
  left.namespace.ip('link', 'add', left.device, 'type', 'veth', ...peer);
  for (const { namespace, device, addresses = [] } of [left, right]) {
    for (const address of addresses) {
      const noDad = address.includes(':') ? ['nodad'] : [];
      namespace.ip('address', 'add', address, 'dev', device, ...noDad);
    }
    namespace.ip('link', 'set', device, 'up');
  }
}

/** Removes the namespaces of test processes that are gone. */
function removeLeftovers(): void {
  for (const line of ip('netns', 'list').split('\n')) {
    const [name = ''] = line.split(' ');
    if (!name.startsWith(namePrefix)) continue;
    const [pid = ''] = name.slice(namePrefix.length).split('-');
    if (existsSync(`/proc/${pid}`)) continue;
    try {
      removeNamespace(name);
    } catch {
      // Another test process that starts now was faster.
    }
  }
}

/** Removes a namespace and whatever runs in it: a daemon would live on in it without a name, out of everything's reach. */
function removeNamespace(name: string): void {
  signalProcessesIn([name], 'SIGKILL');
  ip('netns', 'delete', name);
}

function ip(...argv: readonly string[]): string {
  return execFileSync('ip', argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
