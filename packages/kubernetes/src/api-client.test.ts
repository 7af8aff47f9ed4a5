import { describe, expect, it } from 'vitest';
import type { ApiAccess } from './api-access.ts';
import { ApiClient } from './api-client.ts';
import { HeldClock } from './testing/held-clock.ts';

describe('credentials that a program gives', () => {
  it('are waited for once, however many requests give up meanwhile, and are asked for again after that', async () => {
    const waiting: ((access: ApiAccess) => void)[] = [];
    const open = (): Promise<ApiAccess> => new Promise((resolve) => waiting.push(resolve));
    const client = new ApiClient({ open, clock: new HeldClock() });
    for (let count = 0; count < 3; count += 1) {
      const request = new AbortController();
      const answer = client.get('/api', {}, request.signal);
      request.abort(new Error('no end within 60 s'));
      await expect(answer).rejects.toThrow('no end within 60 s');
    }
    expect(waiting).toHaveLength(1);
    waiting[0]?.({ servers: [], tls: {}, headers: {}, credential: { kind: 'none' } });
    await new Promise((resolve) => setImmediate(resolve));
    const next = client.get('/api', {}, new AbortController().signal);
    waiting[1]?.({ servers: [], tls: {}, headers: {}, credential: { kind: 'none' } });
    await expect(next).rejects.toThrow('no API server is configured or known');
  });

  it('that cannot be had are an error of the request, and no more', async () => {
    const open = (): never => {
      throw new Error('no such file');
    };
    const client = new ApiClient({ open, clock: new HeldClock() });
    await expect(client.get('/api', {}, new AbortController().signal)).rejects.toThrow('no such file');
  });
});
