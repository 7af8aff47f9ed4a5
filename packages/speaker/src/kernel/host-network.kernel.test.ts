import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { field, type LineProcess, NetworkNamespace } from '../testing/network-namespace.ts';

const VIP = '10.100.0.1';
const driver = new URL('../testing/host-network-process.ts', import.meta.url).pathname;

let client: NetworkNamespace;
let master: NetworkNamespace;

beforeEach(() => {
  client = new NetworkNamespace('client');
  master = new NetworkNamespace('master');
  client.connect('e0', master);
  client.ip('address', 'add', '10.9.0.1/24', 'dev', 'e0');
  master.ip('address', 'add', '10.9.0.2/24', 'dev', 'e0');
  client.ip('route', 'add', VIP, 'via', '10.9.0.2');
  master.ip('route', 'add', 'default', 'via', '10.9.0.1');
});

afterEach(async () => {
  await Promise.all([client.remove(), master.remove()]);
});

function start(port = 6443, address = VIP): LineProcess {
  return master.start(driver, JSON.stringify([{ address, port, machinePort: 6443 }]));
}

async function bind(process: LineProcess, ...bound: string[]): Promise<void> {
  process.send({ bound });
  expect(await process.next(field('done'))).toEqual(bound);
}

/** Connects from the client's namespace: the first line of the answer, or the error's code, within two seconds. */
function connect(port: number, from = client, address = VIP): string {
  const script = `
    const s = require('node:net').connect(${port}, '${address}');
    s.on('data', (d) => { console.log(String(d)); process.exit(0); });
    s.on('error', (e) => { console.log(e.code); process.exit(0); });
    setTimeout(() => { console.log('no answer'); process.exit(0); }, 2000);`;
  return from.run(process.execPath, '-e', script).trim();
}

/** Octets that the client sends to the VIP in a segment at most, from this address of its own. */
function segmentOf(source: string): number {
  const script = `
    const s = require('node:net').connect({ host: '${VIP}', port: 6443, localAddress: '${source}' });
    s.on('connect', () => {
      const { execFileSync } = require('node:child_process');
      console.log(String(execFileSync('ss', ['-Htin', 'dst', '${VIP}'])));
      process.exit(0);
    });`;
  return Number(/\bmss:(\d+)/.exec(client.run(process.execPath, '-e', script))?.[1]);
}

async function serve(): Promise<void> {
  const server = master.start(new URL('../testing/echo-address.ts', import.meta.url).pathname, '6443');
  await server.next(field('listening'));
}

/** The VIP's entry of `ip address show dev lo`. */
function leaseOf(vip: string): Record<string, unknown> | undefined {
  const [lo] = JSON.parse(master.ip('-json', 'address', 'show', 'dev', 'lo')) as [
    { addr_info: Record<string, unknown>[] },
  ];
  return lo.addr_info.find((entry) => entry['local'] === vip);
}

describe('the VIP on lo', () => {
  it('is a lease that is never chosen as a source', async () => {
    const process = start();
    await bind(process, VIP);
    expect(leaseOf(VIP)).toMatchObject({ prefixlen: 32, preferred_life_time: 0 });
    expect(leaseOf(VIP)?.['valid_life_time']).toBeGreaterThan(85);
    expect(leaseOf(VIP)?.['valid_life_time']).toBeLessThanOrEqual(90);
  });

  it('is removed when it is not wanted, with addresses of ours that are no VIP any more, and nothing else', async () => {
    await bind(start(6443, '10.100.0.7'), '10.100.0.7');
    master.ip('address', 'add', `${VIP}/32`, 'dev', 'lo');
    master.ip('address', 'add', '10.100.0.8/32', 'dev', 'lo');
    await bind(start());
    expect(leaseOf(VIP)).toBeUndefined();
    expect(leaseOf('10.100.0.7')).toBeUndefined();
    expect(leaseOf('10.100.0.8')).toBeDefined();
  });

  it('comes back when somebody deletes it, and that is told', async () => {
    const process = start();
    await bind(process, VIP);
    master.ip('address', 'del', `${VIP}/32`, 'dev', 'lo');
    process.send({ pass: 'full' });
    expect(await process.next(field('done'))).toEqual([VIP]);
    expect(await process.next(field('repaired'))).toBe(`address: put ${VIP} on lo`);
  });

  it('stays where a predecessor put it, without a moment in between', async () => {
    await bind(start(), VIP);
    const monitor = master.start(new URL('../testing/address-monitor.ts', import.meta.url).pathname);
    await monitor.next(field('monitoring'));
    await bind(start(), VIP);
    master.ip('address', 'add', '10.100.0.9/32', 'dev', 'lo');
    expect(await monitor.next(field('change'))).toBe('set 10.100.0.9');
  });
});

describe('the guard', () => {
  it.each(['0', '1'])('refuses misdirected connections at once with ip_forward=%s', async (forward) => {
    await bind(start());
    master.run('sysctl', '-qw', `net.ipv4.ip_forward=${forward}`);
    expect(connect(6443)).toBe('ECONNREFUSED');
    expect(connect(22)).toBe('ECONNREFUSED');
  });

  it('lets connections to a bound VIP pass', async () => {
    await serve();
    await bind(start(), VIP);
    expect(connect(6443)).toBe(`${VIP}:6443`);
  });

  it('lets the packets of pods to the VIP pass to the routers', async () => {
    await bind(start());
    const pod = new NetworkNamespace('pod');
    try {
      pod.connect('p0', master);
      pod.ip('address', 'add', '10.8.0.2/24', 'dev', 'p0');
      pod.ip('route', 'add', 'default', 'via', '10.8.0.1');
      master.ip('address', 'add', '10.8.0.1/24', 'dev', 'p0');
      master.run('sysctl', '-qw', 'net.ipv4.ip_forward=1');
      client.ip('route', 'add', '10.8.0.0/24', 'via', '10.9.0.2');
      client.ip('route', 'del', VIP);
      client.ip('address', 'add', `${VIP}/32`, 'dev', 'lo');
      const server = client.start(new URL('../testing/echo-address.ts', import.meta.url).pathname, '6443');
      await server.next(field('listening'));
      expect(connect(6443, pod)).toBe(`${VIP}:6443`);
    } finally {
      await pod.remove();
    }
  });

  it('comes back when somebody deletes or changes the table', async () => {
    const process = start();
    await bind(process);
    for (const change of [
      ['delete', 'table', 'inet', 'bgp_lb_speaker'],
      ['flush', 'chain', 'inet', 'bgp_lb_speaker', 'guard'],
    ]) {
      master.run('nft', ...change);
      process.send({ pass: 'full' });
      await process.next(field('done'));
      expect(await process.next(field('repaired'))).toContain('nftables: replaced the table');
      expect(connect(6443)).toBe('ECONNREFUSED');
    }
  });

  it('has clients send no more in a segment than the link to the router takes, whatever link answers leave by', async () => {
    await serve();
    client.connect('e1', master);
    client.ip('address', 'add', '10.9.0.3/32', 'dev', 'lo');
    master.ip('route', 'add', '10.9.0.3', 'dev', 'e0');
    master.ip('route', 'add', '10.9.0.1', 'dev', 'e1');
    const speaker = start();
    await bind(speaker, VIP);
    expect(segmentOf('10.9.0.3')).toBe(1448);
    master.ip('link', 'set', 'e1', 'mtu', '1280');
    speaker.send({ pass: 'event' });
    await speaker.next(field('done'));
    // Less 12 octets of the timestamp option.
    expect(segmentOf('10.9.0.3')).toBe(1228);
  });

  it('knows the links towards the routers, and a new one after the next pass', async () => {
    const process = start();
    process.send({ bound: [] });
    expect(await process.next(field('uplinks'))).toEqual(['e0']);
    client.connect('e1', master);
    master.ip('route', 'add', '10.9.0.1', 'dev', 'e1');
    process.send({ pass: 'full' });
    expect(await process.next(field('uplinks'))).toEqual(['e0', 'e1']);
  });
});

describe('the port mapping', () => {
  const mapped = 'inet bgp_lb_speaker mapped4';

  it('leads the VIP port to the API server, for clients and for this host, only while the VIP is bound', async () => {
    await serve();
    const process = start(443);
    await bind(process, VIP);
    expect(connect(443)).toBe(`${VIP}:6443`);
    expect(connect(443, master)).toBe(`${VIP}:6443`);
    await bind(process);
    expect(connect(443)).toBe('ECONNREFUSED');
    const table = master.run('nft', 'list', 'table', 'inet', 'bgp_lb_speaker');
    expect(table).not.toContain('elements = { 10.100.0.1 . 443');
  });

  it.each(['lease', 'full'])('is a lease that each %s pass renews', async (pass) => {
    const process = start(443);
    await bind(process, VIP);
    master.run(
      'nft',
      `delete element ${mapped} { ${VIP} . 443 }; add element ${mapped} { ${VIP} . 443 timeout 40s }`,
    );
    process.send({ pass });
    await process.next(field('done'));
    expect(master.run('nft', `list set ${mapped}`)).toMatch(
      /10\.100\.0\.1 \. 443 timeout 1m30s expires 1m[0-9]+s/,
    );
  });

  it('is read back after a change by somebody else, and not after the renewal of its own lease', async () => {
    const process = start(443);
    await bind(process, VIP);
    process.send({ keep: true });
    await process.next(field('keeping'));
    // It renews mapping and address, and the kernel tells of both: what follows is for the address alone.
    process.send({ pass: 'lease' });
    expect(await process.next(field('passed'))).toBe('lease');
    expect(await process.next(field('passed'))).toBe('event');
    master.run('nft', `delete element ${mapped} { ${VIP} . 443 }`);
    expect(await process.next(field('passed'))).toBe('nft');
  });

  it('is made again with its table when the renewal of the lease finds none', async () => {
    const process = start(443);
    await bind(process, VIP);
    master.run('nft', 'delete table inet bgp_lb_speaker');
    process.send({ pass: 'lease' });
    await process.next(field('done'));
    expect(master.run('nft', `list set ${mapped}`)).toContain(`${VIP} . 443`);
  });

  it('does not exist when the ports are the same, so that no connection is tracked for it', async () => {
    await bind(start(), VIP);
    expect(master.run('nft', 'list', 'table', 'inet', 'bgp_lb_speaker')).not.toContain('type nat');
  });
});

describe('IPv6', () => {
  const VIP6 = '2001:db8:100::1';

  beforeEach(() => {
    client.ip('address', 'add', '2001:db8:9::1/64', 'dev', 'e0', 'nodad');
    master.ip('address', 'add', '2001:db8:9::2/64', 'dev', 'e0', 'nodad');
    client.ip('route', 'add', VIP6, 'via', '2001:db8:9::2');
    master.ip('route', 'add', 'default', 'via', '2001:db8:9::1');
  });

  it('has a VIP that is usable at once, mapped while it is bound, and guarded while it is not', async () => {
    await serve();
    const process = start(443, VIP6);
    await bind(process, VIP6);
    expect(leaseOf(VIP6)).toMatchObject({ prefixlen: 128, preferred_life_time: 0, nodad: true });
    expect(connect(443, client, VIP6)).toBe(`${VIP6}:6443`);
    expect(connect(443, master, VIP6)).toBe(`${VIP6}:6443`);
    await bind(process);
    expect(connect(443, client, VIP6)).toBe('ECONNREFUSED');
  });
});

describe('ARP', () => {
  it('is not answered for the VIP, and never asked with it as the sender', async () => {
    await bind(start(), VIP);
    expect(master.run('sysctl', '-n', 'net.ipv4.conf.e0.arp_ignore').trim()).toBe('1');
    expect(master.run('sysctl', '-n', 'net.ipv4.conf.e0.arp_announce').trim()).toBe('2');
  });

  it('is set again when somebody resets it, and a stricter setting is left alone', async () => {
    const process = start();
    await bind(process);
    master.run('sysctl', '-qw', 'net.ipv4.conf.e0.arp_ignore=0', 'net.ipv4.conf.e0.arp_announce=2');
    process.send({ pass: 'full' });
    await process.next(field('done'));
    expect(master.run('sysctl', '-n', 'net.ipv4.conf.e0.arp_ignore').trim()).toBe('1');
    master.run('sysctl', '-qw', 'net.ipv4.conf.e0.arp_ignore=2');
    process.send({ pass: 'full' });
    await process.next(field('done'));
    expect(master.run('sysctl', '-n', 'net.ipv4.conf.e0.arp_ignore').trim()).toBe('2');
  });
});
