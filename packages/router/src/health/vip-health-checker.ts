import type { Clock } from '@bgp-lb/protocol/node';
import type { RouterConfig } from '../config/router-config.ts';
import { endpointOf } from '../config/vip-endpoint.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { CaFile } from './ca-file.ts';
import {
  DOUBTED_ANSWER,
  DOUBTED_CONNECT,
  HealthChecker,
  type HealthCheckerOptions,
} from './health-checker.ts';
import { HttpsMemberProbe } from './https-member-probe.ts';

export interface VipHealthCheckerOptions {
  /** As it was last taken. */
  readonly config: () => RouterConfig;
  readonly dataPlane: Pick<DataPlane, 'probeWays'>;
  readonly ca: CaFile;
  readonly clock: Clock;
  /** Milliseconds by which this process was late in all, so far. */
  readonly lost: () => number;
  readonly onResult: HealthCheckerOptions['onResult'];
}

/** Probes of the configured VIPs: through each member as the data plane leads to it, or else at the address of each. */
export function vipHealthChecker(options: VipHealthCheckerOptions): HealthChecker {
  const { config, dataPlane, ca, clock, lost, onResult } = options;
  return new HealthChecker({
    interval: () => config().healthCheck.interval,
    clock,
    probe: (vip, { nextHop, port }, isDoubted) => {
      const { path, serverName, timeout } = config().healthCheck;
      const { machinePort, ...endpoint } = endpointOf(config(), vip);
      const { probeWays } = dataPlane;
      return new HttpsMemberProbe({
        ...(probeWays === undefined ? { address: nextHop, port: port ?? machinePort } : endpoint),
        serverName,
        path,
        timeoutMs: isDoubted ? Math.min(timeout, DOUBTED_ANSWER) : timeout,
        connectTimeoutMs: isDoubted ? DOUBTED_CONNECT : undefined,
        ca: () => ca.text,
        lost,
        open: probeWays && (() => probeWays.socketThrough(nextHop, endpoint.address)),
      });
    },
    onResult,
  });
}
