import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { path, routesOf, SpeakerLab } from './testing/speaker-lab.ts';

const TIMEOUT = 60_000;
const fast = '{ transmitInterval: 50ms, receiveInterval: 50ms }';

let lab: SpeakerLab;

beforeEach(async () => {
  lab = new SpeakerLab();
  await lab.startApiServer();
  await lab.turn('ready');
  lab.finishKubeadm();
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

/** A speaker in service with a router, between which BFD is Up. */
async function inService(
  bfd: string,
  interval: number,
  changes: Readonly<Record<string, string>> = {},
): Promise<{ speaker: LineProcess; router: LineProcess }> {
  lab.configure({ routers: lab.bfdRouter(bfd), ...changes });
  const router = await lab.startRouter({ bfd: interval });
  const speaker = await lab.startSpeaker();
  await lab.reach('advertised');
  expect(await routesOf(router)).toEqual([path.normal]);
  await bfdBecomes(router, 'Up');
  await lab.until(({ routers }) => routers[0]?.bfd === 'Up');
  return { speaker, router };
}

/** Why the router's end of the BFD session took this state. */
function bfdBecomes(router: LineProcess, state: string): Promise<unknown> {
  return router.next((message) => (field('bfd')(message) === state ? field('reason')(message) : undefined));
}

/** What the router sees first: why BFD went Down, or how BGP did. */
function firstOf(router: LineProcess): Promise<unknown> {
  return router.next((message) =>
    field('bfd')(message) === 'Down' ? field('reason')(message) : field('down')(message),
  );
}

/** The next log line of this kind. */
function logged(speaker: LineProcess, text: string): Promise<string> {
  return speaker.next((message) => {
    const line = field('msg')(message);
    return typeof line === 'string' && line.includes(text) ? line : undefined;
  });
}

describe('BFD with a router', { timeout: TIMEOUT }, () => {
  it('comes Up, and status says how its thread is scheduled', async () => {
    const { speaker } = await inService('{}', 300);
    const { routers } = await lab.status();
    expect(routers[0]).toMatchObject({ session: 'Established', bfd: 'Up' });
    expect(routers[0]?.bfdSession).toMatchObject({ transmitInterval: 300, detectionTime: 900 });
    expect(await logged(speaker, 'scheduled as')).toContain('nice -15');
    // In real time only when its start is over.
    expect(await logged(speaker, 'SCHED_FIFO')).toContain('SCHED_FIFO 10');
    expect((await lab.status()).bfd).toEqual({ scheduling: 'SCHED_FIFO 10', missing: [] });
    expect(await lab.metrics()).toMatch(/^bgp_lb_speaker_bfd_session_up\{router="10\.9\.0\.1"\} 1$/m);
  });

  it('that falls silent ends the BGP session by Cease/BFD Down, changes nothing here, and comes back', async () => {
    const { speaker, router } = await inService(fast, 50);
    process.kill(router.pid ?? 0, 'SIGSTOP');
    expect(await logged(speaker, 'Up -> Down')).toMatch(
      /detection-expired; nothing heard for \d+ ms.*is ended/,
    );
    const { routers, vips } = await lab.until(({ routers: [one] }) => one?.session !== 'Established');
    expect(routers[0]?.lastDown?.text).toContain('BFD Down');
    expect(vips[0]).toMatchObject({ state: 'advertised', bound: true });
    process.kill(router.pid ?? 0, 'SIGCONT');
    await lab.until(({ routers: [one] }) => one?.session === 'Established' && one.bfd === 'Up');
    expect(lab.isBound()).toBe(true);
  });

  it('that the router takes down is not its death', async () => {
    const { speaker, router } = await inService(fast, 50);
    router.send('bfd-admin-down');
    expect(await logged(speaker, 'Up -> Down')).toContain('peer-admin-down');
    const { routers } = await lab.status();
    expect(routers[0]).toMatchObject({ session: 'Established', bfd: 'Down', establishedCount: 1 });
  });

  it('does not end the new session of a router that was killed and is back at once', async () => {
    // A Detection Time of 9 s: the next router is to be there before it is over, also on a slow machine.
    const { speaker, router } = await inService('{}', 3_000);
    await router.stop('SIGKILL');
    const next = await lab.startRouter();
    expect(await routesOf(next)).toEqual([path.normal]);
    expect(await logged(speaker, 'Up -> Down')).toContain(
      'the silence began before the BGP session, which stays',
    );
    next.send('bfd-start');
    await lab.until(({ routers: [one] }) => one?.bfd === 'Up');
    expect((await lab.status()).routers[0]).toMatchObject({ session: 'Established', establishedCount: 2 });
  });

  it('is not waited for, when the router has none', async () => {
    lab.configure({ routers: lab.bfdRouter(fast) });
    const router = await lab.startRouter();
    await lab.startSpeaker();
    expect(await routesOf(router)).toEqual([path.normal]);
    expect((await lab.status()).routers[0]).toMatchObject({ session: 'Established', bfd: 'Down' });
  });

  it('is waited for before BGP connects, where the router is strict', async () => {
    lab.configure({
      routers: lab.bfdRouter('{ transmitInterval: 50ms, receiveInterval: 50ms, strict: true }'),
    });
    const router = await lab.startRouter();
    await lab.startSpeaker();
    const { routers } = await lab.until(({ vips: [vip] }) => vip?.state === 'advertised');
    expect(routers[0]).toMatchObject({ session: 'Idle', stopped: true, bfd: 'Down' });
    expect(router.hasSent((message) => field('established')(message) !== undefined)).toBe(false);
    router.send('bfd-start');
    expect(await routesOf(router)).toEqual([path.normal]);
    await lab.until(({ routers: [one] }) => one?.session === 'Established' && one.bfd === 'Up');
  });
});

describe('the end of a speaker with BFD', { timeout: TIMEOUT }, () => {
  it.each(['keep', 'drain'])(
    'with stopMode %s says AdminDown, so that it is not taken for death',
    async (stopMode) => {
      const drain = `{ file: ${lab.path('drain')}, timeout: 1s }`;
      const { speaker, router } = await inService(fast, 50, { stopMode, drain });
      const stopped = speaker.stop('SIGTERM');
      // In either order: they are sent so closely one after the other that the router may see both at once.
      const ends = [await firstOf(router), await firstOf(router)];
      expect(ends.sort()).toEqual(
        [stopMode === 'keep' ? 'tcp-closed' : 'notification-received', 'peer-admin-down'].sort(),
      );
      await stopped;
    },
  );

  it('by SIGKILL closes TCP before BFD has noticed, and its successor begins anew', async () => {
    const { speaker, router } = await inService('{}', 300);
    await speaker.stop('SIGKILL');
    expect(await firstOf(router)).toBe('tcp-closed');
    await lab.startSpeaker();
    await router.next(field('established'));
    await bfdBecomes(router, 'Up');
    await lab.until(({ routers: [one] }) => one?.session === 'Established' && one.bfd === 'Up');
  });
});

describe('a speaker without BFD', { timeout: TIMEOUT }, () => {
  it('has no thread for it', async () => {
    lab.configure();
    await lab.startRouter();
    await lab.startSpeaker();
    const { bfd, routers } = await lab.status();
    expect(bfd).toBeNull();
    expect(routers[0]).toMatchObject({ bfd: 'off', bfdSession: null });
  });
});
