import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NamespaceProcess } from '../../../test/kit/namespace-process.ts';
import { cable, NetworkNamespace } from '../../../test/kit/network-namespace.ts';
import type { UdpPeer } from './testing/udp-peer.ts';

const families = [
  { version: 4, here: '10.9.0.1', there: '10.9.0.2' },
  { version: 6, here: 'fd00:9::1', there: 'fd00:9::2' },
] as const;

describe('UDP for BFD', () => {
  const namespaces: NetworkNamespace[] = [];
  let here: NamespaceProcess<UdpPeer>;
  let there: NamespaceProcess<UdpPeer>;

  beforeAll(async () => {
    const left = NetworkNamespace.create('udp-left');
    namespaces.push(left);
    const right = NetworkNamespace.create('udp-right');
    namespaces.push(right);
    cable(
      {
        namespace: left,
        device: 'v0',
        addresses: families.map(({ version, here: ip }) => `${ip}/${version === 4 ? 24 : 64}`),
      },
      {
        namespace: right,
        device: 'v0',
        addresses: families.map(({ version, there: ip }) => `${ip}/${version === 4 ? 24 : 64}`),
      },
    );
    const module = new URL('./testing/udp-peer.ts', import.meta.url);
    [here, there] = await Promise.all([left.start<UdpPeer>(module), right.start<UdpPeer>(module)]);
  });

  afterEach(async () => {
    await Promise.all([here.run(({ closeAll }) => closeAll()), there.run(({ closeAll }) => closeAll())]);
  });

  afterAll(async () => {
    await Promise.all(namespaces.map((namespace) => namespace.remove()));
  });

  it.each(families)(
    'takes IPv$version datagrams with TTL 255 alone',
    async ({ version, here: target, there: source }) => {
      await here.run(({ receive }, family) => receive(family, 3784, true), version);
      await there.run(
        ({ sendPlain }, { family, address }) =>
          sendPlain(family, { address, port: 3784 }, [
            { ttl: 254, text: 'from two hops away' },
            { ttl: 64, text: 'from anywhere' },
            { ttl: 1, text: 'from nearby' },
            { ttl: 255, text: 'from the next hop' },
          ]),
        { family: version, address: target },
      );
      // The last one sent is the only one allowed: when it is there, the others had their time.
      const seen = await here.run(({ until, seen: look }) => until(() => look().length > 0 && look(), 5000));
      expect(seen).toEqual([{ text: 'from the next hop', from: source }]);
    },
  );

  it.each(families)(
    'takes IPv$version datagrams with any TTL where BFD is multihop',
    async ({ version, here: target }) => {
      await here.run(({ receive }, family) => receive(family, 4784, false), version);
      await there.run(
        ({ sendPlain }, { family, address }) =>
          sendPlain(family, { address, port: 4784 }, [{ ttl: 64, text: 'from afar' }]),
        { family: version, address: target },
      );
      const seen = await here.run(({ until, seen: look }) => until(() => look().length > 0 && look(), 5000));
      expect(seen).toMatchObject([{ text: 'from afar' }]);
    },
  );

  it.each([
    { version: 4, target: '127.0.0.1', source: '127.0.0.1' },
    { version: 6, target: '::1', source: '::1' },
  ] as const)('reads together what waits over IPv$version', async ({ version, target, source }) => {
    const seen = await here.run(
      async ({ receive, sendOnce, turn, seen: look }, { of, address }) => {
        receive(of, 3784, true);
        await turn();
        const ports = new Set<number>();
        for (let n = 0; n < 100; n += 1) ports.add(sendOnce(address, 3784, `number ${n}`));
        // libuv alone reads 32 in a turn, and the first of these two may have no poll phase.
        await turn();
        await turn();
        return look();
      },
      { of: version, address: target },
    );
    expect(seen).toEqual(Array.from({ length: 100 }, (_, n) => ({ text: `number ${n}`, from: source })));
  });

  it('tells link-local sources with their interface, also of those that it reads together', async () => {
    const seen = await here.run(async ({ receive, sendOnce, seen: look, until, linkLocalAddress }) => {
      const address = await until(() => linkLocalAddress('v0'), 5000);
      receive(6, 3784, true);
      for (let n = 0; n < 3; n += 1) sendOnce(address, 3784, String(n));
      await until(() => look().length === 3, 5000);
      return { address, from: look().map(({ from }) => from) };
    });
    expect(seen.from).toEqual([seen.address, seen.address, seen.address]);
  });

  it.each(families)(
    'is heard by its own kind over IPv$version: it sends with TTL 255',
    async ({ version, here: target }) => {
      await here.run(({ receive }, family) => receive(family, 3784, true), version);
      await there.run(({ sendOnce }, address) => sendOnce(address, 3784, 'hello'), target);
      const seen = await here.run(({ until, seen: look }) => until(() => look().length > 0 && look(), 5000));
      expect(seen).toMatchObject([{ text: 'hello' }]);
    },
  );

  it('sends each session from a port of its own, in the range of RFC 5881', async () => {
    const ports = await there.run(({ linuxUdpSockets }, address) => {
      const senders = [1, 2, 3].map(() => linuxUdpSockets.open({ remoteAddress: address, remotePort: 3784 }));
      for (const sender of senders) sender.close();
      return senders.map(({ port }) => port);
    }, families[0].here);
    expect(new Set(ports).size).toBe(3);
    for (const port of ports) expect(port).toBeGreaterThanOrEqual(49_152);
  });

  it.each(families)('sends IPv$version in traffic class CS6', async ({ version, here: target }) => {
    const family = version === 4 ? 'ip' : 'ip6';
    const nft = (command: string): string => namespaces[0]?.execute('nft', ...command.split(' ')) ?? '';
    nft(`add table ${family} look`);
    nft(`add chain ${family} look input { type filter hook input priority 0 ; }`);
    nft(`add rule ${family} look input ${family} dscp cs6 udp dport 3784 udp sport 49152-65535 counter`);
    await here.run(({ receive }, of) => receive(of, 3784, true), version);
    await there.run(({ sendOnce }, address) => sendOnce(address, 3784, 'hello'), target);
    await here.run(({ until, seen: look }) => until(() => look().length > 0, 5000));
    expect(nft(`list table ${family} look`)).toContain('counter packets 1 ');
  });

  it('says what it could not have', async () => {
    const errors = await here.run(({ linuxUdpSockets, receive, thrownBy }) => {
      receive(4, 3784, true);
      const remote = { remoteAddress: '10.9.0.2', remotePort: 3784 };
      return [
        thrownBy(() =>
          linuxUdpSockets.receive(
            { version: 4, port: 3784, onlyTtl255: true },
            () => {},
            () => {},
          ),
        ),
        thrownBy(() => linuxUdpSockets.open({ ...remote, localAddress: '192.0.2.1' })),
        thrownBy(() => linuxUdpSockets.open({ ...remote, device: 'absent0' })),
        thrownBy(() =>
          linuxUdpSockets.open({ ...remote, remoteAddress: '198.51.100.1' }).send(new Uint8Array(24)),
        ),
      ].map((error) => error?.['code']);
    });
    expect(errors).toEqual(['EADDRINUSE', 'EADDRNOTAVAIL', 'ENODEV', 'ENETUNREACH']);
  });

  it('leaves no descriptor behind, after success and after failure', async () => {
    const left = await here.run(async ({ linuxUdpSockets, openDescriptors, thrownBy, until }) => {
      const cycle = (): void => {
        const options = { version: 6, port: 3784, onlyTtl255: true } as const;
        const one = linuxUdpSockets.receive(
          options,
          () => {},
          () => {},
        );
        thrownBy(() =>
          linuxUdpSockets.receive(
            options,
            () => {},
            () => {},
          ),
        );
        thrownBy(() =>
          linuxUdpSockets.open({ remoteAddress: '10.9.0.2', remotePort: 1, localAddress: '192.0.2.1' }),
        );
        linuxUdpSockets.open({ remoteAddress: 'fd00:9::2', remotePort: 3784 }).close();
        one.close();
        one.close();
      };
      cycle();
      const before = openDescriptors();
      for (let round = 0; round < 10; round += 1) cycle();
      await until(() => openDescriptors() <= before, 3000);
      return openDescriptors() - before;
    });
    expect(left).toBeLessThanOrEqual(0);
  });
});
