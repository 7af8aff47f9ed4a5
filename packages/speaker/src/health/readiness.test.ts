import type { ProbeResult } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { afterProbe, type Readiness, unknownReadiness } from './readiness.ts';

const thresholds = { rise: 2, fall: 3, unauthenticated: 'reject' } as const;

function result(fields: Omit<ProbeResult, 'isVerified' | 'warnings'> & Partial<ProbeResult>): ProbeResult {
  return { isVerified: true, warnings: [], ...fields };
}

const ok = result({ kind: 'ok', status: 200, tookMs: 1, detail: '200' });
const red = result({ kind: 'status', status: 500, failing: ['etcd'], tookMs: 1, detail: '500: etcd' });
const shutdown = result({
  kind: 'status',
  status: 500,
  failing: ['etcd', 'shutdown'],
  tookMs: 1,
  detail: '500',
});
const forbidden = result({ kind: 'unauthorized', status: 403, tookMs: 1, detail: '403' });
const slow = result({ kind: 'timeout', tookMs: 1000, detail: 'no answer in 1 s' });
const refused = result({ kind: 'refused', tookMs: 1, detail: 'ECONNREFUSED', isVerified: false });
const otherCa = result({
  kind: 'tls',
  tookMs: 1,
  detail: 'unable to verify the first certificate',
  isVerified: false,
});
const endless = result({ kind: 'error', tookMs: 1, detail: 'the answer is larger than 65536 octets' });
const cut = result({ kind: 'error', tookMs: 1, detail: 'reset in the handshake', isVerified: false });

const shortage = result({ kind: 'shortage', tookMs: 1, detail: 'connect EMFILE', isVerified: false });

function after(...results: readonly ProbeResult[]): Readiness {
  return results.reduce((before, result) => afterProbe(before, result, thresholds), unknownReadiness);
}

describe('readiness', () => {
  it('is ready after rise green probes in a row, not before', () => {
    expect(after(ok).level).toBe('unknown');
    expect(after(ok, red, ok).level).toBe('unknown');
    expect(after(ok, ok).level).toBe('ready');
  });

  it('overlooks fewer than fall failures', () => {
    expect(after(ok, ok, red, red, ok).level).toBe('ready');
    expect(after(ok, ok, refused, refused, ok).level).toBe('ready');
  });

  it('fails softly when the API server answers anything but 200, or too late', () => {
    expect(after(ok, ok, red, slow, red).level).toBe('soft');
  });

  it('fails softly when it is this cluster by TLS, whatever it says then: an endless answer, or no HTTP', () => {
    expect(after(ok, ok, endless, endless, endless).level).toBe('soft');
    expect(after(ok, ok, cut, cut, cut).level).toBe('hard');
  });

  it('fails softly, never hard, while this process cannot ask, and says so', () => {
    const { level, detail } = after(ok, ok, ...Array<ProbeResult>(10).fill(shortage));
    expect({ level, detail }).toEqual({
      level: 'soft',
      detail: 'the API server cannot be asked: connect EMFILE',
    });
    expect(after(ok, ok, shortage, shortage, shortage, ok, ok).level).toBe('ready');
  });

  it('fails hard when the port is closed, or when another CA answers', () => {
    expect(after(ok, ok, refused, refused, refused).level).toBe('hard');
    expect(after(ok, ok, otherCa, otherCa, otherCa).level).toBe('hard');
  });

  it('needs fall hard failures in a row to leave the last resort', () => {
    expect(after(red, red, red, refused, refused).level).toBe('soft');
    expect(after(red, red, red, refused, refused, refused).level).toBe('hard');
  });

  it('is a last resort when an API server that is back answers but is not ready', () => {
    expect(after(refused, refused, refused, red, red, red).level).toBe('soft');
  });

  it('sees an API server that shuts down at first sight', () => {
    expect(after(ok, ok, shutdown).level).toBe('stopping');
  });

  it('stays with an API server that shuts down until its port is closed or a new one is ready', () => {
    expect(after(ok, ok, shutdown, slow, slow, slow).level).toBe('stopping');
    expect(after(ok, ok, shutdown, refused).level).toBe('stopping');
    // It answers what is under way for a while.
    expect(after(ok, ok, shutdown, refused, refused, refused)).toMatchObject({
      level: 'stopping',
      isPortClosed: true,
    });
    expect(after(ok, ok, shutdown, otherCa, otherCa, otherCa).level).toBe('hard');
  });

  it('is judged anew once another one answers on the port that was closed', () => {
    expect(after(ok, ok, shutdown, refused, red).level).toBe('soft');
    expect(after(ok, ok, shutdown, refused, forbidden).level).toBe('unauthorized');
    expect(after(ok, ok, shutdown, refused, ok).level).toBe('stopping');
    expect(after(ok, ok, shutdown, refused, ok, ok).level).toBe('ready');
    expect(after(ok, ok, shutdown, ok, ok).level).toBe('ready');
  });

  it('tells at once that the port is closed', () => {
    expect(after(ok, ok, shutdown, refused).isPortClosed).toBe(true);
    expect(after(ok, ok, shutdown, slow).isPortClosed).toBe(false);
  });

  it('does not take 401 and 403 for ready, and says what is needed', () => {
    const { level, detail } = after(forbidden, forbidden, forbidden);
    expect(level).toBe('unauthorized');
    expect(detail).toContain('anonymous access is off');
  });

  it('takes 401 and 403 for ready where the configuration says so, and still sees everything else', () => {
    const accepting = { ...thresholds, unauthenticated: 'accept' } as const;
    const seen = (...results: readonly ProbeResult[]): Readiness =>
      results.reduce((before, one) => afterProbe(before, one, accepting), unknownReadiness);
    expect(seen(forbidden, forbidden)).toMatchObject({
      level: 'ready',
      detail: expect.stringContaining('"unauthenticated: accept"'),
    });
    expect(seen(forbidden, forbidden, red, red, red).level).toBe('soft');
    expect(seen(forbidden, forbidden, refused, refused, refused).level).toBe('hard');
  });

  it('is not changed by what a ready server is warned of, but says it', () => {
    const warned = { ...ok, warnings: ['the certificate does not name kubernetes'] };
    expect(after(warned, warned)).toMatchObject({
      level: 'ready',
      detail: 'the API server is ready; the certificate does not name kubernetes',
    });
  });
});
