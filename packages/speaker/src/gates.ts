import type { BootstrapStatus } from './bootstrap/bootstrap-watch.ts';
import type { Readiness } from './health/readiness.ts';
import type { VipView } from './lifecycle/lifecycle.ts';
import type { DrainRequest } from './lifecycle/lifecycle-input.ts';

/** Something that has to be good before the VIPs are advertised with full weight. */
export interface Gate {
  readonly name: 'bootstrap' | 'readyz' | 'vip' | 'drain';
  readonly pass: boolean;
  readonly detail: string;
}

export interface GateSource {
  readonly bootstrap: BootstrapStatus;
  readonly readiness: Readiness;
  readonly drain: DrainRequest | undefined;
  readonly vips: readonly VipView[];
}

/** The gates in the order in which they open in the life of a master. */
export function gatesOf({ bootstrap, readiness, vips, drain }: GateSource): readonly Gate[] {
  const unchecked = vips.find(({ check }) => check !== 'passed') ?? vips[0];
  const drained = readiness.level === 'stopping' ? readiness.detail : drain?.by;
  return [
    { name: 'bootstrap', pass: bootstrap.proof === 'proven', detail: bootstrap.detail },
    { name: 'readyz', pass: readiness.level === 'ready', detail: readiness.detail },
    {
      name: 'vip',
      pass: vips.every(({ check }) => check === 'passed'),
      detail: unchecked?.checkDetail ?? '',
    },
    { name: 'drain', pass: drained === undefined, detail: drained ?? 'not draining' },
  ];
}
