import { type CommandContext, loadConfig } from '@bgp-lb/daemon';
import { speakerSchema } from './schema.ts';
import { API_VERSION, KIND, type SpeakerConfig } from './speaker-config.ts';

/** The speaker's configuration by file, environment and flags. @throws ConfigError */
export function loadSpeakerConfig({ configFile, configFlags, env }: CommandContext): SpeakerConfig {
  return loadConfig({
    schema: speakerSchema,
    file: configFile,
    argv: configFlags,
    env,
    apiVersion: API_VERSION,
    kind: KIND,
  }).config;
}
