import { describe, expect, it } from 'vitest';
import { serverAddresses, useTcpPeers } from './testing/use-tcp-peers.ts';

describe('TCP sockets', () => {
  const peers = useTcpPeers();

  it('honours the backlog', async () => {
    const { server, serverNamespace } = peers.current;
    const port = await server.run(async ({ linuxSockets }) => {
      const listener = await linuxSockets.listen({ address: '10.9.0.1', port: 0, backlog: 1024 }, () => {});
      return listener.port;
    });
    const [, , backlog] = serverNamespace
      .execute('ss', '-H', '-l', '-t', '-n', `sport = :${port}`)
      .split(/\s+/);
    expect(backlog).toBe('1024');
  });

  it('lets 0.0.0.0 and :: listen on one port, and gives the port back on close', async () => {
    const seen = await peers.current.server.run(async ({ linuxSockets, rejectionOf }) => {
      const options = { port: 1179, backlog: 8 };
      const ipv4 = await linuxSockets.listen({ address: '0.0.0.0', ...options }, () => {});
      const ipv6 = await linuxSockets.listen({ address: '::', ...options }, () => {});
      const taken = await rejectionOf(linuxSockets.listen({ address: '::', ...options }, () => {}));
      await ipv4.close();
      await ipv6.close();
      const both = await linuxSockets.listen({ address: '::', ...options }, () => {});
      const covered = await rejectionOf(linuxSockets.listen({ address: '0.0.0.0', ...options }, () => {}));
      await both.close();
      return [taken?.['code'], covered?.['code']];
    });
    expect(seen).toEqual(['EADDRINUSE', 'EADDRINUSE']);
  });

  it.each(['10.9.7.1', 'fd00:9:7::1'])('listens on %s before this host has it', async (address) => {
    const { server, client, serverNamespace, clientNamespace } = peers.current;
    const port = await server.run(({ listen }, to) => listen(to), address);
    const isIpv6 = address.includes(':');
    const prefix = `${address}/${isIpv6 ? 128 : 32}`;
    serverNamespace.ip('address', 'add', prefix, 'dev', 'v0', ...(isIpv6 ? ['nodad'] : []));
    clientNamespace.ip('route', 'add', prefix, 'via', serverAddresses[isIpv6 ? 6 : 4]);
    const outcome = await client.run(
      ({ linuxSockets, exchange }, to) => exchange(linuxSockets.open(to.address, {}), to.port, to.address),
      { address, port },
    );
    serverNamespace.ip('address', 'delete', prefix, 'dev', 'v0');
    clientNamespace.ip('route', 'delete', prefix);
    expect(outcome).toBe('ping');
  });

  it.each([
    { version: 4, trafficClass: [0, 1] },
    { version: 6, trafficClass: [41, 67] },
  ] as const)(
    'gives IPv$version packets network control precedence, a user timeout and no delay',
    async (example) => {
      const { server, client } = peers.current;
      const address = serverAddresses[example.version];
      const port = await server.run(({ listen }) => listen('::', { userTimeout: 9000 }));
      const ours = await client.run(
        async ({ linuxSockets, hold, heldOption }, to) => {
          await hold(linuxSockets.open(to.address, { userTimeout: 8000 }), to.port, to.address);
          const [level, name] = to.trafficClass;
          return [heldOption(level, name), heldOption(6, 18), heldOption(6, 1)];
        },
        { address, port, trafficClass: example.trafficClass },
      );
      const theirs = await server.run(async ({ acceptedOption, seen, until }, [level, name]) => {
        await until(() => seen().connections === 1, 5000);
        return [acceptedOption(level, name), acceptedOption(6, 18), acceptedOption(6, 1)];
      }, example.trafficClass);
      expect(ours).toEqual([0xc0, 8000, 1]);
      expect(theirs).toEqual([0xc0, 9000, 1]);
    },
  );

  it('connects from the source address it is told, and says so when that is not ours', async () => {
    const { server, client } = peers.current;
    const port = await server.run(({ listen }) => listen('0.0.0.0'));
    const source = await client.run(
      async ({ linuxSockets, hold, heldAddress }, to) => {
        await hold(linuxSockets.open(to.address, { localAddress: '10.9.0.3' }), to.port, to.address);
        return heldAddress();
      },
      { address: serverAddresses[4], port },
    );
    const foreign = await client.run(({ linuxSockets, thrownBy }) =>
      thrownBy(() => linuxSockets.open('10.9.0.1', { localAddress: '192.0.2.1' })),
    );
    expect(source).toBe('10.9.0.3');
    expect(foreign).toMatchObject({ name: 'SystemCallError', code: 'EADDRNOTAVAIL', syscall: 'bind' });
  });

  it('connects to and from link-local addresses with a zone', async () => {
    const { server, client, serverNamespace, clientNamespace } = peers.current;
    serverNamespace.ip('address', 'add', 'fe80::aa/64', 'dev', 'v0', 'nodad');
    clientNamespace.ip('address', 'add', 'fe80::bb/64', 'dev', 'v0', 'nodad');
    const port = await server.run(async ({ listen, setPassword }) => {
      const opened = await listen('fe80::aa%v0', { ttlSecurityHops: 1, password: 'key' });
      setPassword('fe80::bb', 'key');
      return opened;
    });
    const outcome = await client.run(({ linuxSockets, exchange }, to) => {
      const options = { localAddress: 'fe80::bb%v0', password: 'key', ttlSecurityHops: 1 };
      return exchange(linuxSockets.open('fe80::aa%v0', options), to, 'fe80::aa%v0');
    }, port);
    expect(outcome).toBe('ping');
  });

  it('marks packets, so that a rule sends them by another table', async () => {
    const { server, client } = peers.current;
    const port = await server.run(({ listen }) => listen('0.0.0.0'));
    const outcomes = await client.run(
      async ({ openTcpSocket, exchange, RouteSocket }, to) => {
        const route = new RouteSocket();
        const rule = { version: 4, priority: 100, mark: 7, table: 1007 } as const;
        route.setRoute({ destination: '10.9.0.1/32', table: 1007, protocol: 84, type: 'unreachable' });
        route.addRule(rule);
        const seen = [
          await exchange(openTcpSocket(to.address, { mark: 7 }), to.port, to.address),
          await exchange(openTcpSocket(to.address, { mark: 8 }), to.port, to.address),
        ];
        route.deleteRule(rule);
        route.close();
        return seen;
      },
      { address: serverAddresses[4], port },
    );
    expect(outcomes).toEqual(['EHOSTUNREACH', 'ping']);
  });

  it('keeps a socket to one interface', async () => {
    const { server, client } = peers.current;
    const port = await server.run(({ listen }) => listen('0.0.0.0'));
    const seen = await client.run(
      async ({ openTcpSocket, exchange, thrownBy }, to) => ({
        right: await exchange(openTcpSocket(to.address, { device: 'v0' }), to.port, to.address),
        absent: thrownBy(() => openTcpSocket(to.address, { device: 'absent0' })),
      }),
      { address: serverAddresses[4], port },
    );
    expect(seen.right).toBe('ping');
    expect(seen.absent).toMatchObject({ code: 'ENODEV', syscall: 'setsockopt(SO_BINDTODEVICE)' });
  });

  it('waits to be connected as long as one likes, with its options', async () => {
    const { server, client } = peers.current;
    const port = await server.run(({ listen }) => listen('0.0.0.0'));
    const seen = await client.run(
      async ({ linuxSockets, hold, heldOption }, to) => {
        const socket = linuxSockets.open(to.address, { userTimeout: 8000 });
        await new Promise((resolve) => setTimeout(resolve, 50));
        await hold(socket, to.port, to.address);
        return heldOption(6, 18);
      },
      { address: serverAddresses[4], port },
    );
    expect(seen).toBe(8000);
  });

  it('refuses to connect without its options: once closed, or to another address', async () => {
    const errors = await peers.current.client.run(({ linuxSockets, thrownBy }) => {
      const closed = linuxSockets.open('10.9.0.1', { password: 'key' });
      closed.destroy();
      const open = linuxSockets.open('10.9.0.1', { password: 'key' });
      const messages = [
        thrownBy(() => closed.connect(9, '10.9.0.1')),
        thrownBy(() => open.connect(9, '10.9.0.9')),
        thrownBy(() => open.connect({ port: 9, host: 'localhost' })),
        thrownBy(() => open.connect(9)),
      ].map((error) => error?.['message']);
      open.destroy();
      return messages;
    });
    expect(errors).toEqual([
      'the socket for 10.9.0.1 is closed and its options with it: open another',
      'this socket was opened for 10.9.0.1, not for 10.9.0.9',
      'this socket was opened for 10.9.0.1, not for localhost',
      'this socket was opened for 10.9.0.1, not for undefined',
    ]);
  });

  it('fails with ECONNREFUSED as Node does, and closes its descriptor', async () => {
    const seen = await peers.current.client.run(
      async ({ openTcpSocket, exchange, openDescriptors, until }, address) => {
        const before = openDescriptors();
        const codes = new Set<string>();
        for (let attempt = 0; attempt < 20; attempt++)
          codes.add(await exchange(openTcpSocket(address), 9, address));
        await until(() => openDescriptors() === before, 2000);
        return [...codes];
      },
      serverAddresses[4],
    );
    expect(seen).toEqual(['ECONNREFUSED']);
  });
});
