import { type CommandContext, loadConfig } from '@bgp-lb/daemon';
import { faultsOnHost } from './faults-on-host.ts';
import { speakerSchema } from './schema.ts';
import { API_VERSION, KIND, type SpeakerConfig } from './speaker-config.ts';

/**
 * The speaker's configuration by file, environment and flags.
 * @param onHost whether this host is looked at too: password files, folders, own addresses
 * @throws ConfigError
 */
export function loadSpeakerConfig(
  { configFile, configFlags, env }: CommandContext,
  onHost = false,
): SpeakerConfig {
  return loadConfig({
    schema: speakerSchema,
    file: configFile,
    argv: configFlags,
    env,
    apiVersion: API_VERSION,
    kind: KIND,
    onHost: onHost ? faultsOnHost : undefined,
  }).config;
}
