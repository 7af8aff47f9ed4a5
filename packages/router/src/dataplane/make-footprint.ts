import type { RouterConfig } from '../config/router-config.ts';
import type { DataPlaneFootprint } from './data-plane-footprint.ts';
import { haproxyFootprint } from './haproxy/haproxy-footprint.ts';
import { kernelFootprint } from './kernel/kernel-footprint.ts';

/** The footprint of the data plane that the configuration asks for. */
export function makeFootprint(config: RouterConfig): DataPlaneFootprint {
  const { dataplane } = config;
  switch (dataplane.kind) {
    case 'kernel':
      return kernelFootprint(dataplane, config);
    case 'haproxy':
      return haproxyFootprint(dataplane, config);
  }
}
