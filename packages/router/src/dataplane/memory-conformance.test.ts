import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.ts';
import { dataPlaneConformance } from './testing/data-plane-conformance.ts';
import { MemoryDataPlane, MemoryHost } from './testing/memory-data-plane.ts';

const vip = { address: '10.100.0.1', port: 6443, machinePort: 6443 };
const VIP = '10.100.0.1/32';

const handlers = {
  forwarding: () => undefined,
  obstacle: () => undefined,
  link: () => undefined,
  configured: () => undefined,
  dissent: () => undefined,
  repaired: () => undefined,
  failing: () => undefined,
  operation: () => undefined,
};

dataPlaneConformance('memory', async () => {
  const host = new MemoryHost();
  const clock = new ManualClock();
  return {
    members: ['10.0.1.11', '10.0.2.11'],
    async launch() {
      const plane = new MemoryDataPlane(host, clock, [vip]);
      return {
        start: async () => (await plane.start(handlers)).get(VIP) ?? [],
        setCarried: async (isCarried) => plane.setVips(isCarried ? [vip] : []).get(VIP),
        setNextHops: async (nextHops) => plane.setNextHops(new Map([[VIP, nextHops]])),
        status: async () => plane.status({ shares: true }),
        stop: () => plane.stop(),
        kill: async () => undefined,
      };
    },
    connect: async () => host.connect(VIP),
    close: async () => undefined,
  };
});

it('forwards a VIP that is there no more for a moment only', async () => {
  const [host, clock] = [new MemoryHost(), new ManualClock()];
  const plane = new MemoryDataPlane(host, clock, [vip]);
  await plane.start(handlers);
  plane.setNextHops(new Map([[VIP, [{ nextHop: '10.0.1.11', weight: 256 }]]]));
  plane.setVips([]);
  expect(host.connect(VIP)).toBe('10.0.1.11');
  clock.advance(2000);
  expect(host.connect(VIP)).toBe('ECONNREFUSED');
});
