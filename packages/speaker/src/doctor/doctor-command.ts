import { type Command, findingsTable } from '@bgp-lb/daemon';
import { loadSpeakerConfig } from '../config/load-speaker-config.ts';

/** `doctor`: everything that the speaker depends on; exit code 1 when something is at fault. */
export const doctorCommand: Command = {
  syntax: 'doctor',
  describe: 'Look for what keeps this master from serving the VIP, and say what to do about it',
  takesConfig: true,
  prints: true,
  async run(context) {
    const config = loadSpeakerConfig(context);
    const { examine } = await import('./examine.ts');
    const findings = await examine(config);
    context.print(findings, findingsTable);
    return findings.some(({ level }) => level === 'fault') ? 1 : 0;
  },
};
