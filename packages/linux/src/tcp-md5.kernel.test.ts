import { describe, expect, it } from 'vitest';
import type { NeighborSocketOptions } from './index.ts';
import { clientAddresses, serverAddresses, useTcpPeers } from './testing/use-tcp-peers.ts';

interface Attempt {
  readonly address: string;
  readonly port: number;
  readonly options: NeighborSocketOptions;
}

describe('TCP-MD5 between two of our sockets', () => {
  const peers = useTcpPeers();

  const listen = (address: string, keys: Readonly<Record<string, string>>) =>
    peers.current.server.run(
      async ({ listen: start, setPassword }, { on, passwords }) => {
        const port = await start(on);
        for (const [prefix, password] of Object.entries(passwords)) setPassword(prefix, password);
        return port;
      },
      { on: address, passwords: keys },
    );

  const connect = (attempt: Attempt) =>
    peers.current.client.run(
      ({ linuxSockets, exchange }, { address, port, options }) =>
        exchange(linuxSockets.open(address, options), port, address),
      attempt,
    );

  /** Connects until the server's counter shows a dropped segment. */
  const refusedBy = async (counterName: string, attempt: Attempt) => {
    const { server, client } = peers.current;
    const before = await server.run(({ counter }, name) => counter(name), counterName);
    const outcome = client.run(({ linuxSockets, exchange }, { address, port, options }) => {
      Reflect.set(globalThis, 'isOver', false);
      return exchange(linuxSockets.open(address, options), port, address, () =>
        Reflect.get(globalThis, 'isOver') === true ? 'silence' : undefined,
      );
    }, attempt);
    await server.run(({ counter, until }, { name, from }) => until(() => counter(name) > from, 5000), {
      name: counterName,
      from: before,
    });
    await client.run(() => Reflect.set(globalThis, 'isOver', true));
    const { connections } = await server.run(({ seen }) => seen());
    return { outcome: await outcome, connections };
  };

  it.each([
    { listener: '10.9.0.1', peer: '10.9.0.2', address: serverAddresses[4] },
    { listener: '10.9.0.1', peer: '10.9.0.0/24', address: serverAddresses[4] },
    { listener: 'fd00:9::1', peer: 'fd00:9::2', address: serverAddresses[6] },
    { listener: 'fd00:9::1', peer: 'fd00:9::/64', address: serverAddresses[6] },
    { listener: '::', peer: '10.9.0.2', address: serverAddresses[4] },
    { listener: '::', peer: '10.9.0.0/24', address: serverAddresses[4] },
    { listener: '::', peer: 'fd00:9::2', address: serverAddresses[6] },
    { listener: '::', peer: '::/0', address: serverAddresses[6] },
  ])('connects $address with the key for $peer on $listener, and is silent with another', async (example) => {
    const { listener, peer, address } = example;
    const port = await listen(listener, { [peer]: 'the right key' });
    expect(await connect({ address, port, options: { password: 'the right key' } })).toBe('ping');
    await listen(listener, { [peer]: 'another key' }).then(async (other) => {
      const attempt = { address, port: other, options: { password: 'the right key' } };
      expect(await refusedBy('TCPMD5Failure', attempt)).toEqual({ outcome: 'silence', connections: 0 });
    });
  });

  it('is silent to a peer without a key, and to a key where none is set', async () => {
    const address = serverAddresses[4];
    const keyed = await listen('::', { '10.9.0.2': 'key' });
    expect(await refusedBy('TCPMD5NotFound', { address, port: keyed, options: {} })).toEqual({
      outcome: 'silence',
      connections: 0,
    });
    const plain = await listen('::', {});
    const attempt = { address, port: plain, options: { password: 'key' } };
    expect(await refusedBy('TCPMD5Unexpected', attempt)).toEqual({ outcome: 'silence', connections: 0 });
  });

  it('takes a replaced key, and none once it is removed', async () => {
    const address = serverAddresses[4];
    const port = await listen('0.0.0.0', { '10.9.0.0/24': 'old' });
    await peers.current.server.run(({ setPassword }) => setPassword('10.9.0.0/24', 'new'));
    expect(await connect({ address, port, options: { password: 'new' } })).toBe('ping');
    await peers.current.server.run(({ setPassword }) => setPassword('10.9.0.0/24', undefined));
    expect(await connect({ address, port, options: {} })).toBe('ping');
    const absent = await peers.current.server.run(({ setPassword, thrownBy }) =>
      thrownBy(() => setPassword('10.9.0.0/24', undefined)),
    );
    expect(absent).toMatchObject({
      name: 'SystemCallError',
      code: 'ENOENT',
      syscall: 'setsockopt(TCP_MD5SIG_EXT)',
    });
  });

  it('lets the key of an address win over that of its prefix', async () => {
    const port = await listen('0.0.0.0', { '10.9.0.0/24': 'for all', '10.9.0.2': 'for one' });
    const address = serverAddresses[4];
    const from = (localAddress: string, password: string) =>
      connect({ address, port, options: { localAddress, password } });
    expect(await from(clientAddresses[4], 'for one')).toBe('ping');
    expect(await from('10.9.0.3', 'for all')).toBe('ping');
  });

  it('holds an accepted connection to the key when the listener had none', async () => {
    const { server, client } = peers.current;
    const address = serverAddresses[4];
    const port = await server.run(({ listen: start }) => start('::', { password: 'key' }));
    await client.run(
      ({ linuxSockets, hold }, to) => hold(linuxSockets.open(to.address, {}), to.port, to.address),
      {
        address,
        port,
      },
    );
    const before = await server.run(async ({ counter, seen, until }) => {
      await until(() => seen().connections === 1, 5000);
      return counter('TCPMD5NotFound');
    });
    await client.run(({ writeHeld }) => writeHeld('unsigned'));
    await server.run(
      ({ counter, until }, from) => until(() => counter('TCPMD5NotFound') > from, 5000),
      before,
    );
    expect(await server.run(({ seen }) => seen())).toEqual({ connections: 1, received: '' });
  });

  it('takes passwords of 1 to 80 octets', async () => {
    const port = await listen('0.0.0.0', { '10.9.0.2': 'x'.repeat(80) });
    const address = serverAddresses[4];
    expect(await connect({ address, port, options: { password: 'x'.repeat(80) } })).toBe('ping');
    const errors = await peers.current.client.run(({ linuxSockets, thrownBy }) => [
      thrownBy(() => linuxSockets.open('10.9.0.1', { password: 'é'.repeat(41) })),
      thrownBy(() => linuxSockets.open('10.9.0.1', { password: '' })),
    ]);
    expect(errors[0]?.['message']).toBe(
      'the TCP-MD5 password for 10.9.0.1 has 82 octets; allowed are 1 to 80',
    );
    expect(errors[1]?.['message']).toMatch(/has 0 octets/);
  });
});
