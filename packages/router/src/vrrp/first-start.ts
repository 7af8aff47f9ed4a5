import type { HeardRouter } from './heard-routers.ts';

/** How long the link is listened to before the first start (ms): an owner with the usual interval says so three times. */
const LISTEN = 3_000;
/** Another user of our VRID is waited for until it was silent for so long (ms). */
const SILENT = 10_000;

/** What a look finds. */
interface FirstStartFacts {
  readonly isRunning: boolean;
  /** What others send could be heard: the time before that does not count. */
  readonly isListening: boolean;
  /** Who else was heard with our VRID within `FirstStart.window`. */
  readonly foreign: HeardRouter | undefined;
  readonly vrid: number;
}

/** Whether keepalived may be started where it did not run: not beside others that use its VRID. */
export class FirstStart {
  #begunAt: number | undefined;
  #isDone = false;

  /** keepalived runs, or has been allowed to. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * One look.
   * @returns why it may not start, in words; undefined when it may
   */
  look({ isRunning, isListening, foreign, vrid }: FirstStartFacts, now: number): string | undefined {
    if (this.#isDone) return undefined;
    if (isRunning) {
      this.#isDone = true;
      return undefined;
    }
    if (!isListening) this.#begunAt = undefined;
    else this.#begunAt ??= now;
    if (foreign !== undefined) return foreignText(foreign, vrid);
    if (this.#begunAt === undefined || now - this.#begunAt < LISTEN)
      return `the link is listened to for others with VRID ${vrid}`;
    this.#isDone = true;
    return undefined;
  }

  /** How long one that was heard counts (ms). */
  static readonly window: number = SILENT;
}

/** Another virtual router with our VRID, in words. */
export function foreignText({ source, version, priority }: HeardRouter, vrid: number): string {
  return `${source} uses VRID ${vrid} already (VRRPv${version}, priority ${priority}), and is not in vrrp.peers: choose another vrrp.vrid, or stop it there`;
}
