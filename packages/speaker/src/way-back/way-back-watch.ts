import type { Finding } from '@bgp-lb/daemon';
import { type Firewall, isUnanswered, type reversePathDrops } from '@bgp-lb/linux';
import { checkWayBack, unknownWayBack, unreadTable, type WayBack } from './check-way-back.ts';
import { readWayBack, type WayBackQuestion } from './read-way-back.ts';
import { answering, type readStuckAnswers, type StuckAnswers } from './stuck-answers.ts';

/** From the end of a look at the firewall and the counter to the next (ms): one costs a few runs of nft(8). */
const INTERVAL = 60_000;
/** How far back readings of the counter are compared (ms). */
const REACH = 300_000;

export interface WayBackWatchOptions extends Pick<WayBackQuestion, 'routes'> {
  readonly config: () => WayBackQuestion['config'];
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** What this host is asked; each of them may fail. */
  readonly host: {
    readonly reversePathDrops: typeof reversePathDrops;
    readonly stuckAnswers: typeof readStuckAnswers;
    readonly firewall: () => Promise<Firewall>;
  };
}

/** Looks at what answers to clients depend on, again and again. That it cannot is a finding, and ends nothing. */
export class WayBackWatch {
  readonly #options: WayBackWatchOptions;
  #firewall: Firewall = { chains: [], unread: [] };
  #stuck: StuckAnswers | undefined;
  #readings: readonly { readonly at: number; readonly drops: number }[] = [];
  /** What the last look could not read, and why. */
  #unknown: readonly Finding[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WayBackWatchOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#look().then(() => {
      if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), INTERVAL);
    });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** What is not well, as it is now; the firewall as of the last look. */
  findings(): readonly Finding[] {
    const unknown = [...this.#unknown, ...this.#firewall.unread.map(unreadTable)];
    const { config, routes } = this.#options;
    try {
      const ways = readWayBack({
        ...{ config: config(), routes, firewall: this.#firewall, dropped: this.dropped() },
      });
      return checkWayBack(ways, this.#stuck, unknown).filter(({ level }) => level !== 'good');
    } catch (error) {
      // Nothing follows from an answer that was lost.
      return isUnanswered(error) ? unknown : [unknownWayBack('this host', error), ...unknown];
    }
  }

  /** What rp_filter has dropped since the oldest reading that counts; undefined where it cannot be read, which the next look says. */
  dropped(): WayBack['dropped'] {
    const [first] = this.#readings;
    if (first === undefined) return undefined;
    const { now, host } = this.#options;
    try {
      const drops = host.reversePathDrops();
      return { packets: Math.max(0, drops - first.drops), ms: Math.round(now() - first.at) };
    } catch {
      return undefined;
    }
  }

  /** Rejects never. */
  async #look(): Promise<void> {
    const failed: Finding[] = [];
    const fail = (place: string) => (error: unknown) => {
      failed.push(unknownWayBack(place, error));
    };
    const { host, config } = this.#options;
    await attempt(() => this.#readDrops(), fail('IPReversePathFilter'));
    await attempt(() => {
      this.#stuck = undefined;
      this.#stuck = host.stuckAnswers(answering(config().vips));
    }, fail('TCP'));
    await attempt(async () => {
      // What was read last holds where it cannot be read again.
      this.#firewall = await host.firewall();
    }, fail('firewall'));
    this.#unknown = failed;
  }

  #readDrops(): void {
    const at = this.#options.now();
    this.#readings = this.#readings.filter((reading) => at - reading.at < REACH);
    this.#readings = [...this.#readings, { at, drops: this.#options.host.reversePathDrops() }];
  }
}

async function attempt(read: () => void | Promise<void>, failed: (error: unknown) => void): Promise<void> {
  try {
    await read();
  } catch (error) {
    failed(error);
  }
}
