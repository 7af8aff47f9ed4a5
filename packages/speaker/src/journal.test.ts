import { createLogger } from '@bgp-lb/daemon';
import type { Peer } from '@bgp-lb/protocol/node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Journal } from './journal.ts';
import type { MetricsSource } from './metrics.ts';

let lines: Record<string, unknown>[];
let journal: Journal;

beforeEach(() => {
  lines = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const source: MetricsSource = {
    vips: () => [],
    isReady: () => true,
    isBootstrapped: () => true,
    isDrained: () => false,
    routers: () => [],
    bfd: async () => undefined,
  };
  journal = new Journal(createLogger('info', { destination }), source, '1.2.3');
});
afterEach(() => journal.close());

it('writes of one router that flaps, and of a kernel that refuses, only so much, and says at the end how much is missing', () => {
  const router = { address: '10.0.0.10' } as Peer;
  for (let n = 0; n < 1000; n++) {
    journal.sessionEstablished(router);
    journal.sessionLost(router, { kind: 'notification-received', text: 'Cease', pathsKept: false });
    journal.peerEvent(router, { type: 'notification-received', code: 6, subcode: 2, text: 'Cease' });
    journal.kernelFailed(new Error('no memory'));
    journal.kernelRepaired('address', 'the VIP was gone');
  }
  expect(lines).toHaveLength(5 * 60);
  expect(journal.events.recent()).toHaveLength(4 * 60);
  // Another router is heard all the same.
  journal.sessionEstablished({ address: '10.0.0.20' } as Peer);
  expect(lines.at(-1)?.['msg']).toBe('BGP session with 10.0.0.20 established');
  journal.close();
  const missing = lines.slice(5 * 60 + 1);
  expect(missing.map(({ kind, count }) => [kind, count])).toEqual([
    ['session-established', 940],
    ['session-down', 940],
    ['notification-received', 940],
    ['kernel-failed', 940],
    ['kernel-repaired', 940],
  ]);
});
