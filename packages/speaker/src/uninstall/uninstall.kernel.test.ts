import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SpeakerLab, VIP } from '../testing/speaker-lab.ts';

const TIMEOUT = 60_000;

let lab: SpeakerLab;

beforeEach(() => {
  lab = new SpeakerLab();
  lab.configure({ routeToVip: 'true' });
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

/** What of the kernel is not the lab's own: addresses of `lo`, nft tables, routes, all as ip(8) and nft(8) print them. */
function kernel(): string {
  return [
    lab.master.ip('-o', 'address', 'show', 'dev', 'lo').replaceAll(/\d+sec/g, ''),
    lab.master.run('nft', 'list', 'ruleset').replaceAll(/expires \S+/g, ''),
    lab.master.ip('route', 'show', 'table', 'all'),
  ].join('\n');
}

describe('uninstall', { timeout: TIMEOUT }, () => {
  it('leaves the machine as it was before, what is of others included, and a second run finds nothing', async () => {
    // Things of others that look like ours.
    lab.master.run('nft', 'add table inet bgp_lb; add table inet bgp_lb_speaker2');
    lab.master.ip('address', 'add', '10.100.0.9/32', 'dev', 'lo');
    lab.master.ip('route', 'add', '10.100.0.9/32', 'via', '10.9.0.1', 'proto', 'bird');
    await lab.startApiServer();
    const before = kernel();
    lab.command('prepare');
    expect(lab.master.ip('route', 'show', VIP)).toContain('via 10.9.0.1 dev e0 proto 84');
    await lab.turn('ready');
    lab.finishKubeadm();
    const speaker = await lab.startSpeaker();
    await lab.reach('advertised');
    await speaker.stop('SIGKILL');
    writeFileSync(lab.path('drain'), '');
    writeFileSync(lab.path('state/of-somebody-else'), '');
    expect(kernel()).not.toBe(before);

    const said = lab.command('uninstall');
    for (const part of ['from lo', 'the nft table', 'the route to', 'state.json', 'left: ']) {
      expect(said).toContain(part);
    }
    expect(kernel()).toBe(before);
    expect(readdirSync(lab.path('state'))).toEqual(['of-somebody-else']);
    expect(existsSync(lab.path('drain'))).toBe(false);
    expect(existsSync(lab.path('speaker.sock'))).toBe(false);
    expect(existsSync(lab.path('speaker.yaml'))).toBe(true);
    expect(lab.command('uninstall')).not.toContain('removed');
  });

  it('is refused while clients are served here, and while a speaker runs at all', async () => {
    await lab.startApiServer();
    await lab.turn('ready');
    lab.finishKubeadm();
    const speaker = await lab.startSpeaker();
    await lab.reach('advertised');
    expect(() => lab.command('uninstall')).toThrow(/advertised here: drain this master first/);
    expect(() => lab.command('uninstall', '--force')).toThrow(`process ${speaker.pid}`);
    expect(lab.isBound()).toBe(true);
  });
});
