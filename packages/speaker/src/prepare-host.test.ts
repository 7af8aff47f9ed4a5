import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SpeakerLab } from './testing/speaker-lab.ts';

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
});
