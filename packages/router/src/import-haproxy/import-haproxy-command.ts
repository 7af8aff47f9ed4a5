import {
  type Command,
  ConfigError,
  formatDiagnostic,
  loadConfig,
  readRegularFile,
  UsageError,
} from '@bgp-lb/daemon';
import { API_VERSION, CONFIG_KIND, routerSchema } from '../config/schema.ts';
import { readHaproxyConfig } from './imported-config.ts';
import type { NotTaken } from './read-proxy.ts';
import { isVipAddress, routerYaml } from './router-yaml.ts';

/** Octets: one of a load balancer for a control plane has some KiB. */
const MOST = 1024 * 1024;

/** `import-haproxy`: router.yaml for a haproxy.cfg, and what of it has no counterpart. */
export const importHaproxyCommand: Command = {
  syntax: 'import-haproxy <file>',
  describe:
    'Print router.yaml for a haproxy.cfg as kubeadm describes it; what is not taken from it is said on standard error, with status 1 for lines that are not understood',
  positionals: { file: { describe: 'haproxy.cfg' } },
  options: {
    vip: { type: 'string', requiresArg: true, describe: 'address of the VIP, for a bind without one' },
  },
  async run(context) {
    const { file, vip } = context.args;
    if (vip !== undefined && !isVipAddress(String(vip))) {
      throw new UsageError(`--vip: ${String(vip)} is no address that a VIP may have`);
    }
    const imported = readHaproxyConfig(read(String(file)));
    const { text, notes, left } = routerYaml(imported, vip === undefined ? undefined : String(vip));
    for (const note of notes) context.say(note);
    for (const one of imported.replaced) context.say(`${placed(one)} is not taken over: ${one.reason}`);
    const missed = [...imported.left, ...left];
    for (const one of missed) {
      const why =
        one.reason === undefined
          ? 'is not understood: see what it does for you'
          : `is not taken over: ${one.reason}`;
      context.say(`${placed(one)} ${why}`);
    }
    if (text === undefined) {
      throw new UsageError(
        `${String(file)}: nothing of it can be a VIP with members: see above, or give --vip`,
      );
    }
    check(text);
    context.write(text);
    return missed.length === 0 ? 0 : 1;
  },
};

function placed({ number, last = number, text }: NotTaken): string {
  return `${last === number ? `line ${number}` : `lines ${number} to ${last}`}: "${text}"`;
}

/** What is printed passes `check-config`. */
function check(text: string): void {
  try {
    loadConfig({
      schema: routerSchema,
      file: 'router.yaml',
      text,
      apiVersion: API_VERSION,
      kind: CONFIG_KIND,
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.diagnostics.map(formatDiagnostic).join('\n');
    throw new UsageError(`what would be printed is not a good configuration:\n${faults}`);
  }
}

function read(file: string): string {
  try {
    return readRegularFile(file, MOST).toString();
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}
