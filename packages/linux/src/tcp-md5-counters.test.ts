import { describe, expect, it } from 'vitest';
import { parseNetstat, tcpMd5Counters } from './tcp-md5-counters.ts';

describe('the TCP-MD5 counters', () => {
  it('are numbers, from zero on', () => {
    for (const value of Object.values(tcpMd5Counters())) expect(value).toBeGreaterThanOrEqual(0);
  });

  it('are found by name in their group', () => {
    const text = 'TcpExt: A TCPMD5Failure B\nTcpExt: 1 9 3\nIpExt: TCPMD5Failure\nIpExt: 5\n';
    expect(parseNetstat(text, 'TcpExt').get('TCPMD5Failure')).toBe(9);
    expect(parseNetstat(text, 'TcpExt').get('absent')).toBeUndefined();
    expect(parseNetstat('', 'TcpExt').size).toBe(0);
  });
});
