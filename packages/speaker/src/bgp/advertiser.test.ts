import { asn, parseRouterId } from '@bgp-lb/protocol';
import { BgpSpeaker, bfdNonce, negotiatedBfdKey, type Peer } from '@bgp-lb/protocol/node';
import { ManualClock, MemoryNetwork } from '@bgp-lb/protocol/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RouterPeerConfig } from '../config/speaker-config.ts';
import { Advertiser } from './advertiser.ts';

const [ROUTER, NODE, AS] = ['10.0.0.10', '10.0.0.11', 64512];
const passwords = new Map([[ROUTER, ['secret']]]);

type Bfd = 'off' | 'auto' | 'none' | 'meticulous-keyed-sha1';

function configured(kind: Bfd, over: Partial<RouterPeerConfig> = {}): RouterPeerConfig {
  const timing = { transmitInterval: 50, receiveInterval: 50, detectMultiplier: 3 } as const;
  const bfd =
    kind === 'off' ? (false as const) : { ...timing, authentication: kind, keyId: 1, strict: false };
  return {
    address: ROUTER,
    port: 179,
    asn: AS,
    holdTime: 9_000,
    ttlSecurityHops: 0,
    bfd,
    acceptAsSet: false,
    withoutCapabilities: [],
    ...over,
  };
}

describe('a change of bfd.authentication', () => {
  const clock = new ManualClock();
  let sessions = 0;
  let router: BgpSpeaker;
  let master: Peer;
  let advertiser: Advertiser | undefined;

  beforeEach(() => {
    sessions = 0;
  });
  afterEach(async () => {
    await Promise.all([advertiser?.closeForSuccessor(), router.close()]);
  });

  /** A speaker with a session with a router that offers a key for BFD. */
  async function start(first: RouterPeerConfig): Promise<void> {
    const network = new MemoryNetwork();
    router = new BgpSpeaker({
      asn: asn(AS),
      routerId: parseRouterId(ROUTER),
      sockets: network.host(ROUTER),
      clock,
      handlers: { established: () => (sessions += 1) },
    });
    const name = 'master';
    master = router.addPeer({
      name,
      address: NODE,
      remoteAsn: [asn(AS)],
      holdTime: 9,
      passive: true,
      bfdAuthentication: bfdNonce(),
    });
    await router.listen({ address: ROUTER, port: 179 });
    advertiser = new Advertiser({
      config: { asn: AS, vipBind: true, vips: [], routers: [first] },
      routerId: NODE,
      passwords,
      isRestarting: false,
      sourceTowards: () => NODE,
      linkLocalTowards: () => undefined,
      globalOnLinkOf: () => undefined,
      sockets: network.host(NODE),
      clock,
      handlers: {},
    });
    await clock.advance(1000);
    expect(sessions).toBe(1);
  }

  async function reload(next: RouterPeerConfig): Promise<readonly string[] | undefined> {
    const changes = advertiser?.setRouters([next], passwords);
    await clock.advance(20_000);
    expect(master.state).toBe('Established');
    return changes?.changed;
  }

  /** Both ends go by the key that they agreed on, or both by none. */
  function expectAgreed(isAgreed: boolean): void {
    const theirs = negotiatedBfdKey(master.negotiated, 'secret');
    expect(theirs !== undefined).toBe(isAgreed);
    expect(advertiser?.bfdKeyOf(ROUTER)).toEqual(theirs);
  }

  it.each<[Bfd, Bfd]>([
    ['auto', 'none'],
    ['none', 'auto'],
    ['auto', 'meticulous-keyed-sha1'],
    ['meticulous-keyed-sha1', 'auto'],
    ['off', 'none'],
  ])('from %s to %s makes the session with the router again, which is told of it', async (from, to) => {
    await start(configured(from));
    expectAgreed(from === 'auto' || from === 'off');
    expect(await reload(configured(to))).toEqual([ROUTER]);
    expect(sessions).toBe(2);
    expectAgreed(to === 'auto');
  });

  it.each<[Bfd, Bfd]>([
    ['auto', 'off'],
    ['off', 'auto'],
    ['none', 'off'],
    ['none', 'meticulous-keyed-sha1'],
  ])('from %s to %s, for which the offer need not change, leaves the session', async (from, to) => {
    await start(configured(from));
    expect(await reload(configured(to))).toEqual([]);
    expect(sessions).toBe(1);
  });

  it('is told to the router also when BFD was off in between', async () => {
    await start(configured('none'));
    expect(await reload(configured('off'))).toEqual([]);
    expect(await reload(configured('auto'))).toEqual([ROUTER]);
    expectAgreed(true);
  });

  it('leaves a session that may not offer a key', async () => {
    const over = { withoutCapabilities: ['bfd-authentication'] } as const;
    await start(configured('auto', over));
    expectAgreed(false);
    expect(await reload(configured('none', over))).toEqual([]);
    expect(sessions).toBe(1);
  });
});
