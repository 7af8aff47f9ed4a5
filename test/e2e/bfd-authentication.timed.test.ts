/** One forged BFD packet, from a host on the masters' link: what it does where BFD is not authenticated, and where it is. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import { addresses, heal, startMaster, waitForAllActive } from '../kit/cluster.ts';
import { eventsSince, lastEvent, member, waitForEvent } from '../kit/router-view.ts';

let lab: Lab;
let victim: MasterHost;
let attacker: MasterHost;
afterAll(async () => {
  await lab?.destroy();
});

type Mode = 'auto' | 'none';

/** What the router is to have with its masters from its next start on. */
function configureRouter(authentication: Mode): void {
  const [masters, ...rest] = lab.lb.neighbors();
  const { bfd } = masters as { bfd: JsonObject };
  lab.lb.writeConfig({ neighbors: [{ ...masters, bfd: { ...bfd, authentication } }, ...rest] });
}

async function start(authentication: Mode): Promise<void> {
  lab = await Lab.create({ masters: 3, bfd: 300 });
  configureRouter(authentication);
  await lab.lb.router.start();
  for (const master of lab.masters) await startMaster(lab, master);
  await lab.lb.waitForPool(addresses(lab.masters), 20_000);
  victim = lab.master(2);
  attacker = lab.master(3);
}

interface BfdView {
  readonly state: string;
  readonly authentication: string;
  readonly counters: { readonly received: number; readonly discarded: number; readonly failures: number };
}

async function bfdOf(address: string): Promise<BfdView | null> {
  const neighbors = (await lab.lb.router.request('GET', '/api/v1/neighbors')) as {
    name: string;
    bfd: BfdView;
  }[];
  return neighbors.find(({ name }) => name === address)?.bfd ?? null;
}

async function allUp(authentication: string): Promise<void> {
  await waitForAllActive(lab);
  for (const address of addresses(lab.masters)) {
    await expect
      .poll(() => bfdOf(address), { timeout: 10_000 })
      .toMatchObject({ state: 'Up', authentication });
  }
}

/** As many packets as a session takes through several Detection Times, from each master, and neither end sees a failure. */
async function expectNoFailure(): Promise<void> {
  const views = () => Promise.all(addresses(lab.masters).map(bfdOf));
  const before = await views();
  await expect
    .poll(
      async () => {
        const now = await views();
        return Math.min(
          ...now.map((view, at) => (view?.counters.received ?? 0) - (before[at]?.counters.received ?? 0)),
        );
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBeGreaterThan(40);
  expect((await views()).map((view) => view?.counters.failures)).toEqual(
    before.map((view) => view?.counters.failures),
  );
}

/**
 * Sends the load balancer a packet as if the victim had: Down, for its detection time was over, by TTL 255, without the
 * discriminator that a stranger does not know.
 */
async function forge(): Promise<void> {
  const packet = '21400318' + '00001267' + '00000000' + '0000c350' + '0000c350' + '00000000';
  const program = `
    const socket = require('node:dgram').createSocket('udp4');
    socket.bind(50000, '${victim.address}', () => {
      socket.setTTL(255);
      socket.send(Buffer.from('${packet}', 'hex'), 3784, '${lab.lb.address}', () => socket.close());
    });`;
  await attacker.exec(['ip', 'address', 'add', `${victim.address}/32`, 'dev', 'lo']);
  await attacker.exec([process.execPath, '-e', program]);
  await attacker.exec(['ip', 'address', 'del', `${victim.address}/32`, 'dev', 'lo']);
}

describe('without authentication', () => {
  beforeAll(() => start('none'));
  afterAll(() => lab.destroy());

  it('takes a master out that lives', async () => {
    await allUp('none');
    const before = await lastEvent(lab);
    await forge();
    await waitForEvent(
      lab,
      before,
      'the victim out',
      ({ type, nextHop, to }) => type === 'member-transition' && nextHop === victim.address && to === 'out',
    );
  });
});

describe('between our own ends, which agree on it by themselves,', () => {
  beforeAll(() => start('auto'));

  it('is discarded and counted, and nothing comes of it', async () => {
    await allUp('required');
    const before = await lastEvent(lab);
    const { discarded = 0 } = (await bfdOf(victim.address))?.counters ?? {};
    await forge();
    await expect
      .poll(async () => (await bfdOf(victim.address))?.counters.discarded, { timeout: 5000 })
      .toBe(discarded + 1);
    expect(await bfdOf(victim.address)).toMatchObject({ state: 'Up', authentication: 'required' });
    const events = await eventsSince(lab, before);
    expect(events.filter(({ peer, nextHop }) => [peer, nextHop].includes(victim.address))).toEqual([]);
    expect(await member(lab, victim)).toMatchObject({ state: 'active', bfd: 'Up' });
  });

  it('holds at the speaker too', async () => {
    const { routers } = await victim.speaker.status();
    expect(routers[0]).toMatchObject({ bfdSession: { authentication: 'required' } });
  });

  it('is agreed on again after a speaker, and after the router, began anew, and no member leaves for it', async () => {
    const before = await lastEvent(lab);
    await victim.speaker.kill();
    await victim.startSpeaker();
    await allUp('required');
    await lab.lb.router.kill();
    await lab.lb.router.start();
    await allUp('required');
    const events = [...(await eventsSince(lab, before)), ...(await eventsSince(lab, 0))];
    const deaths = events.filter(({ type, died }) => type === 'bfd-state' && died === 'host');
    expect(deaths).toEqual([]);
  });

  it('does not keep a dead host in', async () => {
    await heal(lab);
    await allUp('required');
    const before = await lastEvent(lab);
    await victim.disconnect();
    const out = await waitForEvent(
      lab,
      before,
      'the dead host out',
      ({ type, nextHop, to }) => type === 'member-transition' && nextHop === victim.address && to === 'out',
    );
    expect(out['reason']).toBe('BFD down');
    await victim.reconnect();
    await allUp('required');
  });

  it('is left by a reload of a speaker, and agreed on again by another, and BFD stays Up with each', async () => {
    for (const [authentication, seen] of [
      ['none', 'not agreed'],
      ['auto', 'required'],
    ] as const) {
      const config = JSON.parse(readFileSync(victim.speaker.configFile, 'utf8')) as JsonObject & {
        routers: (JsonObject & { bfd: JsonObject })[];
      };
      const routers = config.routers.map((one) => ({ ...one, bfd: { ...one.bfd, authentication } }));
      victim.speaker.writeConfig({ ...config, routers });
      const { stdout } = await victim.speaker.query(['reload', '-o', 'json']);
      expect(JSON.parse(stdout)).toMatchObject({ changed: [lab.lb.address] });
      await expect
        .poll(() => bfdOf(victim.address), { timeout: 20_000 })
        .toMatchObject({ state: 'Up', authentication: seen });
      await waitForAllActive(lab);
      await expectNoFailure();
    }
  });

  it('does not keep a router out, or down, that has come back without it', async () => {
    await lab.lb.router.kill();
    configureRouter('none');
    await lab.lb.router.start();
    await allUp('none');
    await expectNoFailure();
    expect((await victim.speaker.status()).routers[0]).toMatchObject({
      bfdSession: { authentication: 'not agreed' },
    });
  });
});
