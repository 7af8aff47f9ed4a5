import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type {
  AutoDataplaneConfig,
  ChosenConfig,
  ChosenDataplaneConfig,
  RouterConfig,
} from '../config/router-config.ts';
import { stateFiles } from '../config/state-files.ts';
import { haproxyPaths } from '../dataplane/haproxy/haproxy-paths.ts';
import { isForwardedByKernel } from '../dataplane/kernel/is-forwarded-by-kernel.ts';
import { type DataPlaneChoice, readChoice } from './data-plane-choice.ts';

/** Where the choice is kept. */
export function choicePath({ stateDir }: Pick<RouterConfig, 'stateDir'>): string {
  return join(stateDir, stateFiles.dataPlane);
}

/** One of the two data planes that `auto` has the settings of. */
export function dataplaneOf(
  { kernel, haproxy }: AutoDataplaneConfig,
  kind: DataPlaneChoice['kind'],
): ChosenDataplaneConfig {
  return kind === 'kernel' ? { kind, ...kernel } : { kind, ...haproxy };
}

/**
 * The configuration with the data plane that counts on this host: as configured, as was decided, or the kernel until it is.
 * @throws ChoiceError
 */
export function chosenConfig(config: RouterConfig): ChosenConfig {
  const { dataplane } = config;
  if (dataplane.kind !== 'auto') return { ...config, dataplane };
  return withChoice(config, knownChoice(config, dataplane));
}

/** The configuration with the data plane that was decided for, or the kernel where none was. */
export function withChoice(config: RouterConfig, choice: DataPlaneChoice | undefined): ChosenConfig {
  const { dataplane } = config;
  return {
    ...config,
    dataplane: dataplane.kind === 'auto' ? dataplaneOf(dataplane, choice?.kind ?? 'kernel') : dataplane,
  };
}

/**
 * What was decided before, or follows from what `kind: haproxy` has left: it may carry connections, unless the kernel does now.
 * @throws ChoiceError; NetlinkError when the kernel does not answer
 */
export function knownChoice(
  config: RouterConfig,
  { kernel, haproxy }: AutoDataplaneConfig,
): DataPlaneChoice | undefined {
  const known = readChoice(choicePath(config));
  if (known !== undefined) return known;
  const { configFile } = haproxyPaths({ kind: 'haproxy', ...haproxy });
  if (!existsSync(configFile)) return undefined;
  // The file is of an earlier life then. The kernel's data plane takes over what it finds, and is chosen by that.
  if (isForwardedByKernel(config.vips, kernel)) return undefined;
  const reason = `HAProxy has a configuration of this router already (${configFile})`;
  return { kind: 'haproxy', reason, decidedAt: new Date().toISOString() };
}
