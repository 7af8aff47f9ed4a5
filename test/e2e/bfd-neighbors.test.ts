import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { localAsn, upstreamAsn } from '../../scripts/lab/addresses.ts';
import { bfdSettings } from '../../scripts/lab/bfd-settings.ts';
import { Bird } from '../../scripts/lab/bird.ts';
import type { Host } from '../../scripts/lab/host.ts';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { addresses, startCluster } from '../kit/cluster.ts';
import { eventsSince, lastEvent, member, routesOf, waitForEvent } from '../kit/router-view.ts';

/** ms between packets: slow enough for a busy machine, and 300 ms are a tenth of the hold time. */
const interval = 100;
const bfd = bfdSettings(interval);
const upstreamAddress = '10.0.1.1';
const lb6 = 'fd00:10::10';
const eventually = { timeout: 15_000, interval: 50 };

const master = { role: 'master', asn: localAsn, holdTime: '3s' } as const;
const neighbors: readonly JsonObject[] = [
  { ...master, name: 'masters', range: '10.0.0.0/24', bfd },
  { ...master, name: 'strict', address: '10.0.0.12', bfd: { ...bfd, strict: true } },
  { ...master, name: 'next-hop', address: 'fd00:10::11', bfd },
  { ...master, name: 'far', address: 'fd00:10::12', bfd, ttlSecurityHops: 2 },
  {
    name: 'upstream',
    role: 'upstream',
    address: upstreamAddress,
    asn: upstreamAsn,
    holdTime: '9s',
    bfd: { ...bfd, strict: true },
  },
];

/** A router as a speaker has it. */
const router4: JsonObject = { address: '10.0.0.10', asn: localAsn, holdTime: '3s', ttlSecurityHops: 1 };
const router6 = { ...router4, address: lb6, bfd };

/** What these tests look at of a neighbor. */
interface NeighborWithBfd {
  readonly neighbor: string;
  readonly state: string;
  readonly sinceMs: number;
  readonly bfd: { readonly state: string; readonly multihop: boolean; readonly detectionTime: number } | null;
}

let lab: Lab;
beforeAll(async () => {
  lab = await startCluster({
    masters: 2,
    upstream: 'frr',
    password: null,
    bfd: interval,
    controlPlane: 'stand-in',
    router: { neighbors: [...neighbors], listen: { addresses: ['0.0.0.0', '::'], port: 179 } },
  });
  const add = (host: Host, address: string): Promise<string> =>
    host.exec(['ip', 'address', 'add', `${address}/64`, 'dev', 'eth0', 'nodad']);
  await Promise.all([
    add(lab.lb, lb6),
    ...lab.masters.map((each, index) => add(each, `fd00:10::${11 + index}`)),
  ]);
});
afterAll(async () => {
  await lab?.destroy();
});

async function neighborView(name: string): Promise<NeighborWithBfd | undefined> {
  const all = (await lab.lb.router.request('GET', '/api/v1/neighbors')) as readonly NeighborWithBfd[];
  return all.find(({ neighbor }) => neighbor === name);
}

const isUp = (name: string) =>
  expect
    .poll(() => neighborView(name), eventually)
    .toMatchObject({ state: 'Established', bfd: { state: 'Up' } });

/** Has a host drop what matches, as `nft` says it, on the way in. */
async function drop(host: Host, match: string): Promise<void> {
  const table = `table inet cut { chain c { type filter hook input priority -400; ${match} drop; }; }`;
  await host.exec(['nft', '-f', '-'], { input: table });
}
const heard = (host: Host): Promise<string> =>
  host.exec(['sh', '-c', 'nft delete table inet cut 2>/dev/null; true']);

afterEach(async () => {
  await Promise.all([lab.lb, lab.upstream, ...lab.masters].map(heard));
});

async function restartSpeaker(of: MasterHost, routers: readonly JsonObject[]): Promise<void> {
  await of.speaker.stop();
  of.writeSpeakerConfig(of === lab.master(1) ? 'init' : 'join', { routers: [...routers] });
  await of.startSpeaker();
}

/** Waits until the router has ended a session because of BFD, by its own finding or the neighbor's. */
function endedByBfd(sequence: number, name: string) {
  return waitForEvent(
    lab,
    sequence,
    `Cease/BFD Down with ${name}`,
    ({ type, code, subcode, peer }) =>
      peer === name && /^neighbor-notification-/.test(type) && code === 6 && subcode === 10,
  );
}

describe('BFD over IPv6 between router and speaker', () => {
  it('is Up over one hop, and ends the session when it alone is lost', async () => {
    await restartSpeaker(lab.master(1), [{ ...router4, bfd }, router6]);
    await isUp('next-hop');
    expect((await neighborView('next-hop'))?.bfd).toMatchObject({
      multihop: false,
      detectionTime: 3 * interval,
    });
    const before = await lastEvent(lab);
    await drop(lab.lb, 'ip6 saddr fd00:10::11 udp dport 3784');
    await endedByBfd(before, 'next-hop');
    await heard(lab.lb);
    await isUp('next-hop');
    // Its session over IPv4 is another one.
    expect(
      (await eventsSince(lab, before)).filter(({ peer, isFailure }) => peer === '10.0.0.11' && isFailure),
    ).toEqual([]);
  });

  it('goes by port 4784 where the neighbor may be further away (RFC 5883)', async () => {
    await restartSpeaker(lab.master(2), [
      { ...router4, bfd },
      { ...router6, ttlSecurityHops: 2 },
    ]);
    await isUp('far');
    expect((await neighborView('far'))?.bfd).toMatchObject({ multihop: true, detectionTime: 3 * interval });
    const before = await lastEvent(lab);
    await drop(lab.lb, 'ip6 saddr fd00:10::12 udp dport 4784');
    await endedByBfd(before, 'far');
    await heard(lab.lb);
    await isUp('far');
  });
});

describe('another timing of BFD, by a reload', () => {
  it('is agreed on with the sessions that are Up, and ends none', async () => {
    await isUp('next-hop');
    const slower = { ...bfd, receiveInterval: '500ms' };
    const before = await lastEvent(lab);
    lab.lb.writeConfig({
      neighbors: neighbors.map((each) => (each['name'] === 'next-hop' ? { ...each, bfd: slower } : each)),
    });
    const reload = async (): Promise<unknown> =>
      JSON.parse((await lab.lb.router.query(['reload', '-o', 'json'])).stdout);
    expect(await reload()).toMatchObject({ changed: [], updated: ['next-hop'] });
    const timing = async (): Promise<unknown> => (await neighborView('next-hop'))?.bfd;
    await expect.poll(timing, eventually).toMatchObject({ state: 'Up', detectionTime: 1500 });
    lab.lb.writeConfig({ neighbors: [...neighbors] });
    expect(await reload()).toMatchObject({ updated: ['next-hop'] });
    await expect.poll(timing, eventually).toMatchObject({ state: 'Up', detectionTime: 3 * interval });
    const events = await eventsSince(lab, before);
    expect(events.filter(({ type, peer }) => type !== 'reloaded' && peer === 'fd00:10::11')).toEqual([]);
  });
});

describe('a master that must have BFD (strict)', () => {
  it('is out while its speaker has none, and in when it has', async () => {
    const strict = lab.master(2);
    await restartSpeaker(strict, [{ ...router4, bfd: false }]);
    await expect
      .poll(() => member(lab, strict), eventually)
      .toMatchObject({
        session: 'Established',
        inPool: false,
        reason: 'BFD is not Up (strict)',
      });
    await restartSpeaker(strict, [{ ...router4, bfd }]);
    await lab.lb.waitForPool(addresses(lab.masters));
  });
});

/** FRR at the upstream router, with bfdd or without. */
async function startFrr(hasBfd: boolean): Promise<void> {
  const peer = ` neighbor ${lab.lb.uplinkAddress}`;
  const config = [
    `router bgp ${upstreamAsn}`,
    ` bgp router-id ${upstreamAddress}`,
    ' no bgp ebgp-requires-policy',
    `${peer} remote-as ${localAsn}`,
    `${peer} timers 3 9`,
    `${peer} timers connect 1`,
    ...(hasBfd ? [`${peer} bfd 3 ${interval} ${interval}`] : []),
  ];
  await lab.upstream.frr.start(config, hasBfd ? [] : undefined);
}

const isEstablished = () =>
  expect.poll(() => neighborView('upstream'), eventually).toMatchObject({ state: 'Established' });

describe('an upstream with BFD: FRR', () => {
  it('that must have it (strict) gets the VIP when BFD is Up, and not before', async () => {
    await isEstablished();
    // The masters are told of each other, the upstream is not.
    const { advertised } = await routesOf(lab);
    expect(advertised.filter(({ neighbor }) => neighbor === 'upstream')).toEqual([]);
    expect(await lab.upstream.vipGateways()).toEqual([]);
    await lab.upstream.frr.stop();
    await startFrr(true);
    await lab.upstream.waitForVipRoute(true, 20_000);
    await isUp('upstream');
    expect(await lab.client.request()).toMatchObject({ ok: true });
  });

  it('is told Cease/BFD Down when its BFD alone dies, and gets the VIP again with BFD only', async () => {
    const before = await lastEvent(lab);
    await lab.upstream.frr.killBfdd();
    await endedByBfd(before, 'upstream');
    await lab.upstream.waitForVipRoute(false);
    await isEstablished();
    expect(await lab.upstream.vipGateways()).toEqual([]);
    await lab.upstream.frr.startBfdd([]);
    await lab.upstream.waitForVipRoute(true, 20_000);
  });

  it('ends the session and withdraws the VIP when it hears no more BFD of ours', async () => {
    const before = await lastEvent(lab);
    await drop(lab.upstream, `ip saddr ${lab.lb.uplinkAddress} udp dport 3784`);
    await endedByBfd(before, 'upstream');
    await lab.upstream.waitForVipRoute(false);
    await heard(lab.upstream);
    await lab.upstream.waitForVipRoute(true, 20_000);
  });
});

describe('an upstream with BFD: BIRD', () => {
  it('is Up, is told Cease/BFD Down when it hangs, and comes back', async () => {
    await lab.upstream.frr.stop();
    const bird = new Bird(lab.upstream);
    await bird.start([
      'protocol kernel { ipv4 { export all; }; }',
      `protocol bfd { interface "eth1" { interval ${interval} ms; multiplier 3; }; }`,
      'protocol bgp lb {',
      `  local ${upstreamAddress} as ${upstreamAsn};`,
      `  neighbor ${lab.lb.uplinkAddress} as ${localAsn};`,
      '  hold time 9; connect retry time 1; connect delay time 1; error wait time 1, 2; bfd on;',
      '  ipv4 { import all; export none; };',
      '}',
    ]);
    await isUp('upstream');
    await lab.upstream.waitForVipRoute(true, 20_000);
    // A silence that begins before the session is taken for that of an earlier process: BFD has to be heard after it.
    await expect
      .poll(async () => (await neighborView('upstream'))?.sinceMs ?? 0, eventually)
      .toBeGreaterThan(5 * interval);
    const before = await lastEvent(lab);
    bird.process?.signal('SIGSTOP');
    try {
      await waitForEvent(
        lab,
        before,
        'Cease/BFD Down sent',
        ({ type, code, subcode, peer }) =>
          type === 'neighbor-notification-sent' && peer === 'upstream' && code === 6 && subcode === 10,
      );
    } finally {
      bird.process?.signal('SIGCONT');
    }
    await isUp('upstream');
    await lab.upstream.waitForVipRoute(true, 20_000);
    await bird.kill();
  });
});
