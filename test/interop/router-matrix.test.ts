/**
 * FRR and BIRD in the place of our router, for two of our speakers: one in the AS of the router and one in another. Over IPv4 and
 * over IPv6, with TCP-MD5 and GTSM; the speakers connect. All sessions are up at the same time.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, vipPrefixOf } from '../../scripts/lab/addresses.ts';
import { Bird } from '../../scripts/lab/bird.ts';
import { Frr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { startMaster } from '../kit/cluster.ts';

const families = ['ipv4', 'ipv6'] as const;
const password = 'lab-password';
/** Of the second master's speaker: four octets. */
const otherAsn = 4_200_000_001;
const eventually = { timeout: 40_000, interval: 100 };

interface FrrPath {
  readonly peer: { readonly peerId: string };
  readonly aspath: { readonly string: string };
  readonly nexthops: readonly { readonly ip: string }[];
}

const sessions = families.flatMap((family) => [
  { family, master: 1, asn: localAsn, title: `iBGP, ${family}` },
  { family, master: 2, asn: otherAsn, title: `eBGP, ${family}` },
]);

describe('our speakers with FRR and BIRD in the place of our router', () => {
  let lab: Lab;
  let frr: Frr;
  let bird: Bird;

  const masterAddress = ({ master, family }: (typeof sessions)[number]): string =>
    lab.master(master).addressOf(0, family);

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 2,
      loadBalancers: 2,
      families: [...families],
      controlPlane: 'stand-in',
      password,
    });
    const [first, second] = [lab.lbs[0], lab.lbs[1]];
    if (first === undefined || second === undefined) throw new Error('two load balancers are needed');
    frr = new Frr(first);
    bird = new Bird(second);
    const neighbor = (session: (typeof sessions)[number]): string[] => [
      ` neighbor ${masterAddress(session)} remote-as ${session.asn}`,
      ...['timers 3 9', 'passive', `password ${password}`, 'ttl-security hops 1'].map(
        (setting) => ` neighbor ${masterAddress(session)} ${setting}`,
      ),
    ];
    await frr.start([
      `router bgp ${localAsn}`,
      ` bgp router-id ${first.address}`,
      ' no bgp ebgp-requires-policy',
      ' no bgp default ipv4-unicast',
      ...sessions.flatMap(neighbor),
      ...families.flatMap((family) => [
        ` address-family ${family} unicast`,
        ...sessions
          .filter((session) => session.family === family)
          .map((session) => `  neighbor ${masterAddress(session)} activate`),
        ' exit-address-family',
      ]),
    ]);
    await bird.start([
      'protocol direct { ipv4; ipv6; interface "eth*"; }',
      ...sessions.map(
        (session) =>
          `protocol bgp m${session.master}_${session.family} { local ${second.addressOf(0, session.family)} as ${localAsn};
  neighbor ${masterAddress(session)} as ${session.asn}; direct; ttl security on; hold time 9; passive on; error wait time 1, 1;
  password "${password}"; ${session.family} { import all; export none; }; }`,
      ),
    ]);
    for (const { master, asn } of sessions.filter(({ family }) => family === 'ipv4')) {
      const host = lab.master(master);
      const routers = [first, second].flatMap((router) =>
        families.map((family) => ({
          address: router.addressOf(0, family),
          asn: localAsn,
          holdTime: '9s',
          ttlSecurityHops: 1,
          passwordFile: host.path('etc/bgp-password'),
        })),
      );
      await startMaster(lab, host, { asn, routers });
    }
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  it.each(sessions)('$title: FRR has the VIP from our speaker, with itself as next hop', async (session) => {
    const from = masterAddress(session);
    const path = async (): Promise<FrrPath | undefined> =>
      (
        await frr.show<{ paths?: FrrPath[] }>(
          `show bgp ${session.family} unicast ${vipPrefixOf(session.family)} json`,
        )
      ).paths?.find(({ peer }) => peer.peerId === from);
    await expect
      .poll(path, eventually)
      .toMatchObject({ aspath: { string: session.asn === localAsn ? 'Local' : String(session.asn) } });
    expect((await path())?.nexthops.map(({ ip }) => ip)).toContain(from);
  });

  it.each(sessions)('$title: BIRD has the VIP from our speaker, with itself as next hop', async (session) => {
    const protocol = `m${session.master}_${session.family}`;
    const route = (): Promise<string> =>
      bird.birdc('show', 'route', vipPrefixOf(session.family), 'protocol', protocol, 'all');
    await expect.poll(route, eventually).toContain(`BGP.next_hop: ${masterAddress(session)}`);
    const [, asPath] = /BGP\.as_path:(.*)/.exec(await route()) ?? [];
    expect(asPath?.trim()).toBe(session.asn === localAsn ? '' : String(session.asn));
  });

  it.each([1, 2])('the speaker of master %i has a session by MD5 with each', async (master) => {
    const isUp = { session: 'Established', password: true };
    await expect
      .poll(async () => (await lab.master(master).speaker.status()).routers, eventually)
      .toMatchObject([isUp, isUp, isUp, isUp]);
  });
});
