import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { localAsn } from '../../scripts/lab/addresses.ts';
import { Frr, hasFrr } from '../../scripts/lab/frr.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { NamespaceProcess } from '../kit/namespace-process.ts';
import type { BfdEnd } from './bfd-end.ts';
import type { BgpEnd } from './bgp-end.ts';

/** What bgpd says of a neighbor and its BFD session. */
interface FrrNeighborWithBfd {
  readonly bgpState: string;
  readonly lastResetDueTo?: string;
  readonly peerBfdInfo?: {
    readonly status: string;
    readonly detectMultiplier: number;
    readonly rxMinInterval: number;
    readonly txMinInterval: number;
  };
}

const eventually = { timeout: 15_000, interval: 20 };
/** Both sessions are there. FRR 10.3 does not mind the end of BFD before it has sent its End-of-RIB. */
const inService = {
  bgpState: 'Established',
  gracefulRestartInfo: { endOfRibSend: { ipv4Unicast: true } },
  peerBfdInfo: { status: 'Up' },
};
/** The id of the one session. */
const id = 'frr';

describe.skipIf(!hasFrr()).each([50, 300])('bfdd driven by bgpd of FRR, at %i ms x 3', (interval) => {
  let lab: Lab;
  let frr: Frr;
  let bgp: NamespaceProcess<BgpEnd>;
  let bfd: NamespaceProcess<BfdEnd>;

  beforeAll(async () => {
    lab = await Lab.create({ masters: 1, controlPlane: 'stand-in' });
    const remote = lab.lb.address;
    frr = new Frr(lab.master(1));
    await frr.start(
      [
        `router bgp ${localAsn}`,
        ` bgp router-id ${lab.master(1).address}`,
        ` neighbor ${remote} remote-as ${localAsn}`,
        // Far longer than the test: what ends a session is not this.
        ` neighbor ${remote} timers 30 90`,
        ` neighbor ${remote} timers connect 1`,
        ` neighbor ${remote} bfd 3 ${interval} ${interval}`,
      ],
      [],
    );
  });
  afterAll(async () => {
    await bgp?.stop();
    await bfd?.stop();
    await lab?.destroy();
  });

  const start = <End>(module: string): Promise<NamespaceProcess<End>> =>
    NamespaceProcess.start<End>(
      ['ip', 'netns', 'exec', lab.lb.namespace],
      new URL(`./${module}.ts`, import.meta.url),
    );
  const neighbor = async (): Promise<FrrNeighborWithBfd | undefined> =>
    (await frr.show<Record<string, FrrNeighborWithBfd>>(`show bgp neighbors ${lab.lb.address} json`))[
      lab.lb.address
    ];

  /** BFD first: FRR 10.3 takes no connection while it says Down. */
  async function startBfd(): Promise<void> {
    bfd = await start<BfdEnd>('bfd-end');
    const [localAddress, remoteAddress] = [lab.lb.address, lab.master(1).address];
    const timers = { transmitInterval: interval, receiveInterval: interval, detectMultiplier: 3 };
    await bfd.run((e, sessions) => e.add(sessions), [{ id, remoteAddress, localAddress, ...timers }]);
  }

  beforeEach(async () => {
    await bgp?.stop();
    await bfd?.stop();
    await startBfd();
    bgp = await start<BgpEnd>('bgp-end');
    await bgp.run((e, settings) => e.open(settings), {
      local: lab.lb.address,
      remote: lab.master(1).address,
      asn: localAsn,
      prefixes: [],
      restart: { isRestarting: false, isForwarding: false },
    });
    await bfd.run((e, ids) => e.allIn(ids, 'Up'), [id]);
    await expect.poll(neighbor, eventually).toMatchObject(inService);
  });

  it('is Up at both ends, with the intervals that the neighbor line asks for', async () => {
    expect((await neighbor())?.peerBfdInfo).toMatchObject({
      detectMultiplier: 3,
      rxMinInterval: interval,
      txMinInterval: interval,
    });
    await expect
      .poll(() => bfd.run(async (e) => (await e.status()).sessions[0]), eventually)
      .toMatchObject({ state: 'Up', transmitInterval: interval, detectionTime: 3 * interval });
  });

  it('ends the BGP session when ours falls silent, though BGP itself goes on', async () => {
    // FRR also ends a session when it gives up the BFD session of the test before.
    await bgp.run((e) => e.forgetDowns());
    process.kill(bfd.pid, 'SIGKILL');
    const reason = await bgp.run((e) => e.wentDown());
    // RFC 9384, which FRR 8.4 and 10.3 speak: Cease, BFD Down. Only BFD was killed, so nothing else can be the reason.
    expect(reason).toMatchObject({ code: 6, subcode: 10 });
  });

  it('is found dead in its Detection Time when it is killed', async () => {
    await frr.killBfdd();
    const [change] = await bfd.run((e, ids) => e.allIn(ids, 'Down'), [id]);
    expect(change).toMatchObject({
      reason: 'detection-expired',
      isFailure: true,
      detectionTime: 3 * interval,
    });
    await frr.startBfdd([]);
    await bfd.run((e, ids) => e.allIn(ids, 'Up'), [id]);
  });

  it('ends the BGP session when ours is stopped as planned, against RFC 5882 section 4.2, and takes it up again with BFD', async () => {
    await bgp.run((e) => e.forgetDowns());
    await bfd.run((e) => e.bfd().stop());
    expect(await bgp.run((e) => e.wentDown())).toMatchObject({ code: 6, subcode: 10 });
    // Version 8.4 takes it up without BFD too, 10.3 refuses each connection until BFD is Up.
    await bfd.stop();
    await startBfd();
    await bgp.run((e) => e.established());
    await expect.poll(neighbor, eventually).toMatchObject(inService);
  });
});
