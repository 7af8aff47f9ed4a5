import { listConformance, sessionConformance } from './testing/membership-conformance.ts';
import { MemoryList, MemorySessions } from './testing/memory-membership.ts';

const VIP = '10.100.0.1/32';

sessionConformance('memory', async () => {
  const source = new MemorySessions([VIP]);
  return {
    source,
    vip: VIP,
    otherVip: '10.100.0.2/32',
    async join(number, vips = []) {
      const nextHop = `10.0.0.1${number}`;
      source.join(nextHop, vips);
      return {
        nextHop,
        announce: (vip, intent = 'active') => source.announce(nextHop, vip, intent),
        withdraw: (vip) => source.withdraw(nextHop, vip, 'withdrawn'),
        die: async () => source.die(nextHop),
        leave: async () => source.leave(nextHop),
      };
    },
    close: async () => undefined,
  };
});

listConformance('memory', async () => {
  const source = new MemoryList('static', VIP);
  return {
    source,
    vip: VIP,
    write: async (members) => source.write(members),
    close: async () => undefined,
  };
});
