import { join } from 'node:path';
import { chosenConfig, dataplaneOf } from '../auto/chosen-config.ts';
import type { ChosenDataplaneConfig, RouterConfig } from '../config/router-config.ts';
import { dataplaneSchema } from '../config/router-keys.ts';
import type { DataPlaneFootprint, Removal } from './data-plane-footprint.ts';
import { haproxyFootprint } from './haproxy/haproxy-footprint.ts';
import { kernelFootprint } from './kernel/kernel-footprint.ts';

/** The footprint of the data plane that the configuration asks for. */
export function makeFootprint(config: RouterConfig): DataPlaneFootprint {
  const { dataplane } = config;
  if (dataplane.kind !== 'auto') return footprintOf(dataplane, config);
  const both = (['kernel', 'haproxy'] as const).map((kind) =>
    footprintOf(dataplaneOf(dataplane, kind), config),
  );
  return {
    kind: 'auto',
    // What counts is what was decided; a start in another life may have left something of both.
    examine: (asked) => footprintOf(chosenConfig(config).dataplane, config).examine(asked),
    async remove(isDry) {
      const removals: Removal[] = [];
      for (const one of both) removals.push(await one.remove(isDry));
      return {
        removed: removals.flatMap(({ removed }) => removed),
        restored: removals.flatMap(({ restored }) => restored),
        left: removals.flatMap(({ left }) => left),
      };
    },
    async snapshot() {
      const parts = await Promise.all(both.map((one) => one.snapshot()));
      return Object.assign({}, ...parts) as Readonly<Record<string, unknown>>;
    },
  };
}

function footprintOf(dataplane: ChosenDataplaneConfig, config: RouterConfig): DataPlaneFootprint {
  switch (dataplane.kind) {
    case 'kernel':
      return kernelFootprint(dataplane, config);
    case 'haproxy':
      return haproxyFootprint(dataplane, config);
  }
}

/** Those of all kinds, for what was left when the kind was another: each where it is by default, with the protocol number of now. */
export function allFootprints(config: RouterConfig): readonly DataPlaneFootprint[] {
  const { dataplane, stateDir } = config;
  if (dataplane.kind === 'auto') return [makeFootprint(config)];
  return (['haproxy', 'kernel'] as const).map((kind) => {
    if (kind === dataplane.kind) return makeFootprint(config);
    const folder = kind === 'haproxy' ? { folder: join(stateDir, 'haproxy') } : {};
    const other = dataplaneSchema.parse({ kind, protocol: dataplane.protocol, ...folder });
    return makeFootprint({ ...config, dataplane: other });
  });
}
