import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { addresses, brokenAt, heal, others, startCluster, waitForAllActive } from '../kit/cluster.ts';
import { eventsSince, lastEvent, member, metricsOf, waitForEvent } from '../kit/router-view.ts';

const connections = 90;
/** The lab's hold time: what is faster was not found by BGP. */
const holdTime = 3000;

let lab: Lab;
beforeAll(async () => {
  lab = await startCluster({ masters: 3, bfd: 50 });
});
afterAll(async () => {
  await lab?.destroy();
});

/** All members active, and BFD Up with all of them. */
async function whole(): Promise<void> {
  await waitForAllActive(lab);
  await lab.lb.router.waitFor('BFD Up with all members', ({ vips }) =>
    vips.every(({ members }) => members.every(({ bfd }) => bfd === 'Up')),
  );
}

async function connect(): Promise<void> {
  await lab.client.closeAll();
  const { opened, failed } = await lab.client.open(connections);
  expect({ opened, failed }).toEqual({ opened: connections, failed: 0 });
}

beforeEach(async () => {
  await heal(lab);
  await whole();
  await connect();
});

/** Waits until the member is out, and gives the time since `begun` and the reason. */
async function outAfter(victim: MasterHost, sequence: number, begun: number) {
  const event = await waitForEvent(
    lab,
    sequence,
    `${victim.name} out`,
    ({ type, nextHop, to }) => type === 'member-transition' && nextHop === victim.address && to === 'out',
  );
  return { ms: performance.now() - begun, reason: event['reason'] };
}

describe('a host that dies in silence', () => {
  it('is out in a small part of the hold time, and breaks no connection of the others', async () => {
    const victim = lab.master(2);
    const before = await lastEvent(lab);
    const begun = performance.now();
    await victim.disconnect();
    const { ms, reason } = await outAfter(victim, before, begun);
    expect(reason).toBe('BFD down');
    expect(ms).toBeLessThan(holdTime / 3);
    await waitForEvent(
      lab,
      before,
      'a dead host',
      ({ type, peer, died, neighbor }) =>
        type === 'bfd-state' && peer === victim.address && died === 'host' && neighbor === 'masters',
    );
    expect((await member(lab, victim))?.reason).toMatch(/^BFD down for \d+\.\d s$/);
    expect((await member(lab, victim))?.bfd).toBe('Down');
    const { brokenByMaster } = await lab.client.check();
    expect(brokenAt(others(lab, victim), brokenByMaster)).toBe(0);
    await victim.reconnect();
  });

  it('is told that it is dead by Cease/BFD Down (RFC 9384)', async () => {
    const victim = lab.master(1);
    const before = await lastEvent(lab);
    await victim.disconnect();
    await waitForEvent(
      lab,
      before,
      'Cease/BFD Down',
      ({ type, code, subcode }) => type === 'neighbor-notification-sent' && code === 6 && subcode === 10,
    );
    await victim.reconnect();
  });
});

describe('a way that leads in one direction only', () => {
  const victimOf = (): MasterHost => lab.master(3);
  const drop = (hook: 'input' | 'output'): string =>
    `table inet cut { chain c { type filter hook ${hook} priority -400; ip ${hook === 'input' ? 'saddr' : 'daddr'} ${lab.lb.address} drop; }; }`;

  afterEach(async () => {
    await victimOf().exec(['nft', 'delete', 'table', 'inet', 'cut']);
  });

  it.each(['input', 'output'] as const)('takes its member out at once (%s of the master)', async (hook) => {
    const victim = victimOf();
    const before = await lastEvent(lab);
    const begun = performance.now();
    await victim.exec(['nft', '-f', '-'], { input: drop(hook) });
    const { ms, reason } = await outAfter(victim, before, begun);
    expect(reason).toMatch(/BFD/);
    expect(ms).toBeLessThan(holdTime / 2);
  });
});

describe('a process that dies or stops', () => {
  it.each(['kill', 'stop'] as const)('breaks nothing: %s and start of every speaker', async (how) => {
    const before = await lastEvent(lab);
    for (const master of lab.masters) {
      await master.speaker[how]();
      await master.startSpeaker();
    }
    await whole();
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
    const events = await eventsSince(lab, before);
    expect(events.filter(({ died, to }) => died === 'host' || to === 'out')).toEqual([]);
  });

  it('breaks nothing when a killed speaker stays away for longer than BFD waits', async () => {
    const victim = lab.master(1);
    const before = await lastEvent(lab);
    await victim.speaker.kill();
    await waitForEvent(
      lab,
      before,
      'BFD Down, and no host dead',
      ({ type, to, died }) => type === 'bfd-state' && to === 'Down' && died === 'process',
    );
    expect(await member(lab, victim)).toMatchObject({ state: 'stale', inPool: true, bfd: 'Down' });
    await victim.startSpeaker();
    await whole();
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });

  it.each(['kill', 'stop'] as const)('loses no request: %s and start of the router', async (how) => {
    await lab.client.startLoop({ every: 20 });
    await lab.lb.router[how]();
    await lab.lb.router.start();
    await whole();
    const { failed, reasons } = await lab.client.stopLoop();
    expect({ failed, reasons }).toEqual({ failed: 0, reasons: {} });
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });
});

describe('a process that hangs', () => {
  it('looks like a dead host when it is a speaker: BFD and TCP are silent, and it is out at once', async () => {
    const victim = lab.master(2);
    const before = await lastEvent(lab);
    const begun = performance.now();
    victim.speaker.process?.signal('SIGSTOP');
    try {
      const { ms, reason } = await outAfter(victim, before, begun);
      expect(reason).toBe('BFD down');
      expect(ms).toBeLessThan(holdTime / 3);
    } finally {
      victim.speaker.process?.signal('SIGCONT');
    }
    await whole();
  });

  it('empties no pool when it is the router itself, and breaks nothing', async () => {
    const before = await lastEvent(lab);
    lab.lb.router.process?.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    lab.lb.router.process?.signal('SIGCONT');
    await whole();
    const emptied = ({ type, nextHops }: { type: string; nextHops?: unknown }): boolean =>
      type === 'vip-forwarding' && Array.isArray(nextHops) && nextHops.length === 0;
    expect((await eventsSince(lab, before)).filter(emptied)).toEqual([]);
    expect(await lab.client.check()).toMatchObject({ alive: connections, broken: 0 });
  });
});

describe('a host that dies while the router hangs', () => {
  it('is doubted, and out long before the doubt ends: it answers no SYN; the others do and stay', async () => {
    const victim = lab.master(3);
    const before = await lastEvent(lab);
    await victim.disconnect();
    lab.lb.router.process?.signal('SIGSTOP');
    try {
      await new Promise((resolve) => setTimeout(resolve, 600));
    } finally {
      lab.lb.router.process?.signal('SIGCONT');
    }
    const begun = performance.now();
    await waitForEvent(
      lab,
      before,
      'in doubt',
      ({ type, nextHop, to, reason }) =>
        type === 'member-transition' &&
        nextHop === victim.address &&
        to === 'stale' &&
        /probed before that is believed/.test(String(reason)),
    );
    const { ms, reason } = await outAfter(victim, before, begun);
    expect(reason).toMatch(/^BFD down; then 2 probes failed: /);
    // Without a limit for their connections two probes take 2 s, and the doubt is over before they end.
    expect(ms).toBeLessThan(1500);
    const outs = (await eventsSince(lab, before)).filter(
      ({ type, to, nextHop }) => type === 'member-transition' && to === 'out' && nextHop !== victim.address,
    );
    expect(outs).toEqual([]);
    await victim.reconnect();
    await whole();
    const { brokenByMaster } = await lab.client.check();
    expect(brokenAt(others(lab, victim), brokenByMaster)).toBe(0);
  });
});

describe('carrier', () => {
  it('takes all members out by the event, and lets them in again when it returns', async () => {
    const before = await lastEvent(lab);
    await lab.switch.setPorts(['lb1-eth0'], 'down');
    const { reason } = await outAfter(lab.master(1), before, performance.now());
    expect(reason).toBe('no carrier on eth0');
    await lab.switch.setPorts(['lb1-eth0'], 'up');
    await lab.lb.waitForPool(addresses(lab.masters));
    const forwarded = (await eventsSince(lab, before))
      .filter(({ type }) => type === 'vip-forwarding')
      .map(({ nextHops }) => (Array.isArray(nextHops) ? nextHops.length : -1));
    // Out once, and in again: never out a second time. A speaker that is late to connect may come after the others.
    expect(forwarded.indexOf(0)).toBe(0);
    expect(forwarded.lastIndexOf(0)).toBe(0);
    expect(forwarded.at(-1)).toBe(3);
  });
});

describe('what can be seen of BFD', () => {
  it('is in the status, the neighbors and the metrics', async () => {
    const [first] = (await lab.lb.router.request('GET', '/api/v1/neighbors')) as readonly {
      readonly bfd: unknown;
    }[];
    expect(first?.bfd).toMatchObject({
      state: 'Up',
      remoteState: 'Up',
      transmitInterval: 50,
      detectionTime: 150,
      multihop: false,
    });
    const status: unknown = await lab.lb.router.request('GET', '/api/v1/status');
    expect(status).toMatchObject({ bfd: { scheduling: expect.any(String), problems: [] } });
    const metrics = await metricsOf(lab);
    expect(metrics.get('bgp_lb_router_bfd_sessions{role="master",state="Up"}')).toBe(3);
    expect(metrics.get('bgp_lb_router_bfd_packets_total{direction="received"}')).toBeGreaterThan(0);
    expect((await lab.lb.router.query(['neighbors', lab.master(1).address])).stdout).toContain(
      '50 ms, 150 ms',
    );
  });
});
