import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('macvlan devices in the kernel', () => {
  const test = useNamespace('macvlan', (namespace) => {
    addVeth(namespace, '10.0.0.1/24', 'fd00::1/64');
    namespace.ip('link', 'add', 'br0', 'type', 'bridge');
    namespace.ip('link', 'set', 'v1', 'master', 'br0');
  });

  it('are made with their address and note, answer for others, and go', async () => {
    const seen = await test.inside.run(({ linux, linkIndex }) => {
      const route = new linux.RouteSocket();
      const find = () => route.links().find(({ name }) => name === 'mv0');
      route.addMacvlan({ name: 'mv0', parent: linkIndex('v0'), address: '02:b1:0a:00:00:64' });
      const index = linkIndex('mv0');
      route.setLinkAlias(index, 'a note');
      const down = find();
      route.setLinkUp(index);
      const up = find();
      for (const address of ['10.0.0.100', 'fd00::100']) {
        route.setNeighborProxy({ index, address }, 84);
        route.setNeighborProxy({ index, address }, 84);
      }
      const proxies = route.neighborProxies().map(({ index: at, address }) => [at === index, address]);
      route.deleteNeighborProxy({ index, address: '10.0.0.100' });
      const left = route.neighborProxies().map(({ address }) => address);
      route.deleteLink(index);
      const result = { down, up, proxies, left, gone: find(), none: route.neighborProxies() };
      route.close();
      return { ...result, parent: linkIndex('v0') };
    });
    const made = { kind: 'macvlan', address: '02:b1:0a:00:00:64', alias: 'a note', parent: seen.parent };
    expect(seen.down).toMatchObject({ ...made, isUp: false });
    expect(seen.up).toMatchObject({ ...made, isUp: true });
    expect(seen.proxies.toSorted()).toEqual([
      [true, '10.0.0.100'],
      [true, 'fd00::100'],
    ]);
    expect(seen).toMatchObject({ left: ['fd00::100'], none: [] });
    expect(seen.gone).toBeUndefined();
  });

  it('are refused on the port of a bridge, and with what is no address', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const make = (parent: string, address: string) =>
        thrownBy(() => route.addMacvlan({ name: 'mv1', parent: linkIndex(parent), address }));
      const result = { port: make('v1', '02:b1:0a:00:00:64'), address: make('v0', '02:b1:0a') };
      const absent = thrownBy(() => route.deleteLink(4711));
      route.close();
      return { ...result, absent };
    });
    expect(seen.port).toMatchObject({ errno: 'EBUSY' });
    expect(seen.address?.['message']).toContain('"02:b1:0a"; allowed are six octets');
    expect(seen.absent).toMatchObject({ errno: 'ENODEV' });
  });
});
