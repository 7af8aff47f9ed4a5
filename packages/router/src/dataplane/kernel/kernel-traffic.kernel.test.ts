import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataPlaneProcess } from './testing/data-plane-process.ts';
import { LbNamespaces } from './testing/lb-namespaces.ts';
import { VipServers } from './testing/vip-servers.ts';

let lab: LbNamespaces;
let plane: DataPlaneProcess;
let servers: VipServers;

beforeEach(async () => {
  lab = new LbNamespaces(['client', 'm1', 'm2']);
  servers = new VipServers(lab);
  plane = await DataPlaneProcess.in(lab.lb);
  await plane.start();
});

afterEach(async () => {
  servers?.close();
  await plane?.kill();
  lab?.remove();
});

/** The client must not hold the VIP itself. */
function clientWithoutVip(): void {
  lab.exec('ip', '-n', lab.member('client').namespace, 'addr', 'del', '10.100.0.1/32', 'dev', 'lo');
}

describe('a socket through a member', () => {
  it.each(['0', '1', '2'])(
    'reaches that very member while the VIP is unreachable, with rp_filter %s',
    async (mode) => {
      await servers.serve('m1', 'm1');
      await servers.serve('m2', 'm2');
      lab.exec('sysctl', '-qw', `net.ipv4.conf.all.rp_filter=${mode}`);
      await plane.setProbed([lab.member('m1').address, lab.member('m2').address]);
      lab.exec('sysctl', '-qw', `net.ipv4.conf.to-m1.rp_filter=${mode}`);
      expect(await plane.probe(lab.member('m1').address)).toBe('m1');
      expect(await plane.probe(lab.member('m2').address)).toBe('m2');
    },
  );

  it('is refused by a member that does not serve, whoever else does', async () => {
    await servers.serve('m2', 'm2');
    await plane.setProbed([lab.member('m1').address, lab.member('m2').address]);
    await plane.setNextHops([{ nextHop: lab.member('m2').address, weight: 256 }]);
    expect(await plane.probe(lab.member('m1').address)).toBe('ECONNREFUSED');
    expect(await plane.probe(lab.member('m2').address)).toBe('m2');
  });

  it('never falls back to the pool when the link of its member is down', async () => {
    await servers.serve('m2', 'm2');
    await plane.setProbed([lab.member('m1').address, lab.member('m2').address]);
    await plane.setNextHops([{ nextHop: lab.member('m2').address, weight: 256 }]);
    lab.setCarrier('m1', 'down');
    // Before the data plane has heard of it, and after.
    expect(await plane.probe(lab.member('m1').address)).not.toBe('m2');
    await plane.event(({ text }) => text.includes('set-route') || text.includes('delete-route'));
    expect(await plane.probe(lab.member('m1').address)).toBe('NoWayError: no carrier on to-m1');
  });
});

describe('what passes towards the VIP', () => {
  it('is the port of the VIP and nothing else of the masters', async () => {
    clientWithoutVip();
    await servers.serve('m1', 'm1');
    await servers.serve('m1', 'm1', 10250);
    await plane.setNextHops([{ nextHop: lab.member('m1').address, weight: 256 }]);
    expect(await servers.connect('client', 6443)).toBe('m1');
    expect(await servers.connect('client', 10250)).toBe('ECONNREFUSED');
  });

  it('fails at once while the pool is empty', async () => {
    clientWithoutVip();
    await servers.serve('m1', 'm1');
    expect(['ECONNREFUSED', 'EHOSTUNREACH']).toContain(await servers.connect('client', 6443));
  });

  it('asks members for no larger segments than the link to them takes', async () => {
    clientWithoutVip();
    await servers.serveSegmentSize('m1');
    await plane.setNextHops([{ nextHop: lab.member('m1').address, weight: 256 }]);
    // Less 12 octets of the timestamp option.
    expect(await servers.connect('client', 6443)).toBe('1448');
    lab.ip('link', 'set', 'to-m1', 'mtu', '1280');
    expect(await servers.connect('client', 6443)).toBe('1228');
  });
});
