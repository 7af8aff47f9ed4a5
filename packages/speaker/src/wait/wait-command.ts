import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, type CommandContext, HttpsProbe, parseDuration, UsageError } from '@bgp-lb/daemon';
import { endpointText } from '@bgp-lb/protocol';
import { effectiveRole } from '../bootstrap/latch.ts';
import { StateFile } from '../bootstrap/state-file.ts';
import { loadSpeakerConfig } from '../config/load-speaker-config.ts';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { readTextFileIfPresent } from '../read-text-file.ts';
import { waitForApi } from './wait-for-api.ts';

const DEFAULT_TIMEOUT = '1h';
const INTERVAL = 2_000;

/** `wait`: returns once the API server answers through every VIP. */
export const waitCommand: Command = {
  syntax: 'wait',
  describe: 'On a joining master, before kubeadm: wait until the API server answers through the VIP',
  takesConfig: true,
  options: {
    timeout: {
      type: 'string',
      requiresArg: true,
      default: DEFAULT_TIMEOUT,
      describe: 'how long at most: 90s, 10m, 1h',
    },
  },
  async run(context) {
    const timeout = timeoutOf(context);
    const config = loadSpeakerConfig(context);
    if (roleOf(config) === 'init') {
      context.say('the role is init: this machine makes the API server that others wait for');
      return 0;
    }
    const end = performance.now() + timeout;
    for (const vip of config.vips) {
      const outcome = await waitAt(context, config, vip, end - performance.now());
      context.say(outcome.detail);
      if (!outcome.answers) return 1;
    }
    return 0;
  },
};

function roleOf({ role, bootstrap }: SpeakerConfig): 'init' | 'join' {
  const prepared = new StateFile(bootstrap.stateDir).load(new Date().toISOString()).state.role;
  return effectiveRole(role, prepared, {
    hasInitConfiguration: existsSync('/run/kubeadm/kubeadm.yaml'),
    hasJoinConfiguration: existsSync('/run/kubeadm/kubeadm-join-config.yaml'),
  });
}

function waitAt(
  context: CommandContext,
  { apiServer }: SpeakerConfig,
  { address, port }: SpeakerConfig['vips'][number],
  timeout: number,
): ReturnType<typeof waitForApi> {
  const { caFile, path, serverName } = apiServer;
  const probe = new HttpsProbe({
    address,
    port,
    serverName,
    path,
    // kubeadm brings ca.crt with the join itself.
    ca: () => readTextFileIfPresent(caFile),
    timeoutMs: 5_000,
    keepAlive: false,
  });
  return waitForApi({
    endpoint: endpointText(address, port),
    probe: () => probe.probe(),
    timeout: Math.round(timeout),
    interval: INTERVAL,
    now: () => performance.now(),
    sleep,
    say: (message) => context.say(message),
  });
}

function timeoutOf({ args }: CommandContext): number {
  const text = String(args['timeout'] ?? DEFAULT_TIMEOUT);
  const parsed = parseDuration(text);
  if (parsed === undefined || parsed <= 0) {
    throw new UsageError(`--timeout ${text} is not a time; allowed: a number and a unit, as in 90s, 10m, 1h`);
  }
  return parsed;
}
