import type { HaproxyFiles } from './haproxy-files.ts';
import {
  type RunningProcess,
  type RunningServer,
  readBackends,
  readProcess,
  readServers,
  readSessionIds,
  readSessions,
  readWorkers,
} from './run-time-answers.ts';
import { type RunTimeClient, RunTimeError } from './run-time-client.ts';
import { warmState } from './server-state.ts';

/** How long a new worker may take to answer after a reload (ms). */
const RELOAD_LIMIT = 10_000;
/** Between two looks at it (ms). */
const RELOAD_GAP = 50;

/** How long HAProxy may take to be there when both services start (ms). */
const START_LIMIT = 5000;
/** Between two looks at it (ms). */
const START_GAP = 100;

/** Commands that are sent at once: each has less than 60 octets. */
const BATCH = 200;

/** HAProxy as it runs, at one moment. */
export interface HaproxySnapshot {
  readonly process: RunningProcess;
  readonly servers: readonly RunningServer[];
  /** Names of the backends that its configuration has. */
  readonly backends: ReadonlySet<string>;
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
    const servers = readServers(state, await this.#worker.ask('show stat -1 4 -1'));
    return { process, servers, backends: readBackends(state) };
  }

  /**
   * As `read`, for a start: HAProxy may be starting too.
   * @param isExpected whether there is an HAProxy to wait for
   */
  async readFirst(isExpected: () => boolean): Promise<HaproxySnapshot> {
    const until = performance.now() + START_LIMIT;
    for (;;) {
      try {
        return await this.read();
      } catch (error) {
        if (!isExpected() || performance.now() >= until) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, START_GAP));
    }
  }

  /** @param expected answers; none: any. @throws RunTimeError */
  order(command: string, expected: readonly string[]): Promise<void> {
    return this.#worker.order(command, expected);
  }

  /**
   * Takes the configuration that is on disk. Members keep their state: the new worker begins with that of the old one, and the file
   * is safe for a start without us again when this is done.
   * @param coldState as it is to be when asked
   * @param identity that the new worker is to have
   * @throws RunTimeError when no new worker answers in time; the old one serves on then
   */
  async reload(
    files: Pick<HaproxyFiles, 'writeState'>,
    coldState: () => string | undefined,
    identity: string,
  ): Promise<void> {
    const before = readWorkers(await this.#master.ask('show proc'));
    const { pid } = readProcess(await this.#worker.ask('show info'));
    const cold = coldState() ?? '';
    try {
      files.writeState(warmState(await this.#worker.ask('show servers state'), cold));
      // The master may begin again before its answer has gone out.
      await this.#master.ask('reload').catch(() => undefined);
      await this.#newWorker(pid, before.reloads, identity);
    } finally {
      files.writeState(coldState() ?? cold);
    }
  }

  async #newWorker(before: number, reloads: number, identity: string): Promise<void> {
    for (let waited = 0; waited < RELOAD_LIMIT; waited += RELOAD_GAP) {
      await new Promise((resolve) => setTimeout(resolve, RELOAD_GAP));
      try {
        const { pid, description } = readProcess(await this.#worker.ask('show info'));
        if (pid !== before && description === identity) return;
        const now = readWorkers(await this.#master.ask('show proc'));
        // A master answers only when it has a new worker, or has failed to make one.
        if (now.reloads > reloads && now.current === before)
          throw new RunTimeError('refused', 'HAProxy did not take its configuration: its log says why');
        if (pid !== before && pid === now.current)
          throw new RunTimeError('refused', 'HAProxy was reloaded, and runs with another configuration');
      } catch (error) {
        if (!(error instanceof RunTimeError) || error.reason === 'refused') throw error;
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
      const dead = [...sessions].filter(([server, count]) => count > 0 && isDead(server));
      if (dead.length === 0) continue;
      // Session by session: to `shutdown sessions server` an old worker says "Proxy is disabled", and does nothing.
      const ids = readSessionIds(await this.#master.ask(`@!${pid} show sess`));
      for (const [server] of dead) {
        const commands = (ids.get(server) ?? []).map((id) => `@!${pid} shutdown session ${id}`);
        for (let at = 0; at < commands.length; at += BATCH) {
          await this.#master.askAll(commands.slice(at, at + BATCH));
        }
        ended.push(server);
      }
    }
    return ended;
  }
}
