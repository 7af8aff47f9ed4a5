import { isDeepStrictEqual } from 'node:util';
import { hostPrefix } from '@bgp-lb/protocol';
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
  type ProbeTarget,
} from './health-checker.ts';
import { HttpsMemberProbe } from './https-member-probe.ts';

type HealthConfig = Pick<RouterConfig, 'vips' | 'healthCheck'>;

export interface VipHealthCheckerOptions {
  readonly config: HealthConfig;
  readonly dataPlane: Pick<DataPlane, 'probeWays'>;
  readonly ca: CaFile;
  readonly clock: Clock;
  /** Milliseconds by which this process was late in all, so far. */
  readonly lost: () => number;
  readonly onResult: HealthCheckerOptions['onResult'];
}

/** Probes of the configured VIPs: through each member as the data plane leads to it, or else at the address of each. */
export class VipHealthChecker {
  readonly #options: VipHealthCheckerOptions;
  #config: HealthConfig;
  readonly #checker: HealthChecker;

  constructor(options: VipHealthCheckerOptions) {
    const { config, clock, onResult } = options;
    this.#options = options;
    this.#config = config;
    this.#checker = new HealthChecker({
      interval: () => this.#config.healthCheck.interval,
      clock,
      probe: (vip, target, isDoubted) => this.#probe(vip, target, isDoubted),
      onResult,
    });
  }

  /** The members that a VIP is to be probed through from now on. New ones are probed at once. */
  setTargets(vip: string, targets: readonly ProbeTarget[]): void {
    this.#checker.setTargets(vip, targets);
  }

  /** Probes that would be made in another way now are ended, and the next `setTargets` makes new ones. */
  configure(next: HealthConfig): void {
    const before = this.#config;
    this.#config = next;
    if (!isDeepStrictEqual(before.healthCheck, next.healthCheck)) {
      this.#checker.restart();
      return;
    }
    for (const { address, port, machinePort } of next.vips) {
      const was = before.vips.find((vip) => vip.address === address);
      const isChanged = was !== undefined && (was.port !== port || was.machinePort !== machinePort);
      if (isChanged) this.#checker.restart(hostPrefix(address));
    }
  }

  close(): void {
    this.#checker.close();
  }

  #probe(vip: string, { nextHop, port }: ProbeTarget, isDoubted: boolean): HttpsMemberProbe {
    const { ca, lost } = this.#options;
    const { path, serverName, timeout } = this.#config.healthCheck;
    const { machinePort, ...endpoint } = endpointOf(this.#config, vip);
    const { probeWays } = this.#options.dataPlane;
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
  }
}
