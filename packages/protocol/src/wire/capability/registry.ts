import { addPath } from './add-path.ts';
import { bfdAuthentication } from './bfd-authentication.ts';
import type { CapabilityCodec, CapabilityName } from './codec.ts';
import { enhancedRouteRefresh } from './enhanced-route-refresh.ts';
import { extendedMessage } from './extended-message.ts';
import { fourOctetAs } from './four-octet-as.ts';
import { gracefulRestart } from './graceful-restart.ts';
import { multiprotocol } from './multiprotocol.ts';
import { routeRefresh } from './route-refresh.ts';

/** Every capability that this library reads and writes. One that is declared without a codec does not compile. */
export const capabilityCodecs: {
  readonly [Name in Exclude<CapabilityName, 'unknown'>]: CapabilityCodec<Name>;
} = {
  multiprotocol,
  'route-refresh': routeRefresh,
  'extended-message': extendedMessage,
  'graceful-restart': gracefulRestart,
  'four-octet-as': fourOctetAs,
  'add-path': addPath,
  'enhanced-route-refresh': enhancedRouteRefresh,
  'bfd-authentication': bfdAuthentication,
};
