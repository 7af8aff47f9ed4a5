/** bfdd of FRR against itself, and BIRD against itself. Both write each change of a session's state into a log. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { birdDaemon, birdView, hasBird } from '../../../scripts/lab/bird.ts';
import { frrDaemon, frrView, hasFrr, writeFrrConfig } from '../../../scripts/lab/frr.ts';
import type { PrivateView } from '../../../scripts/lab/private-view.ts';
import { type Child, startChild } from '../child.ts';
import { device, type LinkEnd, makeLink } from '../link.ts';
import type { Pair, PairOptions } from './pair.ts';

/** The daemon's log in its view. */
const logFile = '/var/log/changes';
const patience = 30_000;

/** How to run a daemon at one end, and how to read its log. */
interface Make {
  readonly name: 'FRR' | 'BIRD';
  /** As Debian's unit runs it. */
  readonly niceness: number;
  view(folder: string, end: LinkEnd, options: PairOptions): PrivateView;
  argv(view: PrivateView): readonly string[];
  /** Finds session, state before and state after in a line of the log. */
  readonly change: RegExp;
}

const makes: readonly Make[] = [
  {
    name: 'FRR',
    niceness: -5,
    view(folder, { sessions }, { interval }) {
      const view = frrView(folder);
      view.write(logFile, '', { owner: 'frr' });
      writeFrrConfig(view, 'bfdd', [
        'debug bfd peer',
        'bfd',
        ...sessions.flatMap(({ local, remote }) => [
          ` peer ${remote} local-address ${local}`,
          `  receive-interval ${interval}`,
          `  transmit-interval ${interval}`,
          '  no shutdown',
          ' !',
        ]),
        '!',
      ]);
      return view;
    },
    argv: (view) => frrDaemon(view, 'bfdd', ['--log', `file:${logFile}`, '--log-level', 'debug']),
    change: /state-change: \[(.*)\] (\w+) -> (\w+)/,
  },
  {
    name: 'BIRD',
    niceness: 0,
    view: (folder, { sessions }, { interval }) =>
      birdView(folder, [
        `log "${logFile}" all;`,
        'router id 192.0.2.1;',
        'protocol device { }',
        'protocol bfd watch {',
        '  debug { states, events };',
        `  interface "${device}" { interval ${interval} ms; multiplier 3; };`,
        ...sessions.map(({ local, remote }) => `  neighbor ${remote} dev "${device}" local ${local};`),
        '}',
      ]),
    argv: (view) => birdDaemon(view),
    change: /Session to (\S+) changed state from (\w+) to (\w+)/,
  },
];

/** True when the daemon is installed. */
export function hasDaemon(name: 'FRR' | 'BIRD'): boolean {
  return name === 'FRR' ? hasFrr() : hasBird();
}

/** Starts a daemon at both ends of a link of its own. */
export async function startDaemonPair(name: 'FRR' | 'BIRD', options: PairOptions): Promise<Pair> {
  const make = makes.find((each) => each.name === name);
  if (make === undefined) throw new RangeError(`no daemon ${name}`);
  const link = await makeLink(name.toLowerCase(), options.sessions);
  const ends: DaemonEnd[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(ends.map((end) => end.stop()));
    await link.remove();
  };
  try {
    for (const end of [link.left, link.right]) ends.push(new DaemonEnd(make, end, options));
    const [first] = ends;
    return {
      name,
      scheduling: options.scheduling === 'all-fifo' ? 'SCHED_FIFO 10' : `nice ${make.niceness}`,
      pid: first?.pid ?? 0,
      async allUp() {
        await Promise.all(ends.map((end) => end.allUp()));
      },
      alarms: async () => ends.reduce((sum, end) => sum + end.alarms(), 0),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Folders of daemons that run. */
const folders = new Set<string>();

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

class DaemonEnd {
  readonly #make: Make;
  readonly #end: LinkEnd;
  readonly #view: PrivateView;
  readonly #child: Child;

  constructor(make: Make, end: LinkEnd, options: PairOptions) {
    this.#make = make;
    this.#end = end;
    const folder = mkdtempSync(`${tmpdir()}/bgp-lb-soak-`);
    folders.add(folder);
    this.#view = make.view(folder, end, options);
    const raise =
      options.scheduling === 'all-fifo' ? ['chrt', '-f', '10'] : ['nice', '-n', String(make.niceness)];
    this.#child = startChild(make.argv(this.#view), [...raise, 'ip', 'netns', 'exec', end.namespace.name]);
  }

  get pid(): number {
    return this.#child.pid;
  }

  async allUp(): Promise<void> {
    for (const limit = performance.now() + patience; performance.now() < limit; await sleep(100)) {
      if (!this.#child.isRunning) break;
      const states = new Map(this.#changes().map(({ session, to }) => [session, to]));
      const up = [...states.values()].filter((state) => state === 'up');
      if (up.length === this.#end.sessions.length) return;
    }
    throw new Error(
      `${this.#make.name}: not all sessions came up; its log ends with\n${this.#log().slice(-1000)}`,
    );
  }

  alarms(): number {
    if (!this.#child.isRunning) throw new Error(`${this.#make.name} has ended`);
    return this.#changes().filter(({ from }) => from === 'up').length;
  }

  async stop(): Promise<void> {
    await this.#child.stop();
    this.#removeFolder();
  }

  #removeFolder(): void {
    const { folder } = this.#view;
    rmSync(folder, { recursive: true, force: true });
    folders.delete(folder);
  }

  #log(): string {
    return this.#view.has(logFile) ? readFileSync(this.#view.outside(logFile), 'utf8') : '';
  }

  #changes(): { readonly session: string; readonly from: string; readonly to: string }[] {
    return this.#log()
      .split('\n')
      .flatMap((line) => {
        const [, session, from, to] = this.#make.change.exec(line) ?? [];
        if (session === undefined || from === undefined || to === undefined) return [];
        return [{ session, from: from.toLowerCase(), to: to.toLowerCase() }];
      });
  }
}
