import { readFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import type { ProbeResult } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { checkVip, judgeVipCheck } from './vip-check.ts';

const answer: ProbeResult = {
  kind: 'ok',
  status: 200,
  tookMs: 1,
  detail: 'answered 200',
  isVerified: true,
  warnings: [],
};

function check(changes: Partial<ProbeResult> = {}): string {
  return judgeVipCheck('10.0.0.100:443', '10.0.0.100', { ...answer, ...changes }).check;
}

describe('the check of the VIP on this host', () => {
  it('passes when a server of this cluster answers with the name that clients use, whatever it says', () => {
    expect(check()).toBe('passed');
    expect(check({ kind: 'status', status: 500 })).toBe('passed');
    expect(check({ kind: 'unauthorized', status: 403 })).toBe('passed');
    expect(check({ kind: 'timeout' })).toBe('passed');
    expect(check({ kind: 'error', code: 'EMSGSIZE' })).toBe('passed');
  });

  it('finds a certificate without the name, and names those that it has', () => {
    const certificate = { subjectAltNames: ['kubernetes', '10.0.0.11'], validFrom: '', validTo: '' };
    const code = 'ERR_TLS_CERT_ALTNAME_INVALID';
    expect(
      judgeVipCheck('x', 'api.example.net', { ...answer, kind: 'tls', isVerified: false, code, certificate }),
    ).toEqual({
      check: 'wrong-certificate',
      detail: "the API server's certificate lacks the name api.example.net (it has kubernetes, 10.0.0.11)",
    });
  });

  it('fails when nobody answers, or a server of another cluster', () => {
    expect(check({ kind: 'refused', isVerified: false })).toBe('failed');
    expect(check({ kind: 'tls', isVerified: false })).toBe('failed');
    expect(check({ kind: 'timeout', isVerified: false })).toBe('failed');
  });

  it('ends, and passes, when a server of this cluster changes the protocol instead of answering', async () => {
    const authority = new TestCa();
    const { key, cert } = authority.serving(['IP:127.0.0.1']);
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) =>
      socket.on('error', () => undefined).once('data', () => socket.write(switching)),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    try {
      const vip = { address: '127.0.0.1', port, machinePort: port };
      const ca = (): string => authority.certificate;
      const checked = await checkVip({ vip, path: '/readyz', endpoint: undefined, ca, timeout: 2000 });
      expect(checked.check).toBe('passed');
    } finally {
      server.close();
    }
  });
});
