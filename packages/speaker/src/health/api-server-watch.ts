import { type ClientCertificate, HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import type { Clock } from '@bgp-lb/protocol/node';
import {
  afterProbe,
  isSameReadiness,
  type Readiness,
  type Thresholds,
  unknownReadiness,
} from './readiness.ts';

export interface ApiServerWatchOptions extends Thresholds {
  /** Node address and port of the API server. */
  readonly address: string;
  readonly port: number;
  readonly serverName: string;
  readonly path: string;
  /** The text of ca.crt. Without one nothing is probed: an unverified answer would say nothing. */
  readonly ca: () => string | undefined;
  /** For API servers without anonymous access. */
  readonly clientCertificate?: (() => ClientCertificate | undefined) | undefined;
  /** When true, a certificate without the server name is a warning: see `HttpsProbeOptions`. */
  readonly isNameOptional?: (() => boolean) | undefined;
  /** Milliseconds from the start of one probe to the start of the next. */
  readonly interval: number;
  /** Milliseconds. */
  readonly timeout: number;
  readonly clock: Clock;
  /** @param isNews the readiness is another one than after the probe before */
  readonly probed: (result: ProbeResult, isNews: boolean) => void;
}

/** Milliseconds by which the end of a probe's time may be late before it tells of us and not of the API server. */
const LATENESS = 250;

/** Probes the API server of this master for as long as the speaker runs, one probe at a time, on a kept connection. */
export class ApiServerWatch {
  readonly #options: ApiServerWatchOptions;
  readonly #probe: HttpsProbe;
  #readiness = unknownReadiness;
  #cancel: (() => void) | undefined;
  #isProbing = false;
  #hasDoubt = false;
  #isWanted = false;
  #isClosed = false;

  constructor(options: ApiServerWatchOptions) {
    this.#options = options;
    const { address, port, serverName, path, ca, timeout, clientCertificate, isNameOptional } = options;
    this.#probe = new HttpsProbe({
      address,
      port,
      serverName,
      path,
      ca,
      timeoutMs: timeout,
      keepAlive: true,
      ...(clientCertificate === undefined ? {} : { clientCertificate }),
      ...(isNameOptional === undefined ? {} : { isNameOptional }),
    });
  }

  get readiness(): Readiness {
    return this.#readiness;
  }

  /** Probes at once, or once more right after the probe that runs. Then at the interval. */
  probeNow(): void {
    if (this.#isClosed) return;
    if (this.#isProbing) {
      this.#isWanted = true;
      return;
    }
    this.#cancel?.();
    void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    this.#probe.close();
  }

  async #run(): Promise<void> {
    const { clock, interval, ca } = this.#options;
    const started = clock.now();
    this.#isProbing = true;
    this.#isWanted = false;
    if (ca() !== undefined) this.#take(await this.#probe.probe());
    this.#isProbing = false;
    if (this.#isClosed) return;
    const wait = this.#isWanted ? 0 : Math.max(0, started + interval - clock.now());
    this.#cancel = clock.after(wait, () => void this.#run());
  }

  #take(result: ProbeResult): void {
    if (this.#isClosed || this.#isDoubtful(result)) return;
    const before = this.#readiness;
    this.#readiness = afterProbe(before, result, this.#options);
    this.#options.probed(result, !isSameReadiness(before, this.#readiness));
  }

  /**
   * A timeout that was noticed late is that of a process that slept: the answer may have been waiting to be read. It
   * is no evidence, and the probe is made again at once. A second one in a row counts, so that a host that is always late
   * does not keep an old judgement for ever.
   */
  #isDoubtful({ kind, tookMs }: ProbeResult): boolean {
    const isLate = kind === 'timeout' && tookMs > this.#options.timeout + LATENESS;
    this.#hasDoubt = isLate && !this.#hasDoubt;
    if (this.#hasDoubt) this.#isWanted = true;
    return this.#hasDoubt;
  }
}
