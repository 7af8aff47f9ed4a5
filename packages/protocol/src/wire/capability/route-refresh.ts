import type { CapabilityCodec } from './codec.ts';
import { flagCapability } from './codec.ts';

/** Route Refresh (RFC 2918 section 2). The code 128 of before the standard stays unknown, as it should. */
export const routeRefresh: CapabilityCodec<'route-refresh'> = flagCapability('route-refresh', 2, {
  name: 'route-refresh',
});
