/** Program `main.ts init|join [phase preflight] --config FILE`: a kubeadm for the lab. Exit status and last line as kubeadm's. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { init, initPreflight } from './init.ts';
import { join, joinPreflight } from './join.ts';
import type { KubeadmConfig } from './kubeadm-config.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { config: { type: 'string' } },
});
const commands: Readonly<Record<string, (config: KubeadmConfig) => Promise<unknown>>> = {
  init,
  'init phase preflight': initPreflight,
  join,
  'join phase preflight': joinPreflight,
};
const run = commands[positionals.join(' ')];
if (run === undefined || values.config === undefined) {
  console.error('usage: kubeadm init|join [phase preflight] --config FILE');
  process.exit(1);
}
try {
  await run(JSON.parse(readFileSync(values.config, 'utf8')) as KubeadmConfig);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
