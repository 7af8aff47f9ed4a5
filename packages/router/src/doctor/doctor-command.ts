import { type Command, type CommandContext, findingsTable } from '@bgp-lb/daemon';
import type { RouterConfig } from '../config/router-config.ts';

/** `doctor`: everything that the router depends on; exit code 1 when something is at fault. */
export const doctorCommand = (load: (context: CommandContext) => RouterConfig): Command => ({
  syntax: 'doctor',
  describe: 'Look for what keeps this load balancer from serving the VIPs, and say what to do about it',
  takesConfig: true,
  prints: true,
  options: {
    fix: {
      type: 'boolean',
      describe: 'make the settings of this host that are missing (sysctl), until the next boot',
    },
    bundle: {
      type: 'string',
      describe:
        'write what a bug report needs to this new file: findings, configuration, status, events; no secrets',
    },
  },
  async run(context) {
    const config = load(context);
    const { examine } = await import('./examine.ts');
    const findings = await examine(config, context.args['fix'] === true);
    const { bundle } = context.args;
    if (typeof bundle === 'string') {
      const { writeBundle } = await import('./bundle.ts');
      await writeBundle(bundle, config, findings);
      context.say(`wrote ${bundle}`);
    }
    context.print(findings, findingsTable);
    return findings.some(({ level }) => level === 'fault') ? 1 : 0;
  },
});
