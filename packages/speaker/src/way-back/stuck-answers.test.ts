import type { TcpConnection } from '@bgp-lb/linux';
import { describe, expect, it } from 'vitest';
import { stuckAnswers } from './stuck-answers.ts';

const connection = (remoteAddress: string, unacknowledged: number, resent: number): TcpConnection => ({
  ...{ localAddress: '10.100.0.1', localPort: 6443, remoteAddress, remotePort: 50_000, state: 'established' },
  ...{ unacknowledged, resent, identity: { family: 2, octets: new Uint8Array(48) } },
});

describe('answers that do not get to clients', () => {
  it('are large ones that are sent again and again: neither one loss nor a small one tells of the MTU', () => {
    const all = [
      connection('10.0.2.1', 3000, 4),
      connection('10.0.2.1', 1400, 3),
      connection('10.0.2.2', 9000, 7),
      connection('10.0.2.3', 3000, 2),
      connection('10.0.2.4', 100, 7),
      connection('10.0.2.5', 0, 0),
    ];
    expect(stuckAnswers(all)).toEqual({ connections: 3, clients: 2, of: 6 });
  });
});
