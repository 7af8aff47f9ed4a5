import { Socket } from 'node:net';
import { HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import type { ProbeVerdict } from '../pool/member-view.ts';
import type { MemberProbe, ProbeReport } from './member-probe.ts';

/** What a probe by a TLS request is made of. */
export interface HttpsMemberProbeOptions {
  readonly address: string;
  readonly port: number;
  readonly serverName: string;
  readonly path: string;
  readonly ca: () => string | undefined;
  readonly timeoutMs: number;
  /** How long the connection may take to be there; undefined: as long as the probe. */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds by which this process was late in all, so far: see `StallWatch.lost`. */
  readonly lost: () => number;
  /** An unconnected socket that leads to the member. Default: one as any other. */
  readonly open?: (() => Socket) | undefined;
}

/** A probe that this process was late for by this part of its time proves nothing against the member. */
const LATE_PART = 0.25;
/** So many in a row prove nothing; then they count, or a host that is always busy would keep what is dead. */
const MOST_LATE = 3;

/** Asks for a path over HTTPS with a new connection each time: that is what a client of this member would do. */
export class HttpsMemberProbe implements MemberProbe {
  readonly kind = 'https';
  readonly #options: HttpsMemberProbeOptions;
  readonly #probe: HttpsProbe;
  /** The connection of the probe that runs was accepted. */
  #isAccepted = false;
  /** It was not, which was looked at after everything that waited in our sockets was read. */
  #isSilent = false;
  /** Late ones in a row. */
  #late = 0;

  constructor(options: HttpsMemberProbeOptions) {
    const { open = () => new Socket(), connectTimeoutMs, lost: _, ...target } = options;
    this.#options = options;
    this.#probe = new HttpsProbe({
      ...target,
      keepAlive: false,
      connect: () => {
        const socket = open().connect({ host: target.address, port: target.port });
        socket.once('connect', () => {
          this.#isAccepted = true;
        });
        if (connectTimeoutMs !== undefined) {
          limitConnecting(socket, connectTimeoutMs, () => {
            this.#isSilent = true;
          });
        }
        return socket;
      },
    });
  }

  async probe(): Promise<ProbeReport> {
    const { lost, timeoutMs, connectTimeoutMs } = this.#options;
    this.#isAccepted = false;
    this.#isSilent = false;
    const lostBefore = lost();
    const found = await this.#probe.probe();
    const { kind, tookMs, warnings } = found;
    const verdict = verdictOf(found, this.#isAccepted);
    const detail = verdict === 'slow' ? `accepted the connection, but gave ${found.detail}` : found.detail;
    const late = lost() - lostBefore;
    // That its host accepts is all that is asked of one in doubt, and it holds however late we read it.
    const isProven =
      kind !== 'timeout' || this.#isSilent || (this.#isAccepted && connectTimeoutMs !== undefined);
    this.#late = isProven || late < timeoutMs * LATE_PART ? 0 : this.#late + 1;
    if (this.#late === 0 || this.#late > MOST_LATE) {
      return { verdict, result: kind, tookMs, detail, warnings };
    }
    const why = `${detail}, while this process was ${Math.round(late)} ms late itself`;
    return { verdict: undefined, result: 'late', tookMs, detail: why, warnings };
  }

  close(): void {
    this.#probe.close();
  }
}

function limitConnecting(socket: Socket, limit: number, silent: () => void): void {
  const timer = setTimeout(() => {
    // After a stall of ours the connection may be there and not read yet: timers come before that in a turn.
    setImmediate(() => {
      if (socket.connecting) {
        silent();
        socket.destroy(Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' }));
      }
    });
  }, limit);
  const clear = (): void => clearTimeout(timer);
  socket.once('connect', clear).once('close', clear);
}

/**
 * What a probe through a member says about it. 401 and 403 pass: readiness is the speaker's word, what is proven
 * here is the way to an API server and back. Undefined: nothing, since it was not asked. A process that is short of descriptors would
 * else take every member for sick, and those whose session is gone for dead.
 * @param isAccepted its connection was accepted: what comes too late then is slow, and not dead
 */
export function verdictOf(
  { kind }: Pick<ProbeResult, 'kind'>,
  isAccepted: boolean,
): ProbeVerdict | undefined {
  switch (kind) {
    case 'ok':
    case 'unauthorized':
      return 'good';
    case 'refused':
    case 'unreachable':
      return kind;
    case 'status':
      return 'answered';
    case 'shortage':
      return undefined;
    case 'timeout':
      return isAccepted ? 'slow' : 'soft';
    case 'tls':
    case 'error':
      return 'soft';
  }
}
