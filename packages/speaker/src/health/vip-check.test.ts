import type { ProbeResult } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { judgeVipCheck } from './vip-check.ts';

const answer: ProbeResult = {
  kind: 'ok',
  status: 200,
  tookMs: 1,
  detail: 'answered 200',
  isVerified: true,
  warnings: [],
  certificate: {
    subjectAltNames: ['kubernetes', '10.0.0.100', '*.example.net'],
    validFrom: '2026-01-01T00:00:00.000Z',
    validTo: '2027-01-01T00:00:00.000Z',
  },
};

function check(name: string, changes: Partial<ProbeResult> = {}): string {
  return judgeVipCheck('10.0.0.100:443', name, { ...answer, ...changes }).check;
}

describe('the check of the VIP on this host', () => {
  it('passes when a server of this cluster answers with the name that clients use', () => {
    expect(check('10.0.0.100')).toBe('passed');
    expect(check('API.example.net')).toBe('passed');
  });

  it('passes whatever the server says: readiness is another matter', () => {
    expect(check('10.0.0.100', { kind: 'status', status: 500 })).toBe('passed');
    expect(check('10.0.0.100', { kind: 'unauthorized', status: 403 })).toBe('passed');
    expect(check('10.0.0.100', { kind: 'timeout' })).toBe('passed');
  });

  it('finds a certificate without the name', () => {
    expect(check('10.0.0.101')).toBe('wrong-certificate');
    expect(check('a.api.example.net')).toBe('wrong-certificate');
    expect(check('example.net')).toBe('wrong-certificate');
  });

  it('fails when nobody answers, or a server of another cluster', () => {
    const { certificate: _, ...silent } = answer;
    expect(judgeVipCheck('x', '10.0.0.100', { ...silent, kind: 'refused', isVerified: false }).check).toBe(
      'failed',
    );
    expect(check('10.0.0.100', { kind: 'tls', isVerified: false })).toBe('failed');
    expect(check('10.0.0.100', { kind: 'timeout', isVerified: false })).toBe('failed');
  });
});
