import { Socket } from 'node:net';
import { HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import type { Verdict } from '../pool/member-view.ts';
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
  /** An unconnected socket that leads to the member. Default: one as any other. */
  readonly open?: (() => Socket) | undefined;
}

/** Asks for a path over HTTPS with a new connection each time: that is what a client of this member would do. */
export class HttpsMemberProbe implements MemberProbe {
  readonly kind = 'https';
  readonly #probe: HttpsProbe;

  constructor({ open = () => new Socket(), connectTimeoutMs, ...target }: HttpsMemberProbeOptions) {
    this.#probe = new HttpsProbe({
      ...target,
      keepAlive: false,
      connect: () => {
        const socket = open().connect({ host: target.address, port: target.port });
        if (connectTimeoutMs !== undefined) {
          limitConnecting(socket, connectTimeoutMs);
        }
        return socket;
      },
    });
  }

  async probe(): Promise<ProbeReport> {
    const found = await this.#probe.probe();
    const { kind, tookMs, detail, warnings } = found;
    return { verdict: verdictOf(found), result: kind, tookMs, detail, warnings };
  }

  close(): void {
    this.#probe.close();
  }
}

function limitConnecting(socket: Socket, limit: number): void {
  const timer = setTimeout(() => {
    // After a stall of ours the connection may be there and not read yet: timers come before that in a turn.
    setImmediate(() => {
      if (socket.connecting) {
        socket.destroy(Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' }));
      }
    });
  }, limit);
  const clear = (): void => clearTimeout(timer);
  socket.once('connect', clear).once('close', clear);
}

/**
 * What a probe through a member says about it. 401 and 403 pass: readiness is the speaker's word, what is proven
 * here is the way to an API server and back. Undefined: nothing, since it was not asked. Whoever is short of descriptors would
 * else take every member for sick, and those whose session is gone for dead.
 */
export function verdictOf({ kind }: Pick<ProbeResult, 'kind'>): Verdict | undefined {
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
    case 'tls':
    case 'error':
      return 'soft';
  }
}
