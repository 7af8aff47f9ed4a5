import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('file descriptors', () => {
  const test = useNamespace('descriptors', (namespace) => addVeth(namespace, '10.0.0.1/24'));

  it('are all closed again, after success and after failure', async () => {
    const seen = await test.inside.run(async ({ linux, thrownBy, rejectionOf, openDescriptors, until }) => {
      const cycle = async (): Promise<void> => {
        const route = new linux.RouteSocket();
        route.links();
        thrownBy(() => route.deleteNexthop(4711));
        route.close();
        route.close();
        new linux.RouteMonitor({ changed: () => {}, overflow: () => {}, error: () => {} }).close();
        for (const options of [
          { password: '' },
          { ttlSecurityHops: 999 },
          { localAddress: '192.0.2.1' },
          { userTimeout: -1 },
        ]) {
          thrownBy(() => linux.linuxSockets.open('10.0.0.9', options));
        }
        linux.linuxSockets.open('10.0.0.9', { password: 'key', ttlSecurityHops: 1 }).destroy();
        const listener = await linux.linuxSockets.listen({ address: '::', port: 1790, backlog: 8 }, () => {});
        await rejectionOf(linux.linuxSockets.listen({ address: '::', port: 1790, backlog: 8 }, () => {}));
        thrownBy(() => listener.setPassword('10.0.0.0/24', undefined));
        await listener.close();
        thrownBy(() => listener.setPassword('10.0.0.0/24', 'key'));
        const nftables = new linux.Nftables();
        await rejectionOf(nftables.apply([{ delete: { table: { family: 'inet', name: 'absent' } } }]));
        await rejectionOf(new linux.Nftables('no-such-nft').apply([]));
        linux.tcpMd5Counters();
        thrownBy(() => linux.writeSysctl('net.ipv4.ip_forward', 'maybe'));
      };
      // The first round opens what Node opens once.
      await cycle();
      await new Promise((resolve) => setTimeout(resolve, 50));
      const before = openDescriptors();
      for (let round = 0; round < 10; round++) await cycle();
      await until(() => openDescriptors() <= before, 3000);
      return openDescriptors() - before;
    });
    expect(seen).toBeLessThanOrEqual(0);
  });

  it('is closed by the flood that ends a monitor, and by the close that follows', async () => {
    const seen = await test.inside.run(async ({ linux, linkIndex, openDescriptors, until }) => {
      const route = new linux.RouteSocket();
      const index = linkIndex('v0');
      const before = openDescriptors();
      let overflows = 0;
      const overflow = (): void => {
        overflows += 1;
      };
      const handlers = { changed: () => {}, overflow, error: () => {} };
      const monitor = new linux.RouteMonitor(handlers, ['route'], { receiveBuffer: 4096, reopenDelay: 0 });
      for (let round = 1; round <= 5; round++) {
        for (let number = 0; number < 500; number++) {
          const destination = `10.50.${number >> 8}.${number & 255}/32`;
          route.setRoute({
            destination,
            protocol: 84,
            gateway: `10.0.0.${10 + round}`,
            interfaceIndex: index,
          });
        }
        await until(() => overflows === round, 3000);
      }
      const listening = openDescriptors() - before;
      monitor.close();
      await until(() => openDescriptors() === before, 3000);
      route.close();
      return { overflows, listening };
    });
    expect(seen).toEqual({ overflows: 5, listening: 1 });
  });
});
