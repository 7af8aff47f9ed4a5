import { isIP } from 'node:net';
import { type Command, readRegularFile, UsageError } from '@bgp-lb/daemon';
import { readHaproxyConfig } from './imported-config.ts';
import { routerYaml } from './router-yaml.ts';

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
    if (vip !== undefined && isIP(String(vip)) === 0) {
      throw new UsageError(`--vip: ${String(vip)} is not an IP address`);
    }
    const imported = readHaproxyConfig(read(String(file)));
    if (imported.binds.length === 0 || imported.servers.length === 0) {
      const missing = imported.binds.length === 0 ? 'bind' : 'server';
      throw new UsageError(
        `${String(file)} has no line "${missing}": it is not the haproxy.cfg of a load balancer`,
      );
    }
    const { text, notes } = routerYaml(imported, vip === undefined ? undefined : String(vip));
    context.write(text);
    for (const note of notes) context.say(note);
    for (const { number, text: line, reason } of imported.replaced) {
      context.say(`line ${number}: "${line}" is not taken over: ${reason}`);
    }
    for (const { number, text: line } of imported.unknown) {
      context.say(`line ${number}: "${line}" is not understood: see what it does for you`);
    }
    return imported.unknown.length === 0 ? 0 : 1;
  },
};

function read(file: string): string {
  try {
    return readRegularFile(file, MOST).toString();
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}
