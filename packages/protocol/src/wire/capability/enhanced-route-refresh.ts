import type { CapabilityCodec } from './codec.ts';
import { flagCapability } from './codec.ts';

/** Enhanced Route Refresh (RFC 7313 section 3.1). */
export const enhancedRouteRefresh: CapabilityCodec<'enhanced-route-refresh'> = flagCapability(
  'enhanced-route-refresh',
  70,
  {
    name: 'enhanced-route-refresh',
  },
);
