/** One forged BFD packet, from a host on the masters' link: what it does where BFD is not authenticated, and where it is. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { addresses, heal, startMaster, waitForAllActive } from '../kit/cluster.ts';
import { eventsSince, lastEvent, member, waitForEvent } from '../kit/router-view.ts';

let lab: Lab;
let victim: MasterHost;
let attacker: MasterHost;
afterAll(async () => {
  await lab?.destroy();
});

async function start(authentication: 'auto' | 'none'): Promise<void> {
  lab = await Lab.create({ masters: 3, bfd: 300 });
  const [masters, ...rest] = lab.lb.neighbors();
  const { bfd } = masters as { bfd: object };
  lab.lb.writeConfig({ neighbors: [{ ...masters, bfd: { ...bfd, authentication } }, ...rest] });
  await lab.lb.router.start();
  for (const master of lab.masters) await startMaster(lab, master);
  await lab.lb.waitForPool(addresses(lab.masters), 20_000);
  victim = lab.master(2);
  attacker = lab.master(3);
}

interface BfdView {
  readonly state: string;
  readonly authentication: string;
  readonly counters: { readonly discarded: number; readonly failures: number };
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
});
