import { existsSync } from 'node:fs';
import { type CommandContext, loadConfig } from '@bgp-lb/daemon';
import { API_VERSION } from '../api/group.ts';
import { type ControllerConfig, controllerSchema, KIND } from './schema.ts';

/** Where the configuration is, if there is one: all keys have defaults. */
export const DEFAULT_CONFIG_FILE = '/etc/bgp-lb/controller.yaml';

/** The configuration by file, environment and flags. @throws ConfigError */
export function loadControllerConfig({ configFile, configFlags, env }: CommandContext): ControllerConfig {
  const isMissing = configFile === DEFAULT_CONFIG_FILE && !existsSync(configFile);
  return loadConfig({
    schema: controllerSchema,
    file: configFile,
    ...(isMissing ? { text: `apiVersion: ${API_VERSION}\nkind: ${KIND}\n` } : {}),
    argv: configFlags,
    env,
    apiVersion: API_VERSION,
    kind: KIND,
  }).config;
}
