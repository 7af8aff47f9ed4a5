import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../testing/network-namespace.ts';
import { SpeakerLab } from '../testing/speaker-lab.ts';

const TIMEOUT = 300_000;
const script = new URL('../../../../scripts/single-file.ts', import.meta.url).pathname;
const library = 'var-lib/bgp-lb/native/koffi.node';

let lab: SpeakerLab;

beforeAll(() => {
  lab = new SpeakerLab();
  lab.configure({
    routers: lab.bfdRouter('{}'),
    apiServer: `{ caFile: ${lab.path('ca.crt')}, timeout: 2s, fall: 20 }`,
  });
  mkdirSync(lab.path('var-lib'));
  execFileSync(process.execPath, [script, lab.path('speaker')], { stdio: ['ignore', 'ignore', 'pipe'] });
}, TIMEOUT);
afterAll(() => lab.remove(), TIMEOUT);

/** The command line on the master, with a /var/lib of the test's own. `ip netns exec` gives it a mount namespace. */
function onMaster(...args: readonly string[]): readonly string[] {
  const mount = `mount --bind ${lab.path('var-lib')} /var/lib && exec "$@"`;
  return ['sh', '-c', mount, 'sh', lab.path('speaker'), ...args];
}

function command(name: string, ...args: readonly string[]): string {
  const where = args.includes('--socket') ? [] : ['--config', lab.path('speaker.yaml')];
  const [program = '', ...argv] = onMaster(name, ...args, ...where);
  return lab.master.run(program, ...argv);
}

/** How a command fails: the daemon logs its reason, others say it. */
function saidBy(name: string): { readonly status: number | null; readonly said: string } {
  const argv = onMaster(name, '--config', lab.path('speaker.yaml'));
  const { status, stdout, stderr } = spawnSync('ip', ['netns', 'exec', lab.master.name, ...argv], {
    encoding: 'utf8',
  });
  return { status, said: `${stdout}${stderr}` };
}

describe('the single-file executable', { timeout: TIMEOUT }, () => {
  it('runs the commands of the host, and never loads a native part that is not its own', () => {
    expect(command('prepare')).toContain('nothing to remove');
    expect(lstatSync(lab.path('var-lib/bgp-lb/native'))).toMatchObject({ uid: 0 });
    const { uid, mode } = lstatSync(lab.path(library));
    expect({ uid, mode: mode & 0o7777 }).toEqual({ uid: 0, mode: 0o500 });
    const good = readFileSync(lab.path(library));
    rmSync(lab.path(library));
    // One octet of its text is another: the linker would not mind.
    const tampered = Buffer.from(good);
    tampered.writeUInt8((good.readUInt8(good.length - 1) + 1) & 0xff, good.length - 1);
    writeFileSync(lab.path(library), tampered, { mode: 0o500 });
    expect(command('prepare')).toContain('nothing to remove');
    expect(readFileSync(lab.path(library)).equals(good)).toBe(true);
  });

  it('waits for the API behind the VIP, and gives up at its time', () => {
    expect(() => command('wait', '--timeout', '1s')).toThrow(/the API server did not answer within 1 s/);
  });

  it('runs the daemon, with BFD in a thread, and refuses to run beside another', async () => {
    await Promise.all([lab.startRouter({ bfd: 300 }), lab.startApiServer()]);
    await lab.turn('ready');
    lab.finishKubeadm();
    const [program = '', ...argv] = onMaster('run', '--config', lab.path('speaker.yaml'));
    const speaker = lab.master.startProgram(program, ...argv);
    await speaker.next((message) => (field('msg')(message) === 'bgp-lb-speaker started' ? true : undefined));
    await lab.reach('advertised');
    const { routers } = await lab.until(({ routers: [router] }) => router?.bfd === 'Up');
    expect(routers[0]?.session).toBe('Established');
    expect(command('wait', '--timeout', '60s')).toBe('');
    for (const other of ['run', 'prepare']) {
      expect(saidBy(other)).toMatchObject({
        status: 1,
        said: expect.stringContaining('another instance is running'),
      });
    }
    expect(command('drain', '--force', '--socket', lab.path('speaker.sock'))).toContain('absent');
  });
});
