import { describe, expect, it } from 'vitest';
import { readinessAnswer } from './readiness.ts';

describe('what /readyz answers', () => {
  it('is the two letters ok when all checks pass', () => {
    expect(readinessAnswer([], false)).toEqual({ status: 200, body: 'ok' });
  });

  it('lists every check on request', () => {
    const { status, body } = readinessAnswer([], true);
    expect(status).toBe(200);
    expect(body).toMatch(/^\[\+\]ping ok\n(\[\+\].* ok\n)+readyz check passed\n$/);
  });

  it('is a 500 that names the failing checks among the good ones', () => {
    const { status, body } = readinessAnswer(['etcd', 'poststarthook/other'], false);
    expect(status).toBe(500);
    expect(body.split('\n').filter((line) => line.startsWith('[-]'))).toEqual([
      '[-]etcd failed: reason withheld',
      '[-]poststarthook/other failed: reason withheld',
    ]);
    expect(body).toMatch(/\[\+\]ping ok\n[\s\S]*readyz check failed\n$/);
  });
});
