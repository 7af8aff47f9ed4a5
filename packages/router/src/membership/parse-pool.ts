import { ConfigError, loadConfig } from '@bgp-lb/daemon';
import { type PoolList, poolSchema } from '../config/members-schema.ts';

/** The key of the ConfigMap. */
export const POOL_KEY = 'pool.yaml';
/** Octets of it. 64 members with all that may be said of each are less than half. */
const LONGEST_POOL = 64 * 1024;

/**
 * A list of members as a ConfigMap has it.
 * @param place what errors name: `configMap bgp-lb-system/prod`
 * @throws ConfigError with line and column of everything that is wrong
 */
export function parsePool(text: string, place: string): PoolList {
  const file = `${place} ${POOL_KEY}`;
  const origin = { kind: 'file', file, line: 0, column: 0 } as const;
  if (Buffer.byteLength(text) > LONGEST_POOL) {
    throw new ConfigError([{ origin, path: '', message: `has more than ${LONGEST_POOL} octets` }]);
  }
  if (text.trim() === '')
    throw new ConfigError([{ origin, path: '', message: 'is empty; allowed: kind Pool' }]);
  return loadConfig({ schema: poolSchema, file, text, apiVersion: 'bgp-lb.dev/v1alpha1', kind: 'Pool' })
    .config;
}
