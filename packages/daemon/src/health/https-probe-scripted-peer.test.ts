import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { array, asyncProperty, assert as check, constantFrom, integer, oneof, record } from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProbeTarget, tlsTarget } from '../testing/probe-target.ts';
import { makeAuthority, sign } from '../testing/test-certificates.ts';
import { HttpsProbe } from './https-probe.ts';
import type { ProbeResult } from './probe-result.ts';

const authority = makeAuthority('kubernetes');
const pair = sign(authority, { altNames: 'DNS:kubernetes' });

/** What a peer does with a connection, step by step, once it has been asked. */
type Step =
  | { readonly does: 'write'; readonly text: string }
  | { readonly does: 'drip'; readonly text: string }
  | { readonly does: 'wait'; readonly ms: number }
  | { readonly does: 'end' | 'reset' | 'renegotiate' | 'nothing' };

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const TIMEOUT = 250;
/** By when a result is there on the busiest machine; a probe that waits for its peer has none at all. */
const PATIENCE = 20_000;

interface Outcome {
  readonly result: ProbeResult | 'none';
  /** Settles when the peer's end of each connection is closed. */
  readonly closed: Promise<unknown>;
}

/** One probe of a peer that follows a script on each connection. */
async function meet(
  script: (tls: TLSSocket, raw: Socket) => void,
  options: {
    readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
    readonly keepAlive?: boolean;
    readonly timeoutMs?: number;
  } = {},
): Promise<Outcome> {
  const closed: Promise<unknown>[] = [];
  let raw: Socket | undefined;
  const target: ProbeTarget = await tlsTarget(
    { ...pair, ...options },
    (tls) => tls.once('data', () => raw && script(tls, raw)),
    (socket) => {
      raw = socket;
      closed.push(new Promise((resolve) => socket.once('close', resolve)));
    },
  );
  const { port } = target;
  const probe = new HttpsProbe({
    address: '127.0.0.1',
    port,
    serverName: 'kubernetes',
    path: '/readyz',
    ca: () => authority.cert,
    timeoutMs: options.timeoutMs ?? TIMEOUT,
    keepAlive: options.keepAlive ?? true,
  });
  open.push(probe, target);
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<'none'>((resolve) => {
    timer = setTimeout(() => resolve('none'), PATIENCE);
  });
  const result = await Promise.race([probe.probe(), never]);
  clearTimeout(timer);
  probe.close();
  return { result, closed: Promise.all(closed) };
}

async function play(steps: readonly Step[], tls: TLSSocket, raw: Socket): Promise<void> {
  for (const step of steps) {
    if (tls.destroyed || raw.destroyed) return;
    switch (step.does) {
      case 'write':
        tls.write(step.text);
        break;
      case 'drip':
        for (const letter of step.text) {
          if (tls.destroyed) return;
          tls.write(letter);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
        break;
      case 'wait':
        await new Promise((resolve) => setTimeout(resolve, step.ms));
        break;
      case 'end':
        tls.end();
        break;
      case 'reset':
        raw.resetAndDestroy();
        break;
      case 'renegotiate':
        tls.renegotiate({}, () => undefined);
        break;
      case 'nothing':
        await new Promise((resolve) => raw.once('close', resolve));
        break;
    }
  }
}

const GOOD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const UPGRADE = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

const texts = [
  GOOD,
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n',
  UPGRADE,
  'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'HTTP/1.1 199 \r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n',
  'HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  '2\r\nok\r\n',
  '0\r\n\r\n',
  `X: ${'x'.repeat(20_000)}\r\n`,
  'X: 1\r\n'.repeat(5000),
  'x'.repeat(70_000),
  '\r\n\r\n',
  '\0',
];
const steps = array(
  oneof(
    { weight: 5, arbitrary: record({ does: constantFrom('write' as const), text: constantFrom(...texts) }) },
    record({
      does: constantFrom('drip' as const),
      text: constantFrom(...texts.filter(({ length }) => length < 100)),
    }),
    record({ does: constantFrom('wait' as const), ms: integer({ min: 0, max: 40 }) }),
    record({ does: constantFrom('end' as const, 'reset', 'renegotiate', 'nothing') }),
  ),
  { minLength: 1, maxLength: 6 },
);

/** What a probe of an answering server may say: the peer's tricks are never taken for our own shortage or a closed port. */
const KINDS = ['ok', 'status', 'timeout', 'error', 'tls'];

describe('a probe has a result when its time is over, and no connection is left,', () => {
  it('whatever the peer does', { timeout: 120_000 }, async () => {
    await check(
      asyncProperty(steps, constantFrom('TLSv1.2' as const, 'TLSv1.3'), async (script, maxVersion) => {
        const { result, closed } = await meet((tls, raw) => void play(script, tls, raw), { maxVersion });
        if (result === 'none') throw new Error('no result');
        expect(KINDS).toContain(result.kind);
        await closed;
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['FIN', (tls: TLSSocket) => tls.end()],
    ['RST', (_: TLSSocket, raw: Socket) => raw.resetAndDestroy()],
    ['silence', () => undefined],
  ])('if %s comes after any octet of a good answer', async (name, finish) => {
    const cuts = [...GOOD].map((_, index) => index);
    const results = await Promise.all(
      cuts.map(async (cut) => {
        const { result, closed } = await meet(
          (tls, raw) =>
            cut === 0 ? finish(tls, raw) : tls.write(GOOD.slice(0, cut), () => finish(tls, raw)),
          // Forty handshakes at once may take long; what is to come before its time is over has the time.
          { timeoutMs: name === 'silence' ? TIMEOUT : PATIENCE / 2 },
        );
        await closed;
        return result === 'none' ? 'none' : result.kind;
      }),
    );
    expect(new Set(results)).toEqual(new Set([name === 'silence' ? 'timeout' : 'error']));
  });

  it.each([
    ['with Upgrade', UPGRADE, 'error', 'answered 101, a change of protocol that was not asked for'],
    ['without Upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', 'status', 'answered 101'],
  ])('if the answer is 101 Switching Protocols %s', async (_, text, kind, detail) => {
    const { result, closed } = await meet((tls) => tls.write(text));
    expect(result).toMatchObject({ kind, detail, isVerified: true });
    await closed;
  });

  it('if informational answers do not end, before its time is over', async () => {
    const { result } = await meet((tls) => tls.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(9)));
    expect(result).toMatchObject({ kind: 'error', detail: 'more than 8 informational answers' });
  });

  it('if the server asks for another handshake, and goes on when it answers all the same', async () => {
    const renegotiate = (tls: TLSSocket): void => void tls.renegotiate({}, () => undefined);
    const { result } = await meet(renegotiate, { maxVersion: 'TLSv1.2' });
    expect(result === 'none' ? result : result.kind).toMatch(/^(error|tls|timeout)$/);
  });
});
