import { describe, expect, it } from 'vitest';
import { serverAddresses, useTcpPeers } from './testing/use-tcp-peers.ts';

const netstatName = 'TCPMinTTLDrop';
const optionLevel = { ip: 0, ipv6: 41 } as const;
const minTtl = { ip: 21, ipv6: 73 } as const;

describe('GTSM between two of our sockets', () => {
  const peers = useTcpPeers();

  const listen = (address: string, ttlSecurityHops?: number) =>
    peers.current.server.run(
      ({ listen: start }, { on, hops }) => start(on, hops === undefined ? {} : { ttlSecurityHops: hops }),
      {
        on: address,
        hops: ttlSecurityHops,
      },
    );

  it.each([
    { listener: '10.9.0.1', address: serverAddresses[4] },
    { listener: 'fd00:9::1', address: serverAddresses[6] },
    { listener: '::', address: serverAddresses[4] },
    { listener: '::', address: serverAddresses[6] },
  ])('connects $address on $listener when both ends have it', async ({ listener, address }) => {
    const port = await listen(listener, 1);
    const outcome = await peers.current.client.run(
      ({ linuxSockets, exchange }, to) =>
        exchange(linuxSockets.open(to.address, { ttlSecurityHops: 1 }), to.port, to.address),
      { address, port },
    );
    expect(outcome).toBe('ping');
  });

  it.each([
    { listener: '10.9.0.1', address: serverAddresses[4] },
    { listener: 'fd00:9::1', address: serverAddresses[6] },
    { listener: '::', address: serverAddresses[4] },
  ])('drops what arrives at $listener from $address with TTL 64', async ({ listener, address }) => {
    const { server, client } = peers.current;
    const port = await listen(listener, 1);
    await client.run(({ openTcpSocket, hold }, to) => hold(openTcpSocket(to.address), to.port, to.address), {
      address,
      port,
    });
    const before = await server.run(async ({ counter, seen, until }, name) => {
      await until(() => seen().connections === 1, 5000);
      return counter(name);
    }, netstatName);
    await client.run(({ writeHeld }) => writeHeld('from far away'));
    const seen = await server.run(
      async ({ counter, seen: look, until }, { name, from }) => {
        await until(() => counter(name) > from, 5000);
        return look();
      },
      { name: netstatName, from: before },
    );
    expect(seen).toEqual({ connections: 1, received: '' });
  });

  it('hears a listener that has no neighbor yet, since its SYN-ACK leaves with TTL 255', async () => {
    const port = await listen('::');
    const outcome = await peers.current.client.run(
      ({ linuxSockets, exchange }, to) =>
        exchange(linuxSockets.open(to.address, { ttlSecurityHops: 1 }), to.port, to.address),
      { address: serverAddresses[4], port },
    );
    expect(outcome).toBe('ping');
  });

  it('does not connect to a server that answers with TTL 64', async () => {
    const { client } = peers.current;
    // The kernel's own RST for a closed port leaves with the default TTL of the namespace, which is 64.
    const outcome = await client.run(
      ({ linuxSockets, exchange, counter }, { address, name }) => {
        const before = counter(name);
        const dropped = (): string | undefined => (counter(name) > before ? 'dropped' : undefined);
        return exchange(linuxSockets.open(address, { ttlSecurityHops: 1 }), 9, address, dropped);
      },
      { address: serverAddresses[4], name: netstatName },
    );
    expect(outcome).toBe('dropped');
  });

  it.each([
    { hops: 1, least: 255 },
    { hops: 3, least: 253 },
    { hops: 254, least: 2 },
  ])('demands a TTL of $least from a neighbor $hops hops away', async ({ hops, least }) => {
    for (const [address, level, name] of [
      [serverAddresses[4], optionLevel.ip, minTtl.ip],
      [serverAddresses[6], optionLevel.ipv6, minTtl.ipv6],
    ] as const) {
      const port = await listen('::', hops);
      await peers.current.client.run(
        ({ linuxSockets, hold }, to) => hold(linuxSockets.open(to.address, {}), to.port, to.address),
        { address, port },
      );
      const value = await peers.current.server.run(
        async ({ acceptedOption, seen, until }, option) => {
          await until(() => seen().connections === 1, 5000);
          return acceptedOption(option.level, option.name);
        },
        { level, name },
      );
      expect(value).toBe(least);
    }
  });

  it('refuses a number of hops that cannot be', async () => {
    const errors = await peers.current.client.run(({ linuxSockets, thrownBy }) =>
      [0, 255, 1.5].map(
        (hops) => thrownBy(() => linuxSockets.open('10.9.0.1', { ttlSecurityHops: hops }))?.['message'],
      ),
    );
    expect(errors).toEqual([0, 255, 1.5].map((hops) => `TTL security hops: ${hops}; allowed are 1 to 254`));
  });
});
