import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROUTER, SpeakerLab, VIP } from './testing/speaker-lab.ts';

const TIMEOUT = 60_000;

let lab: SpeakerLab;

beforeEach(() => {
  lab = new SpeakerLab();
  lab.configure();
}, TIMEOUT);

afterEach(() => lab.remove(), TIMEOUT);

function state(): unknown {
  return JSON.parse(readFileSync(lab.path('state/state.json'), 'utf8'));
}

describe('prepare on a host', { timeout: TIMEOUT }, () => {
  it('removes what a killed speaker left, and a second run finds nothing', async () => {
    await lab.startApiServer();
    await lab.turn('ready');
    lab.finishKubeadm();
    const speaker = await lab.startSpeaker();
    await lab.reach('advertised');
    await speaker.stop('SIGKILL');
    lab.finishKubeadm();
    expect(lab.isBound()).toBe(true);

    const said = lab.command('prepare', '--role', 'join');
    for (const part of [
      'from lo',
      'the nft table',
      'the marker',
      'the proof of bootstrap',
      'the role is join',
    ]) {
      expect(said).toContain(part);
    }
    expect(lab.isBound()).toBe(false);
    expect(lab.master.run('nft', 'list', 'tables')).toBe('');
    expect(existsSync(lab.marker)).toBe(false);
    expect(state()).toEqual({ version: 1, role: 'join', consumed: [] });
    expect(lab.command('prepare')).not.toContain('removed');
  });

  it('is refused while a speaker runs, which would put everything back', async () => {
    const speaker = await lab.startSpeaker();
    expect(() => lab.command('prepare')).toThrow(`process ${speaker.pid}`);
  });

  it('begins anew where state.json is none, which a speaker before it survives and tells', async () => {
    mkdirSync(lab.path('state/state.json/folder'), { recursive: true });
    lab.configure({ role: 'init' });
    const speaker = await lab.startSpeaker();
    expect(await lab.reach('absent')).toContain('state.json is not believed (it is a folder)');
    expect(lab.isBound()).toBe(false);
    await speaker.stop('SIGKILL');
    // Put aside by the speaker; and now one that has not been seen yet.
    expect(existsSync(lab.path('state/state.json.corrupt/folder'))).toBe(true);
    writeFileSync(lab.path('state/state.json'), '');
    expect(lab.command('prepare', '--role', 'init')).toContain('state.json is not believed');
    expect(state()).toEqual({ version: 1, role: 'init', consumed: [] });
    await lab.startSpeaker();
    await lab.reach('local-only');
  });

  it('puts the routes there alone, at a boot, also beside a speaker, and fails while a router is on no link', async () => {
    lab.configure({ routeToVip: 'true' });
    lab.finishKubeadm();
    await lab.startSpeaker();
    lab.master.ip('route', 'delete', VIP);
    expect(lab.command('prepare', '--routes-only')).not.toContain('removed');
    expect(lab.master.ip('route', 'show', VIP)).toContain(`via ${ROUTER} dev e0 proto 84`);
    lab.configure({ routeToVip: 'true', routers: '[{ address: 203.0.113.1, asn: 64512 }]' });
    expect(() => lab.command('prepare', '--routes-only')).toThrow(/Command failed/);
    expect(() => lab.command('prepare', '--routes-only', '--role', 'join')).toThrow(/takes no --role/);
  });
});
