import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NamespaceProcess } from '../../../test/kit/namespace-process.ts';
import { NetworkNamespace } from '../../../test/kit/network-namespace.ts';
import type { HeldConnections } from './testing/held-connections.ts';

const module = new URL('./testing/held-connections.ts', import.meta.url);

describe('TCP connections of a process that does not answer', () => {
  const made: NetworkNamespace[] = [];
  let server: NamespaceProcess<HeldConnections>;
  let observer: NamespaceProcess<HeldConnections>;
  let client: NamespaceProcess<HeldConnections>;

  beforeAll(async () => {
    const master = NetworkNamespace.create('frozen');
    made.push(master);
    const other = NetworkNamespace.create('client');
    made.push(other);
    master.ip('link', 'add', 'e0', 'type', 'veth', 'peer', 'name', 'e0', 'netns', other.name);
    for (const [namespace, number] of [
      [master, 1],
      [other, 2],
    ] as const) {
      namespace.ip('address', 'add', `10.0.0.${number}/24`, 'dev', 'e0');
      namespace.ip('address', 'add', `fd00::${number}/64`, 'dev', 'e0', 'nodad');
      namespace.ip('link', 'set', 'e0', 'up');
    }
    master.ip('address', 'add', '10.100.0.1/32', 'dev', 'lo');
    master.ip('address', 'add', 'fd00:100::1/128', 'dev', 'lo');
    other.ip('route', 'add', '10.100.0.1', 'via', '10.0.0.1');
    other.ip('route', 'add', 'fd00:100::1', 'via', 'fd00::1');
    [server, observer, client] = await Promise.all([
      master.start<HeldConnections>(module),
      master.start<HeldConnections>(module),
      other.start<HeldConnections>(module),
    ]);
    // As kube-apiserver listens: one socket for both IP versions.
    await server.run(({ serve }) => serve('::', 6443));
    await server.run(({ serve }) => serve('10.100.0.1', 443));
  });

  afterEach(async () => {
    process.kill(server.pid, 'SIGCONT');
    await client.run(({ release }) => release());
    // Nothing else closes the half-closed ones.
    await observer.run(({ SockDiag }) => {
      const diag = new SockDiag();
      for (const address of ['10.100.0.1', 'fd00:100::1', '10.0.0.1', 'fd00::1'])
        for (const port of [443, 6443]) {
          for (const one of diag.connections({ address, port })) diag.destroy(one);
        }
      diag.close();
    });
  });

  afterAll(async () => {
    await Promise.all(made.map((namespace) => namespace.remove()));
  });

  const list = (address: string, port: number): Promise<string[]> =>
    observer.run(
      ({ SockDiag }, endpoint) => {
        const diag = new SockDiag();
        const found = diag.connections(endpoint);
        diag.close();
        return found.map(
          (one) => `${one.localAddress} ${one.localPort} ${one.remoteAddress} ${one.remotePort} ${one.state}`,
        );
      },
      { address, port },
    );

  const destroyAll = (address: string, port: number): Promise<boolean[]> =>
    observer.run(
      ({ SockDiag }, endpoint) => {
        const diag = new SockDiag();
        const done = diag.connections(endpoint).map((one) => diag.destroy(one));
        diag.close();
        return done;
      },
      { address, port },
    );

  const hold = (address: string, port: number, count: number): Promise<number[]> =>
    client.run((subject, target) => subject.hold(target.address, target.port, target.count), {
      address,
      port,
      count,
    });

  it.each([
    ['10.100.0.1', 443, '10.0.0.2'],
    ['10.100.0.1', 6443, '10.0.0.2'],
    ['fd00:100::1', 6443, 'fd00::2'],
  ])('are found by their local end %s port %i, and no others', async (address, port, from) => {
    const [first] = await hold(address, port, 1);
    await hold('10.0.0.1', 6443, 1);
    await hold('fd00::1', 6443, 1);
    expect(await list(address, port)).toEqual([`${address} ${port} ${from} ${first} established`]);
    expect(await list(address, 1)).toEqual([]);
    expect(await list('10.100.0.2', port)).toEqual([]);
  });

  it('are found when the client has closed its side, and the process has not', async () => {
    const [port = 0] = await hold('10.100.0.1', 6443, 1);
    await client.run(({ halfClose }, which) => halfClose(which), port);
    await expect
      .poll(() => list('10.100.0.1', 6443))
      .toEqual([`10.100.0.1 6443 10.0.0.2 ${port} close-wait`]);
  });

  it.each([
    ['10.100.0.1', 443],
    ['10.100.0.1', 6443],
    ['fd00:100::1', 6443],
  ])(
    'to %s port %i are reset: each client hears it at once, those in the backlog too',
    async (address, port) => {
      await hold(address, port, 20);
      await expect.poll(() => server.run(({ acceptedCount }) => acceptedCount())).toBeGreaterThanOrEqual(20);
      process.kill(server.pid, 'SIGSTOP');
      // The kernel of a frozen server goes on accepting for it.
      await hold(address, port, 5);
      await hold('10.0.0.1', 6443, 1);
      const started = performance.now();
      expect(await destroyAll(address, port)).toEqual(Array(25).fill(true));
      await client.run(({ untilEnded }) => untilEnded(25, 2_000));
      expect(performance.now() - started).toBeLessThan(1_000);
      const ends = await client.run((subject) => subject.ends());
      expect(ends.slice(0, 25).map((end) => end?.code)).toEqual(Array(25).fill('ECONNRESET'));
      // The client of the node's own address is left alone.
      expect(ends[25]).toBeUndefined();
      expect(await list(address, port)).toEqual([]);
    },
  );

  it('that ended meanwhile are no error', async () => {
    await hold('10.100.0.1', 6443, 1);
    const done = await observer.run(({ SockDiag }) => {
      const diag = new SockDiag();
      const [one] = diag.connections({ address: '10.100.0.1', port: 6443 });
      if (one === undefined) throw new Error('not found');
      const results = [diag.destroy(one), diag.destroy(one)];
      diag.close();
      return results;
    });
    expect(done).toEqual([true, false]);
  });
});
