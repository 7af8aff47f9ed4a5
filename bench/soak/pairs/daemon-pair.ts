/** bfdd of FRR against itself, and BIRD against itself. Both write each change of a session's state into a log. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../child.ts';
import { device, type LinkEnd, makeLink } from '../link.ts';
import type { Pair, PairOptions } from './pair.ts';

const bfdd = '/usr/lib/frr/bfdd';
const bird = '/usr/sbin/bird';
const patience = 30_000;

/** How to run a daemon at one end, and how to read its log. */
interface Make {
  readonly name: 'FRR' | 'BIRD';
  readonly program: string;
  /** As Debian's unit runs it. */
  readonly niceness: number;
  config(end: LinkEnd, options: PairOptions, folder: string): readonly string[];
  arguments(folder: string): readonly string[];
  /** Finds session, state before and state after in a line of the log. */
  readonly change: RegExp;
}

const makes: readonly Make[] = [
  {
    name: 'FRR',
    program: bfdd,
    niceness: -5,
    config: ({ sessions }, { interval }) => [
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
    ],
    arguments: (folder) => [
      ...['-f', `${folder}/conf`, '--vty_socket', folder, '-i', `${folder}/pid`, '-z', `${folder}/zserv`],
      ...['--bfdctl', `${folder}/bfdd.sock`, '--log', `file:${folder}/log`, '--log-level', 'debug'],
    ],
    change: /state-change: \[(.*)\] (\w+) -> (\w+)/,
  },
  {
    name: 'BIRD',
    program: bird,
    niceness: 0,
    config: ({ sessions }, { interval }, folder) => [
      `log "${folder}/log" all;`,
      'router id 192.0.2.1;',
      'protocol device { }',
      'protocol bfd watch {',
      '  debug { states, events };',
      `  interface "${device}" { interval ${interval} ms; multiplier 3; };`,
      ...sessions.map(({ local, remote }) => `  neighbor ${remote} dev "${device}" local ${local};`),
      '}',
    ],
    arguments: (folder) => ['-f', '-c', `${folder}/conf`, '-s', `${folder}/control`],
    change: /Session to (\S+) changed state from (\w+) to (\w+)/,
  },
];

/** True when the daemon is installed. */
export function hasDaemon(name: 'FRR' | 'BIRD'): boolean {
  return existsSync(name === 'FRR' ? bfdd : bird);
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
  readonly #folder: string;
  readonly #child: Child;

  constructor(make: Make, end: LinkEnd, options: PairOptions) {
    this.#make = make;
    this.#end = end;
    this.#folder = mkdtempSync(`${tmpdir()}/bgp-lb-soak-`);
    folders.add(this.#folder);
    writeFileSync(`${this.#folder}/conf`, `${make.config(end, options, this.#folder).join('\n')}\n`);
    // bfdd gives up root for a user of its own.
    if (make.name === 'FRR') execFileSync('chown', ['-R', 'frr:frr', this.#folder]);
    const raise =
      options.scheduling === 'all-fifo' ? ['chrt', '-f', '10'] : ['nice', '-n', String(make.niceness)];
    this.#child = startChild(
      [make.program, ...make.arguments(this.#folder)],
      [...raise, 'ip', 'netns', 'exec', end.namespace.name],
    );
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
    rmSync(this.#folder, { recursive: true, force: true });
    folders.delete(this.#folder);
  }

  #log(): string {
    const file = `${this.#folder}/log`;
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
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
