import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { field, type LineProcess } from './testing/network-namespace.ts';
import { CLIENT, type CommandEnd, path, routesOf, SpeakerLab } from './testing/speaker-lab.ts';

const TIMEOUT = 240_000;

let lab: SpeakerLab;
let router: LineProcess;

beforeEach(async () => {
  lab = new SpeakerLab();
  [router] = await Promise.all([lab.startRouter(), lab.startApiServer()]);
  await lab.turn('ready');
  lab.finishKubeadm();
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

async function inService(changes: Readonly<Record<string, string>> = {}): Promise<LineProcess> {
  // An API server that is slow on a busy machine is not what is looked at here.
  const apiServer = `{ caFile: ${lab.path('ca.crt')}, timeout: 2s, fall: 20 }`;
  lab.configure({ apiServer, drain: `{ file: ${lab.path('drain')}, timeout: 60s }`, ...changes });
  const speaker = await lab.startSpeaker();
  await lab.reach('advertised');
  expect(await routesOf(router)).toEqual([path.normal]);
  return speaker;
}

function command(...args: readonly string[]): Promise<CommandEnd> {
  return lab.startCommand(...args, '--socket', lab.path('speaker.sock'));
}

describe('drain by command', { timeout: TIMEOUT }, () => {
  it('does not empty the pool, waits for the clients and names them, outlives the speaker, and is taken back', async () => {
    const first = await inService();
    const refused = await command('drain');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/nobody would serve 10\.100\.0\.1\/32: no router has told of another/);
    expect(await lab.reach('advertised')).toBeDefined();

    router.send('another-master');
    await lab.until(({ routers }) => routers[0]?.prefixes.received === 1);
    const client = await lab.connectClient();
    const draining = command('drain');
    expect(await routesOf(router)).toEqual([path.draining]);
    // The command is there and sees the client before it ends.
    await lab.until(({ gates }) =>
      gates.some(({ name, detail }) => name === 'drain' && detail === 'command'),
    );
    client.send('end');
    expect(await routesOf(router)).toEqual([]);
    const { code, stdout, stderr } = await draining;
    expect(code).toBe(0);
    // The command may look before the speaker has decided once more: the reason is then that of the end itself.
    expect(stdout).toMatch(/10\.100\.0\.1\/32 +absent +10\.9\.0\.9 +drained( by command|: no client)/);
    expect(stderr).toContain('drained');
    expect(lab.isBound()).toBe(false);
    expect(await lab.events('connections-reset')).toEqual([]);
    // Shown by the router itself: there was no wait of a second, as for one that cannot show it.
    const moved = await lab.events('vip-state');
    expect(moved.at(-1)).toMatchObject({ from: 'draining', to: 'absent' });

    const again = await command('drain', '--no-wait', '-o', 'json');
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(again.stdout)).toMatchObject({ isDone: true, requestedBy: ['command'], clients: [] });
    await first.stop('SIGTERM');
    await lab.startSpeaker();
    await lab.until(
      ({ routers, gates }) =>
        routers[0]?.session === 'Established' && gates.some(({ name, pass }) => name === 'readyz' && pass),
    );
    expect((await lab.status()).vips[0]).toMatchObject({ state: 'absent', reason: 'drained by command' });
    expect(existsSync(lab.path('state/drain.json'))).toBe(true);

    expect(await command('undrain')).toMatchObject({ code: 0 });
    expect(await routesOf(router)).toEqual([path.normal]);
  });

  it('ends at its time, resets who is left, and says so; --force goes without another master', async () => {
    await inService();
    const client = await lab.connectClient();
    const { code, stdout, stderr } = await command('drain', '--force', '--timeout', '1s');
    expect(await client.next(field('end'))).toBe('ECONNRESET');
    expect(code).toBe(0);
    expect(stderr).toContain(`connections left: 1: ${CLIENT} (1)`);
    expect(stdout).toMatch(new RegExp(`10\\.100\\.0\\.1/32 +1 +${CLIENT.replaceAll('.', '\\.')}`));
  });
});

describe('a second SIGTERM during a drain', { timeout: TIMEOUT }, () => {
  it('ends it at once and in order: withdrawn, Cease with a text, unbound', async () => {
    const speaker = await inService({ stopMode: 'drain' });
    await lab.connectClient();
    const exit = speaker.stop('SIGTERM');
    expect(await routesOf(router)).toEqual([path.draining]);
    process.kill(speaker.pid ?? 0, 'SIGTERM');
    expect(await routesOf(router)).toEqual([]);
    expect(await router.next(field('text'))).toContain('the speaker was stopped and has drained');
    await exit;
    expect(await speaker.exit()).toBe(0);
    expect(lab.isBound()).toBe(false);
  });
});
