import { isIP } from 'node:net';
import type { CrossFieldFault } from '@bgp-lb/daemon';
import { zoneOf } from '@bgp-lb/protocol';
import type { HaproxyDataplaneConfig, RouterConfig } from './router-config.ts';

/** Space, quotes, `#`, `\` and control characters end a word of haproxy.cfg, or are not what they seem. */
const NO_WORD = /[\p{Cc}\s"'#\\]/u;
/** HAProxy takes what is behind a comma for another address, and `$` for a variable. */
const NO_SOCKET = /[\p{Cc}\s"'#\\,$]/u;
const HOST_NAME = /^(?!.*\.[0-9]+$)[0-9a-z]([0-9a-z-]*[0-9a-z])?(\.[0-9a-z]([0-9a-z-]*[0-9a-z])?)*$/i;

/** What HAProxy cannot do although the kernel can. Pure. */
export function haproxyFaults(config: RouterConfig, dataplane: HaproxyDataplaneConfig): CrossFieldFault[] {
  const { serverName: value, path } = config.healthCheck;
  const { folder, socket, masterSocket } = dataplane;
  return [
    ...(isIP(value) === 0 && HOST_NAME.test(value)
      ? []
      : [
          {
            path: ['healthCheck', 'serverName'],
            message: 'is no host name, and HAProxy looks at the DNS names of a certificate alone',
            value,
            allowed: 'a DNS name of the serving certificate, like kubernetes',
          },
        ]),
    ...wordFaults(['healthCheck', 'path'], path, NO_WORD),
    ...wordFaults(['dataplane', 'folder'], folder, NO_WORD),
    ...wordFaults(['dataplane', 'socket'], socket, NO_SOCKET),
    ...wordFaults(['dataplane', 'masterSocket'], masterSocket, NO_SOCKET),
    ...addressFaults(config),
  ];
}

function wordFaults(path: string[], value: string, isBad: RegExp): CrossFieldFault[] {
  const [bad] = isBad.exec(value) ?? [];
  if (bad === undefined) return [];
  const message = `has ${JSON.stringify(bad)}, which haproxy.cfg cannot take there`;
  return [{ path, message, value, allowed: 'no space, quote, #, backslash; for a socket no comma or $' }];
}

/** HAProxy has no way to say the link that such an address is on. Schemas refuse it for other places of members. */
function addressFaults({ neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i): CrossFieldFault[] => {
    const { role, address: value } = neighbor;
    const isMember = role === 'master' && neighbor.memberAddress === 'peer';
    if (!isMember || value === undefined || zoneOf(value) === undefined) return [];
    const message = 'is link-local: HAProxy cannot connect to a member by such an address';
    const allowed = 'another address, a memberAddress beside it, or dataplane.kind kernel';
    return [{ path: ['neighbors', i, 'address'], message, value, allowed }];
  });
}
