/** Redirects (RFC 4861 section 8) that would lead clients past the load balancer, to one master. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  interfaceAddress,
  loadBalancerNumber,
  localAsn,
  masterNumber,
  vipOf,
  vipPrefixOf,
} from '../../scripts/lab/addresses.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { startMaster, waitForAllActive } from '../kit/cluster.ts';

/** The link-local address that a host has by the hardware address of its eth0, which ends in its number (RFC 4291 appendix A). */
const linkLocal = (number: number): string => `fe80::62:67ff:fe70:${number.toString(16)}%eth0`;

describe('a client on the link of the masters, whose next hops are link-local', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.create({
      families: ['ipv6'],
      masters: 2,
      controlPlane: 'stand-in',
      password: null,
      bfd: null,
      speaker: { routers: [{ address: linkLocal(loadBalancerNumber(1)), asn: localAsn }] },
    });
    const { client, lb } = lab;
    await lab.switch.plug([
      {
        port: 'client-masters',
        bridge: 'masters',
        namespace: client.namespace,
        device: 'eth1',
        hostNumber: 2,
      },
    ]);
    await client.exec(['ip', 'link', 'set', 'eth1', 'up']);
    await client.exec([
      'ip',
      'address',
      'add',
      interfaceAddress('ipv6', 'masters', 2),
      'dev',
      'eth1',
      'nodad',
    ]);
    await client.exec(['ip', 'route', 'add', vipPrefixOf('ipv6'), 'via', lb.address, 'dev', 'eth1']);
    const neighbors = lab.masters.map(({ name }, index) => ({
      name,
      role: 'master',
      address: linkLocal(masterNumber(index + 1)),
      asn: localAsn,
      bfd: false,
    }));
    lb.writeConfig({ neighbors });
    await lb.router.start();
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    await waitForAllActive(lab, 60_000);
  }, 120_000);
  afterAll(async () => {
    await lab?.destroy();
  });

  it('is never told to send to one of them, and goes on by the load balancer', async () => {
    const served = new Set<string>();
    for (let i = 0; i < 60; i++) {
      const { ok, master } = await lab.client.request({ timeout: 10_000 });
      expect(ok).toBe(true);
      served.add(String(master));
    }
    const [route] = await lab.client.ipJson<{ gateway: string }[]>(...['-6', 'route', 'get', vipOf('ipv6')]);
    expect(route).toMatchObject({ gateway: lab.lb.address });
    expect([...served].sort()).toEqual(['m1', 'm2']);
    const sent = await lab.lb.exec(['nft', 'list', 'chain', 'inet', 'bgp_lb_router', 'redirects']);
    expect(sent).toMatch(/nd-redirect .* counter packets [1-9]/);
  });
});
