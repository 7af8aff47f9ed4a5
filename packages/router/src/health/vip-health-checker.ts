import type { Clock } from '@bgp-lb/protocol/node';
import type { RouterConfig } from '../config/router-config.ts';
import { endpointOf } from '../config/vip-endpoint.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { CaFile } from './ca-file.ts';
import { DOUBTED_CONNECT, HealthChecker, type HealthCheckerOptions, probeThrough } from './health-checker.ts';

export interface VipHealthCheckerOptions {
  /** As it was last taken. */
  readonly config: () => RouterConfig;
  readonly dataPlane: Pick<DataPlane, 'socketThrough'>;
  readonly ca: CaFile;
  readonly clock: Clock;
  readonly onResult: HealthCheckerOptions['onResult'];
}

/** Probes of the configured VIPs, each through a member as the data plane leads to it. */
export function vipHealthChecker(options: VipHealthCheckerOptions): HealthChecker {
  const { config, dataPlane, ca, clock, onResult } = options;
  return new HealthChecker({
    interval: () => config().healthCheck.interval,
    clock,
    probe: (vip, nextHop, isDoubted) => {
      const { path, serverName, timeout } = config().healthCheck;
      const endpoint = endpointOf(config(), vip);
      return probeThrough({
        ...endpoint,
        serverName,
        path,
        timeoutMs: timeout,
        connectTimeoutMs: isDoubted ? DOUBTED_CONNECT : undefined,
        ca: () => ca.text,
        open: () => dataPlane.socketThrough(nextHop, endpoint.address),
      });
    },
    onResult,
  });
}
