/** What keeps answers from clients stands in the speaker's status, as long as it is so. */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Finding } from '@bgp-lb/daemon';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from './testing/network-namespace.ts';
import { NODE, ROUTER, SpeakerLab, VIP } from './testing/speaker-lab.ts';

const TIMEOUT = 120_000;
const VIP6 = '2001:db8:100::1';

let lab: SpeakerLab;

beforeAll(async () => {
  lab = new SpeakerLab();
  lab.master.ip('address', 'add', '2001:db8:9::2/64', 'dev', 'e0', 'nodad');
  lab.master.ip('route', 'add', 'default', 'via', ROUTER);
  lab.master.ip('-6', 'route', 'add', 'default', 'via', '2001:db8:9::1', 'dev', 'e0');
  lab.master.run('sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0', 'net.ipv4.conf.e0.rp_filter=0');
  const password = `passwordFile: ${lab.path('password')}`;
  const port = 'port: 443, machinePort: 6443';
  lab.configure({
    vips: `[{ address: ${VIP}, ${port} }, { address: '${VIP6}', ${port} }]`,
    routers: `[{ address: ${ROUTER}, asn: 64512, ${password}, bfd: false }, { address: '2001:db8:9::1', asn: 64512, bfd: false }]`,
  });
  await lab.startApiServer(['DNS:kubernetes', `IP:${NODE}`, `IP:${VIP}`, `IP:${VIP6}`]);
  await lab.turn('ready');
  await lab.startRouter();
  lab.finishKubeadm();
  await lab.startSpeaker();
  await lab.until(({ vips }) => vips.every(({ bound }) => bound));
}, TIMEOUT);
afterAll(() => lab.remove(), TIMEOUT);

const said = async (): Promise<readonly string[]> =>
  (await lab.status()).kernel.wayBack.map(({ level, place, value }) => `${level} ${place}: ${value}`);

/** What the command finds, as JSON. */
function doctor(path = process.env['PATH'] ?? ''): string {
  const main = new URL('../../../dist/bgp-lb-speaker.mjs', import.meta.url).pathname;
  const command = `${process.execPath} ${main} doctor -o json --config ${lab.path('speaker.yaml')}`;
  return lab.master.run('env', `PATH=${path}`, 'sh', '-c', `${command} || true`);
}

describe('the way of answers to clients, in status', { timeout: TIMEOUT }, () => {
  it('says nothing where nothing is in it', async () => {
    expect(await said()).toEqual([]);
  });

  it.each([
    ['-4', VIP, 'IPv4'],
    ['-6', VIP6, 'IPv6'],
  ])('says that a rule by source leads answers nowhere: %s', async (family, vip, version) => {
    lab.master.ip(family, 'route', 'add', 'unreachable', 'default', 'table', '77');
    lab.master.ip(family, 'rule', 'add', 'pref', '100', 'from', vip, 'lookup', '77');
    expect(await said()).toEqual([
      expect.stringMatching(
        new RegExp(`^fault ip rule: answers of a VIP to clients .* have no route \\(${version}\\)`),
      ),
      `warning ip rule: answers of a VIP go by another table: 100: from ${vip} lookup 77`,
    ]);
    expect(lab.ask('status')).toContain('way back to clients, ip rule');
    lab.master.ip(family, 'rule', 'del', 'pref', '100');
    expect(await said()).toEqual([]);
  });

  it.each([
    ['-4', ROUTER, 'IPv4'],
    ['-6', '2001:db8:9::1', 'IPv6'],
  ])('says that there is no default route: %s', async (family, gateway, version) => {
    lab.master.ip(family, 'route', 'del', 'default');
    expect(await said()).toEqual([expect.stringContaining(`there is no default route (${version})`)]);
    lab.master.ip(family, 'route', 'add', 'default', 'via', gateway, 'dev', 'e0');
  });

  it('says that a strict rp_filter drops clients` packets, and counts those that it drops', async () => {
    lab.master.ip('link', 'add', 'e1', 'type', 'veth', 'peer', 'name', 'e2');
    lab.master.ip('address', 'add', '10.8.0.2/24', 'dev', 'e1');
    for (const link of ['e1', 'e2']) lab.master.ip('link', 'set', link, 'up');
    lab.master.ip('route', 'replace', 'default', 'via', '10.8.0.1');
    lab.master.run('sysctl', '-qw', 'net.ipv4.conf.e0.rp_filter=1');
    expect(await said()).toEqual([
      expect.stringMatching(/^fault e0: rp_filter is strict here, and the way back to clients is by e1/),
    ]);
    const before = (await lab.status()).kernel.reversePathDrops?.packets ?? 0;
    lab.peer.ip('address', 'add', '198.51.100.7/32', 'dev', 'lo');
    const connect = `require('node:net').connect({ host: '${VIP}', port: 443, localAddress: '198.51.100.7' }).on('error', () => {});
      setTimeout(() => process.exit(), 300);`;
    lab.peer.run(process.execPath, '-e', connect);
    expect(await said()).toContainEqual(
      expect.stringMatching(
        /^warning IPReversePathFilter: \d+ packets were dropped by rp_filter within \d+ s$/,
      ),
    );
    expect((await lab.status()).kernel.reversePathDrops?.packets).toBeGreaterThan(before);
    lab.master.run('sysctl', '-qw', 'net.ipv4.conf.e0.rp_filter=0');
  });

  it('says that the link towards clients takes less than that towards routers', async () => {
    lab.master.ip('link', 'set', 'e1', 'mtu', '1400');
    expect(await said()).toContainEqual(
      'warning e1: MTU 1400 towards clients, 1500 on e0, by which their packets come',
    );
    lab.master.ip('link', 'del', 'e1');
    lab.master.ip('route', 'replace', 'default', 'via', ROUTER);
  });

  it('is read by doctor anew, with firewalls that let no answer out', () => {
    lab.master.run(
      'nft',
      'table inet fw { chain out { type filter hook output priority 0; policy drop; ct state new accept; oifname lo accept; }; }',
    );
    const found = doctor();
    lab.master.run('nft', 'delete table inet fw');
    for (const version of ['IPv4', 'IPv6']) {
      expect(found).toContain(`drops answers to clients (${version}): no rule accepts them`);
    }
  });

  it('is not called good by doctor where a table of the firewall is too large to be read', () => {
    const path = process.env['PATH'] ?? '';
    mkdirSync(lab.path('bin'));
    writeFileSync(
      lab.path('bin/nft'),
      `#!/bin/sh\nPATH='${path}:/usr/sbin:/sbin'\ncase "$*" in *'list table inet fw') exec yes;; *) exec nft "$@";; esac\n`,
      { mode: 0o755 },
    );
    const chain = (hook: string): string => `chain ${hook} { type filter hook ${hook} priority 0; }`;
    lab.master.run('nft', `table inet fw { ${chain('input')}; ${chain('output')}; }`);
    const findings: readonly Finding[] = JSON.parse(doctor(`${lab.path('bin')}:${path}`));
    lab.master.run('nft', 'delete table inet fw');
    const problem = 'its rules cannot be read, and may drop packets: nft printed more than 16777216 octets';
    const unread = { level: 'warning', place: 'inet fw', value: problem };
    // One of chains that packets come in by, the other of those that answers leave by.
    expect(findings.filter(({ place }) => place === 'inet fw')).toMatchObject([unread, unread]);
    expect(findings).not.toContainEqual(expect.objectContaining({ check: 'way back', level: 'good' }));
  });
});

describe('a client that large packets do not reach', { timeout: TIMEOUT }, () => {
  it('is established and gets no answer, which doctor says', async () => {
    // A link on the way that takes less, and says nothing of it.
    lab.peer.run(
      'nft',
      'table ip way { chain in { type filter hook prerouting priority -300; tcp sport 443 meta length > 500 drop; }; }',
    );
    const clients = lab.peer.startProgram(
      process.execPath,
      '-e',
      `for (let i = 0; i < 4; i++) require('node:tls').connect({ host: '${VIP}', port: 443, rejectUnauthorized: false }).on('error', () => {});`,
    );
    try {
      await expect
        .poll(() => doctor(), { timeout: 60_000, interval: 500 })
        .toMatch(/large answers on 4 of \d+ connections, to 1 clients, are sent again and again/);
    } finally {
      await clients.stop();
      lab.peer.run('nft', 'delete table ip way');
    }
  });
});

describe('a process of this host that connects to others, as etcd and kubelet do', {
  timeout: TIMEOUT,
}, () => {
  const far = { 4: '198.51.100.9', 6: '2001:db8:7::9' } as const;
  const node = { 4: '10.7.0.2', 6: '2001:db8:7::2' } as const;
  const onLoopback = ['dev', 'lo', 'nodad'];

  beforeAll(() => {
    // An uplink without an address, the node's own on lo and added after the VIP: as of hosts that speak BGP to their racks.
    lab.master.connect('u0', lab.peer);
    const [link] = JSON.parse(lab.master.ip('-json', 'link', 'show', 'u0')) as [{ address: string }];
    lab.peer.ip('address', 'add', `${far[4]}/32`, 'dev', 'lo');
    // Neighbor discovery answers for addresses of the link alone.
    lab.peer.ip('-6', 'address', 'add', `${far[6]}/128`, 'dev', 'u0', 'nodad');
    for (const version of [4, 6] as const) {
      const lladdr = ['lladdr', link.address, 'dev', 'u0'];
      lab.peer.ip(`-${version}`, 'route', 'add', node[version], 'dev', 'u0');
      lab.peer.ip(`-${version}`, 'neigh', 'add', node[version], ...lladdr);
      lab.master.ip(`-${version}`, 'route', 'add', far[version], 'dev', 'u0');
    }
    lab.master.ip('address', 'add', `${node[4]}/32`, 'dev', 'lo');
    lab.master.ip('-6', 'address', 'add', `${node[6]}/128`, ...onLoopback);
  });

  /** Its source, as the other side sees it. */
  async function sourceSeen(version: 4 | 6): Promise<string> {
    const server = lab.peer.startProgram(
      process.execPath,
      '-e',
      `require('node:net').createServer((s) => { console.log(JSON.stringify({ from: s.remoteAddress })); s.end(); })
         .listen(2379, '${far[version]}', () => console.log('{"up":true}'))`,
    );
    await server.next(field('up'));
    lab.master.run(
      process.execPath,
      '-e',
      `require('node:net').connect(2379, '${far[version]}').on('close', () => process.exit()).resume()`,
    );
    const from = String(await server.next(field('from')));
    await server.stop();
    return from;
  }

  it.each([4, 6] as const)('has the node`s address as source, and never a VIP: IPv%i', async (version) => {
    expect((await lab.status()).vips.every(({ bound }) => bound)).toBe(true);
    expect(await sourceSeen(version)).toBe(node[version]);
  });

  it('would have an IPv6 VIP where there is no other global address, which status and doctor say', async () => {
    lab.master.ip('-6', 'address', 'del', `${node[6]}/128`, 'dev', 'lo');
    lab.master.ip('-6', 'address', 'del', '2001:db8:9::2/64', 'dev', 'e0');
    lab.master.ip('-6', 'route', 'replace', 'default', 'dev', 'e0');
    expect(await said()).toContainEqual(
      `fault this host: connections of this host to others have ${VIP6} as source, and answers to them reach any master`,
    );
  });
});
