import { isIPv4 } from 'node:net';
import { AddressFlag, type InterfaceAddress, RouteSocket } from '@bgp-lb/linux';
import { afterAll, describe, expect, it } from 'vitest';
import { globalOnLinkOf, hostFacts, linkLocalTowards } from './host-facts.ts';

/** The loopback interface is all that is asked about. */
const routes = new RouteSocket();
afterAll(() => routes.close());

function config(address: string): Parameters<typeof hostFacts>[0] {
  return {
    apiServer: {
      address,
      serverName: 'kubernetes',
      caFile: '/etc/kubernetes/pki/ca.crt',
      path: '/readyz',
      interval: 200,
      timeout: 1000,
      rise: 2,
      fall: 3,
      unauthenticated: 'reject' as const,
    },
    routers: [],
    routerId: undefined,
    vips: [{ address: '192.0.2.100', port: 6443, machinePort: 6443 }],
  };
}

describe('the node address', () => {
  it('is the configured one when this host has it', async () => {
    expect(await hostFacts(config('127.0.0.2'), routes, 1)).toEqual({
      nodeAddress: '127.0.0.2',
      routerId: '127.0.0.2',
    });
  });

  it('is refused when another machine has it, whose API server would be taken for ours', async () => {
    await expect(hostFacts(config('192.0.2.1'), routes, 1)).rejects.toThrow(
      'apiServer.address is 192.0.2.1, which is not an address of this host',
    );
  });

  it('is waited for while a machine boots', async () => {
    let looks = 0;
    const booting: Pick<RouteSocket, 'routeTo'> = {
      routeTo: () => {
        looks += 1;
        return routes.routeTo(looks < 2 ? '192.0.2.1' : '127.0.0.2');
      },
    };
    const facts = await hostFacts(config('127.0.0.2'), booting, 2);
    expect(facts.nodeAddress).toBe('127.0.0.2');
  });
});

describe('the BGP Identifier', () => {
  /** All addresses are this host's. */
  const anywhere: Pick<RouteSocket, 'routeTo'> = {
    routeTo: () => ({ interfaceIndex: 1, type: 'local', table: 255 }),
  };
  const idOf = async (address: string): Promise<string> =>
    (await hostFacts(config(address), anywhere, 1)).routerId;

  it('is made of the IPv6 address of a node that has no other: the same each time, and another on each node', async () => {
    const ids = await Promise.all(['fd00::11', 'fd00::12', 'fd00::13', 'fd00::11'].map(idOf));
    expect(ids.every(isIPv4)).toBe(true);
    expect(new Set(ids).size).toBe(3);
    expect(ids[3]).toBe(ids[0]);
  });

  it('is the configured one in any case', async () => {
    const facts = await hostFacts({ ...config('fd00::11'), routerId: '10.0.0.11' }, anywhere, 1);
    expect(facts.routerId).toBe('10.0.0.11');
  });
});

describe('the link-local address beside an IPv6 next hop', () => {
  const common = { index: 2, prefixLength: 64, flags: 0 } as const;
  const forever = { validLifetime: 0xffff_ffff, preferredLifetime: 0xffff_ffff } as const;
  const addresses = (): InterfaceAddress[] => [
    { ...common, ...forever, scope: 'global', address: '2001:db8::2' },
    { ...common, ...forever, scope: 'link', address: 'fe80::2' },
  ];
  const route = { interfaceIndex: 2, type: 'unicast', table: 254 } as const;

  it('is that of the link that the router is on, and none for a router behind a gateway', () => {
    const onLink = { routeTo: () => route, addresses };
    expect(linkLocalTowards(onLink, '2001:db8::1')).toBe('fe80::2');
    const behind = { routeTo: () => ({ ...route, gateway: 'fe80::1' }), addresses };
    expect(linkLocalTowards(behind, '2001:db8:1::1')).toBeUndefined();
  });

  it.each(['Tentative', 'DadFailed'] as const)('is not one that may be of another host: %s', (flag) => {
    const unsure = () => addresses().map((one) => ({ ...one, flags: AddressFlag[flag] }));
    expect(linkLocalTowards({ routeTo: () => route, addresses: unsure }, '2001:db8::1')).toBeUndefined();
  });

  it('has a global one beside it in its turn, where the link of a link-local router has one to rely on', () => {
    const routes = { routeTo: () => route, addresses };
    expect(globalOnLinkOf(routes, 'fe80::1%eth0')).toBe('2001:db8::2');
    const old = () => addresses().map((one) => ({ ...one, flags: AddressFlag.Deprecated }));
    expect(globalOnLinkOf({ ...routes, addresses: old }, 'fe80::1%eth0')).toBeUndefined();
    const only = () => addresses().filter(({ scope }) => scope === 'link');
    expect(globalOnLinkOf({ ...routes, addresses: only }, 'fe80::1%eth0')).toBeUndefined();
  });
});
