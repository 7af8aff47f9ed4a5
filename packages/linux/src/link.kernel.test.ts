import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('links in the kernel', () => {
  const test = useNamespace('link', (namespace) => {
    addVeth(namespace);
    namespace.ip('link', 'add', 'br0', 'type', 'bridge');
    namespace.ip('link', 'set', 'v1', 'address', '02:00:00:00:00:01', 'mtu', '1400', 'master', 'br0');
  });

  it('lists name, kind, address, MTU and master', async () => {
    const links = await test.inside.run(({ linux }) => {
      const route = new linux.RouteSocket();
      const found = route.links();
      route.close();
      return found;
    });
    const bridge = links.find(({ name }) => name === 'br0');
    expect(links.map(({ name }) => name).toSorted()).toEqual(['br0', 'lo', 'v0', 'v1']);
    expect(links.find(({ name }) => name === 'lo')).toMatchObject({ isLoopback: true, isUp: true });
    expect(bridge).toMatchObject({ kind: 'bridge', isUp: false, operState: 'down' });
    expect(links.find(({ name }) => name === 'v1')).toMatchObject({
      kind: 'veth',
      address: '02:00:00:00:00:01',
      mtu: 1400,
      master: bridge?.index,
      isUp: true,
    });
  });

  it('tells carrier from administrative state', async () => {
    const read = () =>
      test.inside.run(({ linux }) => {
        const route = new linux.RouteSocket();
        const v0 = route.links().find(({ name }) => name === 'v0');
        route.close();
        return v0;
      });
    expect(await read()).toMatchObject({ isUp: true, hasCarrier: true });
    test.namespace.ip('link', 'set', 'v1', 'down');
    expect(await read()).toMatchObject({ isUp: true, hasCarrier: false });
    test.namespace.ip('link', 'set', 'v1', 'up');
  });

  it('sets and reads the ARP settings of one interface, as /proc/sys shows them', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const index = linkIndex('v0');
      route.setLinkIpv4Conf(index, { arpIgnore: 1, arpAnnounce: 2 });
      const result = {
        conf: route.linkIpv4Conf(index),
        other: route.linkIpv4Conf(linkIndex('v1')),
        ignore: linux.readSysctl('net.ipv4.conf.v0.arp_ignore'),
        announce: linux.readSysctl('net.ipv4.conf.v0.arp_announce'),
        absent: thrownBy(() => route.linkIpv4Conf(4711)),
      };
      route.close();
      return result;
    });
    expect(seen.conf).toMatchObject({ arpIgnore: 1, arpAnnounce: 2, proxyArp: 0 });
    expect(seen.other).toMatchObject({ arpIgnore: 0, arpAnnounce: 0 });
    expect(seen).toMatchObject({ ignore: '1', announce: '2', absent: { errno: 'ENODEV' } });
  });

  it('reads each setting from its own place', async () => {
    const names = {
      forwarding: 'forwarding',
      proxyArp: 'proxy_arp',
      acceptRedirects: 'accept_redirects',
      sendRedirects: 'send_redirects',
      rpFilter: 'rp_filter',
      arpAnnounce: 'arp_announce',
      arpIgnore: 'arp_ignore',
      acceptLocal: 'accept_local',
      srcValidMark: 'src_valid_mark',
      proxyArpPvlan: 'proxy_arp_pvlan',
      routeLocalnet: 'route_localnet',
      ignoreRoutesWithLinkdown: 'ignore_routes_with_linkdown',
    };
    const wrong = await test.inside.run(({ linux, linkIndex }, files) => {
      const route = new linux.RouteSocket();
      const index = linkIndex('v1');
      const differing: string[] = [];
      for (const [name, file] of Object.entries(files)) {
        const setting = `net.ipv4.conf.v1.${file}`;
        const before = linux.readSysctl(setting);
        linux.writeSysctl(setting, before === '0' ? 1 : 0);
        const conf = Object.entries(route.linkIpv4Conf(index)).find(([known]) => known === name);
        if (String(conf?.[1]) !== linux.readSysctl(setting)) differing.push(name);
        linux.writeSysctl(setting, before);
      }
      route.close();
      return differing;
    }, names);
    expect(wrong).toEqual([]);
  });

  it('shows the neighbors of an interface', async () => {
    test.namespace.ip(
      'neigh',
      'replace',
      '10.5.0.9',
      'lladdr',
      '02:00:00:00:00:09',
      'dev',
      'v0',
      'nud',
      'permanent',
    );
    const neighbors = await test.inside.run(({ linux, linkIndex }) => {
      const route = new linux.RouteSocket();
      const found = route.neighbors(linkIndex('v0'));
      route.close();
      return found;
    });
    expect(neighbors).toContainEqual({
      index: expect.any(Number),
      address: '10.5.0.9',
      linkLayerAddress: '02:00:00:00:00:09',
      state: 'permanent',
    });
  });
});
