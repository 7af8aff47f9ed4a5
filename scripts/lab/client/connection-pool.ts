/** The client's long connections, opened some at a time and looked at all at once. */
import type { CheckResult, OpenArguments, OpenResult } from '../client-protocol.ts';
import { LongConnection } from './long-connection.ts';
import { Tally } from './tally.ts';

/** Handshakes that are under way together: a server with a backlog of 128 is not to be flooded. */
const parallelHandshakes = 32;

/** All long connections of a client. */
export class ConnectionPool {
  readonly #connections: LongConnection[] = [];

  /** Opens `count` more. Those that do not come up are counted and forgotten. */
  async open(options: OpenArguments): Promise<OpenResult> {
    const opened: LongConnection[] = [];
    const failures = new Tally();
    const byMaster = new Tally();
    let left = options.count;
    const openOneAfterAnother = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const connection = new LongConnection(options);
        if (await connection.established(options.connectTimeout)) {
          opened.push(connection);
          byMaster.add(connection.master ?? 'unknown');
        } else {
          failures.add(connection.brokenBy ?? 'unknown');
        }
      }
    };
    await Promise.all(Array.from({ length: parallelHandshakes }, openOneAfterAnother));
    this.#connections.push(...opened);
    const { lifetime } = options;
    if (lifetime !== undefined) {
      for (const [index, connection] of opened.entries()) {
        connection.finishAfter((lifetime * (index + 1)) / opened.length);
      }
    }
    return {
      opened: opened.length,
      failed: options.count - opened.length,
      failures: failures.toRecord(),
      byMaster: byMaster.toRecord(),
    };
  }

  /** Asks on every connection and counts who answers. Broken ones stay in the count until closeAll. */
  async check(timeoutMs: number): Promise<CheckResult> {
    const byMaster = new Tally();
    const brokenByMaster = new Tally();
    const reasons = new Tally();
    const finished = this.#connections.filter(({ isFinished }) => isFinished);
    const results = await Promise.all(
      this.#connections.map(async (connection) => {
        if (connection.isFinished) return true;
        const isAlive = (await connection.check(timeoutMs)) || connection.isFinished;
        (isAlive ? byMaster : brokenByMaster).add(connection.master ?? 'unknown');
        if (!isAlive) reasons.add(connection.brokenBy ?? 'no answer');
        return isAlive;
      }),
    );
    const good = results.filter((isAlive) => isAlive).length;
    return {
      alive: good - finished.length,
      broken: results.length - good,
      finished: finished.length,
      byMaster: byMaster.toRecord(),
      brokenByMaster: brokenByMaster.toRecord(),
      reasons: reasons.toRecord(),
    };
  }

  /** Closes and forgets all. */
  closeAll(): void {
    for (const connection of this.#connections) connection.close();
    this.#connections.length = 0;
  }
}
