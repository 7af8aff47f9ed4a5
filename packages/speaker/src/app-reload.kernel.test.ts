import { renameSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { path, ROUTER, routesOf, SECOND_ROUTER, SpeakerLab } from './testing/speaker-lab.ts';

/** Each reload is a process of its own. */
const TIMEOUT = 120_000;

let lab: SpeakerLab;
let router: LineProcess;
let speaker: LineProcess;

beforeEach(async () => {
  lab = new SpeakerLab();
  lab.configure();
  [router] = await Promise.all([lab.startRouter(), lab.startApiServer()]);
  await lab.turn('ready');
  lab.finishKubeadm();
  speaker = await lab.startSpeaker();
  await lab.reach('advertised');
  expect(await routesOf(router)).toEqual([path.normal]);
  // The last UPDATE of a session that nothing happens to.
  await router.next(field('endOfRib'));
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

function entry(address: string, more = ', bfd: false'): string {
  return `{ address: ${address}, asn: 64512, passwordFile: ${lab.path('password')}${more} }`;
}

/** What the router has received of the speaker by now, and sent to it, KEEPALIVEs aside: they come on their own. */
async function exchanged(): Promise<unknown> {
  router.send('counters');
  const counts = await router.next(field('messages'));
  return JSON.parse(JSON.stringify(counts), (key, value) => (key === 'KEEPALIVE' ? undefined : value));
}

/** Writes the configuration and reloads; what has changed. Rejects with what the speaker complains of. */
function reload(routers: string, changes: Readonly<Record<string, string>> = {}): Promise<unknown> {
  lab.configure({ routers, ...changes });
  return lab.reload();
}

const nothing = { added: [], removed: [], changed: [] };

describe('a reload of the routers', { timeout: TIMEOUT }, () => {
  it('adds one, changes one and removes one, and sends nothing to the others', async () => {
    const secondStarts = lab.startRouter({ address: SECOND_ROUTER });
    const before = await exchanged();
    expect(lab.ask('reload')).toContain('no session has changed');
    const second = await secondStarts;
    expect(await reload(`[${entry(ROUTER)}, ${entry(SECOND_ROUTER)}]`)).toEqual({
      ...nothing,
      added: [SECOND_ROUTER],
    });
    expect(await routesOf(second)).toEqual([path.normal]);
    // BFD is beside the session, and a router without it is taken as it is.
    const less = `, bfd: false, withoutCapabilities: [multiprotocol, route-refresh, enhanced-route-refresh, four-octet-as,
      extended-message, add-path, graceful-restart, bfd-authentication]`;
    const changed = `[${entry(ROUTER, ', bfd: {}')}, ${entry(SECOND_ROUTER, less)}]`;
    expect(await reload(changed)).toEqual({ ...nothing, changed: [SECOND_ROUTER] });
    expect(await second.next(field('text'))).toContain('Other Configuration Change');
    expect(await second.next(field('offered'))).toContain('extended-message');
    expect(await second.next(field('offered'))).toEqual([]);
    const both = await lab.until(({ routers }) => routers.every(({ session }) => session === 'Established'));
    expect(both.routers).toMatchObject([
      { address: ROUTER, bfd: 'Down', establishedCount: 1 },
      { address: SECOND_ROUTER, bfd: 'off' },
    ]);
    expect(await reload(`[${entry(ROUTER)}]`)).toEqual({ ...nothing, removed: [SECOND_ROUTER] });
    expect(await second.next(field('text'))).toContain('Peer De-configured');
    expect((await lab.status()).routers.map(({ address, bfd }) => [address, bfd])).toEqual([[ROUTER, 'off']]);
    expect(await exchanged()).toEqual(before);
  });

  it('that cannot be leaves everything as it is, and says why', async () => {
    const before = await exchanged();
    const withSecond = `[${entry(ROUTER)}, ${entry(SECOND_ROUTER)}]`;
    await expect(reload('[{ address: 10.9.0.300, asn: 64512 }]')).rejects.toThrow(
      /routers\.0\.address.*10\.9\.0\.300/s,
    );
    await expect(reload(withSecond, { asn: '64513', endpoint: 'api.example.net' })).rejects.toThrow(
      'since asn, endpoint changed',
    );
    await expect(
      reload(`[${entry(ROUTER)}, { address: ${SECOND_ROUTER}, asn: 1, passwordFile: /no }]`),
    ).rejects.toThrow(/routers\.1\.passwordFile: cannot be read: ENOENT/);
    writeFileSync(lab.path('speaker.yaml'), 'kind: [');
    process.kill(speaker.pid ?? 0, 'SIGHUP');
    const complaint = await speaker.next((line) => {
      const text = String(field('msg')(line));
      return text.includes('did not reload') ? text : undefined;
    });
    expect(complaint).toContain('the old configuration stays');
    expect((await lab.status()).routers).toMatchObject([{ address: ROUTER, establishedCount: 1 }]);
    expect(await exchanged()).toEqual(before);
  });

  it('changes a password in two steps, without a word on the session that stands', async () => {
    const before = await exchanged();
    writeFileSync(lab.path('next'), 'changed\n', { mode: 0o600 });
    await reload(`[${entry(ROUTER, `, bfd: false, nextPasswordFile: ${lab.path('next')}`)}]`);
    expect(await exchanged()).toEqual(before);
    // Now the router: it takes only the new one.
    await router.stop('SIGTERM');
    router = await lab.startRouter({ password: 'changed' });
    expect(await router.next(field('established'))).toBe('10.9.0.2');
    await router.next(field('endOfRib'));
    const after = await exchanged();
    renameSync(lab.path('next'), lab.path('password'));
    await reload(`[${entry(ROUTER)}]`);
    expect((await lab.status()).routers).toMatchObject([{ session: 'Established', password: true }]);
    expect(await exchanged()).toEqual(after);
  });
});
