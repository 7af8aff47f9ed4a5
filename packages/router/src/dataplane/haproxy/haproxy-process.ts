import type { HaproxyFiles } from './haproxy-files.ts';
import {
  type RunningProcess,
  type RunningServer,
  readProcess,
  readServers,
  readSessions,
  readWorkers,
} from './run-time-answers.ts';
import { type RunTimeClient, RunTimeError } from './run-time-client.ts';

/** How long a new worker may take to answer after a reload (ms). */
const RELOAD_LIMIT = 10_000;
/** Between two looks at it (ms). */
const RELOAD_GAP = 50;

/** HAProxy as it runs, at one moment. */
export interface HaproxySnapshot {
  readonly process: RunningProcess;
  readonly servers: readonly RunningServer[];
}

/** The running HAProxy: its worker by the run-time API, its master for reloads and for workers of configurations before. */
export class HaproxyProcess {
  readonly #worker: RunTimeClient;
  readonly #master: RunTimeClient;

  constructor(worker: RunTimeClient, master: RunTimeClient) {
    this.#worker = worker;
    this.#master = master;
  }

  /** @throws RunTimeError, RangeError for an answer that is not understood */
  async read(): Promise<HaproxySnapshot> {
    const process = readProcess(await this.#worker.ask('show info'));
    const state = await this.#worker.ask('show servers state');
    return { process, servers: readServers(state, await this.#worker.ask('show stat -1 4 -1')) };
  }

  /** @param expected answers; none: any. @throws RunTimeError */
  order(command: string, expected: readonly string[]): Promise<void> {
    return this.#worker.order(command, expected);
  }

  /**
   * Takes the configuration that is on disk. Members keep their state: the new worker begins with that of the old one, and the file
   * is safe for a start without us again when this is done.
   * @throws RunTimeError when no new worker answers in time; the old one serves on then
   */
  async reload(files: HaproxyFiles, coldState: string): Promise<void> {
    const before = readWorkers(await this.#master.ask('show proc'));
    files.writeState(`${await this.#worker.ask('show servers state')}\n`);
    try {
      await this.#master.ask('reload');
      await this.#newWorker(before.current);
    } finally {
      files.writeState(coldState);
    }
  }

  async #newWorker(before: number | undefined): Promise<void> {
    for (let waited = 0; waited < RELOAD_LIMIT; waited += RELOAD_GAP) {
      await new Promise((resolve) => setTimeout(resolve, RELOAD_GAP));
      try {
        const { pid } = readProcess(await this.#worker.ask('show info'));
        if (pid !== before) return;
      } catch (error) {
        if (!(error instanceof RunTimeError)) throw error;
      }
    }
    throw new RunTimeError(
      'refused',
      `HAProxy did not take its configuration within ${RELOAD_LIMIT / 1000} s`,
    );
  }

  /**
   * Ends what old workers still have to servers that are not to be used: they check nothing any more, and would leave connections to
   * a dead member hanging.
   * @param isDead of `BACKEND/NAME`
   */
  async endOldSessions(isDead: (server: string) => boolean): Promise<readonly string[]> {
    const ended: string[] = [];
    for (const pid of readWorkers(await this.#master.ask('show proc')).old) {
      const sessions = readSessions(await this.#master.ask(`@!${pid} show stat -1 4 -1`));
      for (const [server, count] of sessions) {
        if (count === 0 || !isDead(server)) continue;
        await this.#master.ask(`@!${pid} shutdown sessions server ${server}`);
        ended.push(server);
      }
    }
    return ended;
  }
}
