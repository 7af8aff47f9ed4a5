import type { Advertisement } from './advertisement.ts';

/** Of more senders than that the oldest is forgotten. */
const MOST = 64;
/** A virtual router that was silent for so long is shown no more (ms). */
const KEPT = 60_000;

/** A virtual router that was heard on the link. */
export interface HeardRouter extends Advertisement {
  /** Milliseconds since it was last heard. */
  readonly agoMs: number;
}

/** What is needed of the settings to know whose advertisement one is. */
export interface KnownRouters {
  readonly vrid: number;
  readonly peers: readonly string[];
  readonly peerBeacons: ReadonlyMap<string, number>;
  readonly advertInterval: number;
  readonly missedAdverts: number;
}

/** The virtual routers of the link, from what they send. Times are monotonic milliseconds. */
export class HeardRouters {
  /** By source and VRID, the one heard last at the end. */
  readonly #heard = new Map<string, { readonly what: Advertisement; readonly at: number }>();

  hear(what: Advertisement, now: number): void {
    const key = `${what.source} ${what.vrid}`;
    this.#heard.delete(key);
    this.#heard.set(key, { what, at: now });
    const [oldest] = this.#heard.keys();
    if (this.#heard.size > MOST && oldest !== undefined) this.#heard.delete(oldest);
  }

  /** Everything that was heard of late. */
  all(now: number): readonly HeardRouter[] {
    return [...this.#heard.values()]
      .filter(({ at }) => now - at < KEPT)
      .map(({ what, at }) => ({ ...what, agoMs: Math.round(now - at) }));
  }

  /** The peer that has the VIPs by what it says, the one of the highest priority. */
  owner({ vrid, peers, ...timing }: KnownRouters, now: number): HeardRouter | undefined {
    const own = this.#fresh(timing, now).filter((one) => one.vrid === vrid && peers.includes(one.source));
    return own.sort((a, b) => b.priority - a.priority)[0];
  }

  /** The peers that say that they are able to serve. */
  fitPeers({ peerBeacons, ...timing }: KnownRouters, now: number): readonly string[] {
    return this.#fresh(timing, now)
      .filter(({ source, vrid }) => peerBeacons.get(source) === vrid)
      .map(({ source }) => source);
  }

  /** Others that use our VRID, whatever they say. @param window ms */
  foreign(
    { vrid, peers }: Pick<KnownRouters, 'vrid' | 'peers'>,
    window: number,
    now: number,
  ): HeardRouter | undefined {
    return this.all(now).find(
      (one) => one.vrid === vrid && !peers.includes(one.source) && one.agoMs < window,
    );
  }

  /** Those that have not given up, within the time after which one counts as dead. */
  #fresh(
    { advertInterval, missedAdverts }: Pick<KnownRouters, 'advertInterval' | 'missedAdverts'>,
    now: number,
  ): HeardRouter[] {
    const window = (missedAdverts + 1) * advertInterval;
    return this.all(now).filter(({ agoMs, priority }) => priority > 0 && agoMs < window);
  }
}
