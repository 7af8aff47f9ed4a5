/** Program `main.ts init|join --config FILE`: a kubeadm for the lab. Exit status and last line as kubeadm's. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { init } from './init.ts';
import { join } from './join.ts';
import type { KubeadmConfig } from './kubeadm-config.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { config: { type: 'string' } },
});
const [command] = positionals;
const run = command === 'init' ? init : command === 'join' ? join : undefined;
if (run === undefined || values.config === undefined) {
  console.error('usage: kubeadm init|join --config FILE');
  process.exit(1);
}
try {
  await run(JSON.parse(readFileSync(values.config, 'utf8')) as KubeadmConfig);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
