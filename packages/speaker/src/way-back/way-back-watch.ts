import type { Finding } from '@bgp-lb/daemon';
import { type Firewall, isUnanswered, NftablesError, readFirewall, reversePathDrops } from '@bgp-lb/linux';
import { checkWayBack, type WayBack } from './check-way-back.ts';
import { readWayBack, type WayBackQuestion } from './read-way-back.ts';
import { answering, readStuckAnswers, type StuckAnswers } from './stuck-answers.ts';

/** Between two looks at the firewall and the counter (ms): one costs a run of nft(8). */
const INTERVAL = 60_000;
/** How far back readings of the counter are compared (ms). */
const REACH = 300_000;

export interface WayBackWatchOptions extends Pick<WayBackQuestion, 'routes'> {
  readonly config: () => WayBackQuestion['config'];
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/** Looks at what answers to clients depend on, again and again. */
export class WayBackWatch {
  readonly #options: WayBackWatchOptions;
  #firewall: Firewall = { chains: [], unread: [] };
  #stuck: StuckAnswers | undefined;
  #readings: readonly { readonly at: number; readonly drops: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WayBackWatchOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#look();
    this.#timer = setInterval(() => void this.#look(), INTERVAL);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** What is not well, as it is now; the firewall as of the last look. @throws NetlinkError, SysctlError */
  findings(): readonly Finding[] {
    const { config, routes } = this.#options;
    try {
      const ways = readWayBack({
        ...{ config: config(), routes, firewall: this.#firewall, dropped: this.dropped() },
      });
      return checkWayBack(ways, this.#stuck).filter(({ level }) => level !== 'good');
    } catch (error) {
      // Nothing follows from an answer that was lost.
      if (isUnanswered(error)) return [];
      throw error;
    }
  }

  /** What rp_filter has dropped since the oldest reading that counts. */
  dropped(): WayBack['dropped'] {
    const [first] = this.#readings;
    if (first === undefined) return undefined;
    const { now } = this.#options;
    return { packets: Math.max(0, reversePathDrops() - first.drops), ms: Math.round(now() - first.at) };
  }

  async #look(): Promise<void> {
    const at = this.#options.now();
    this.#readings = [
      ...this.#readings.filter((reading) => at - reading.at < REACH),
      { at, drops: reversePathDrops() },
    ];
    this.#stuck = readStuckAnswers(answering(this.#options.config().vips));
    try {
      this.#firewall = await readFirewall();
    } catch (error) {
      // That nft does not answer is said by those that need it; what was read last holds.
      if (!(error instanceof NftablesError)) throw error;
    }
  }
}
