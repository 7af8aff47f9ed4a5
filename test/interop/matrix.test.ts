/**
 * Our speaker with daemons of other makes: in our AS and in one of four octets, over IPv4 with TCP-MD5 (they connect) and
 * over IPv6 (we connect), all with GTSM. All sessions are up at the same time.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn } from '../../scripts/lab/addresses.ts';
import type { Host } from '../../scripts/lab/host.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';
import type { MatrixEnd, MatrixState } from './matrix-end.ts';
import {
  BirdPeer,
  type DaemonPlan,
  ExabgpPeer,
  FrrPeer,
  GobgpPeer,
  OpenbgpdPeer,
  type PeerDaemon,
} from './peer-daemons.ts';

const password = 'matrix-password';
const fourOctetAsn = 4_200_000_001;
const vips = { ipv4: '10.100.0.1/32', ipv6: 'fd00:100::1/128' };
const waiting = { timeout: 40_000, interval: 100 } as const;

const makes: readonly (readonly [string, (host: Host) => PeerDaemon])[] = [
  ['FRR', (host) => new FrrPeer(host)],
  ['BIRD', (host) => new BirdPeer(host)],
  ['GoBGP', (host) => new GobgpPeer(host)],
  ['OpenBGPD', (host) => new OpenbgpdPeer(host)],
  ['ExaBGP', (host) => new ExabgpPeer(host)],
];

/**
 * Who does not send with TTL 255 though told to: OpenBGPD 7.7 inside an AS over IPv4, and ExaBGP 4.2 where it is connected to.
 * With the others GTSM is on at both ends.
 */
const withoutTtlSecurity: readonly string[] = [
  'OpenBGPD, iBGP, IPv4',
  'ExaBGP, iBGP, IPv6',
  'ExaBGP, eBGP, IPv6',
];

const neighbors = makes
  .flatMap(([daemon, make]) => [
    { name: `${daemon}, iBGP`, make, asn: localAsn },
    { name: `${daemon}, eBGP`, make, asn: fourOctetAsn },
  ])
  .map((one, index) => ({ ...one, number: index + 1 }));
const sessions = neighbors.flatMap((one) => [
  { ...one, version: 'ipv4' as const, title: `${one.name}, IPv4` },
  { ...one, version: 'ipv6' as const, title: `${one.name}, IPv6` },
]);

describe('our speaker and the daemons of others', () => {
  let lab: Lab;
  let end: NamespaceProcess<MatrixEnd>;
  const daemons = new Map<number, PeerDaemon>();
  const remote = { ipv4: '10.0.0.10', ipv6: 'fd00::10' };
  const planOf = ({ number, asn }: (typeof neighbors)[number]): DaemonPlan => ({
    asn,
    remoteAsn: localAsn,
    local: { ipv4: lab.master(number).address, ipv6: `fd00::1:${number}` },
    remote,
    prefixes: { ipv4: `10.201.${number}.0/24`, ipv6: `fd00:201:${number}::/64` },
    password,
  });
  const stateOf = (address: string): Promise<MatrixState> => end.run((e, at) => e.stateOf(at), address);

  beforeAll(async () => {
    lab = await Lab.create({ masters: neighbors.length, controlPlane: 'stand-in' });
    const addIpv6 = async (host: Host, address: string): Promise<void> => {
      await host.exec([
        'sysctl',
        '-qw',
        'net.ipv6.conf.all.disable_ipv6=0',
        'net.ipv6.conf.eth0.disable_ipv6=0',
      ]);
      await host.exec(['ip', 'address', 'add', `${address}/64`, 'dev', 'eth0', 'nodad']);
    };
    await addIpv6(lab.lb, remote.ipv6);
    end = await NamespaceProcess.start<MatrixEnd>(
      ['ip', 'netns', 'exec', lab.lb.namespace],
      new URL('./matrix-end.ts', import.meta.url),
    );
    const plans = neighbors.map(planOf);
    const peers = sessions.map(({ version, title, number, asn }) => ({
      address: plans[number - 1]?.local[version] ?? '',
      asn,
      isPassive: version === 'ipv4',
      password: version === 'ipv4' ? password : undefined,
      hasTtlSecurity: !withoutTtlSecurity.includes(title),
    }));
    await end.run((e, settings) => e.open(settings), { asn: localAsn, local: remote, vips, peers });
    await Promise.all(
      neighbors.map(async (one) => {
        const host = lab.master(one.number);
        await addIpv6(host, planOf(one).local.ipv6);
        const daemon = one.make(host);
        daemons.set(one.number, daemon);
        await daemon.start(planOf(one));
      }),
    );
  }, 120_000);
  afterAll(async () => {
    await end?.stop();
    await lab?.destroy();
  });

  it.each(sessions)('$title: the path of the other side, with itself as next hop', async (session) => {
    const plan = planOf(session);
    const { version, asn } = session;
    const path = `${plan.prefixes[version]} via ${plan.local[version]} path`;
    await expect
      .poll(() => stateOf(plan.local[version]), waiting)
      .toMatchObject({ state: 'Established', paths: [asn === localAsn ? path : `${path} ${asn}`] });
  });

  it.each(sessions)('$title: our VIP arrives', async ({ number, version }) => {
    const daemon = daemons.get(number);
    await expect.poll(async () => (await daemon?.has(vips[version])) ?? true, waiting).toBe(true);
  });

  // ExaBGP answers no refresh, and OpenBGPD 7.7 takes none from us (docs/interop.md).
  it.each(sessions.filter(({ name }) => !/^(ExaBGP|OpenBGPD)/.test(name)))(
    '$title: sends all of it again when asked, and nothing changes',
    async (session) => {
      const address = planOf(session).local[session.version];
      const before = await stateOf(address);
      await end.run((e, at) => e.refresh(at), address);
      await expect
        .poll(async () => (await stateOf(address)).updates - before.updates, waiting)
        .toBeGreaterThan(0);
      expect(await stateOf(address)).toMatchObject({ state: 'Established', paths: before.paths });
    },
  );
});
