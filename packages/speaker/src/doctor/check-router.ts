import { type Finding, fault, good } from '@bgp-lb/daemon';
import { openTcpSocket, type TcpSocketOptions } from '@bgp-lb/linux';
import type { RouterPeerConfig } from '../config/speaker-config.ts';

/** How an attempt to connect ended: errno name, or `connected`; `plain` when only one without password and GTSM succeeds. */
export type Attempt = 'connected' | 'plain' | (string & {});

/** Milliseconds: longer than the kernel asks in vain for the link-layer address of a host that is down, which is its better answer. */
const CONNECT_TIME = 4_000;

/** What the end of an attempt means, and what to do. Pure. */
export function judgeRouter(router: RouterPeerConfig, attempt: Attempt, way: string): Finding {
  const check = `router ${router.address}`;
  const place = `${router.address} port ${router.port}${way}`;
  switch (attempt) {
    case 'connected':
      return good(check, place, 'TCP is connected');
    case 'plain':
      return fault(
        check,
        place,
        'connects only without password and TTL security',
        router.passwordFile === undefined
          ? 'the router is more hops away than ttlSecurityHops says, or sends with a smaller TTL: set both sides alike'
          : 'the router has no password for this master, or is more hops away than ttlSecurityHops says: set both sides alike',
      );
    case 'ECONNREFUSED':
      return fault(
        check,
        place,
        'refused',
        'no router listens there: start bgp-lb-router, or see routers.port',
      );
    case 'ETIMEDOUT':
      return fault(
        check,
        place,
        'no answer',
        router.passwordFile === undefined
          ? 'a firewall drops TCP to it, the host is down, or the router wants a password: passwordFile'
          : 'a firewall drops TCP to it, the host is down, or the password differs: a wrong TCP-MD5 key is silence',
      );
    case 'ENETUNREACH':
    case 'EHOSTUNREACH':
      return fault(
        check,
        place,
        attempt,
        'there is no way to it: a route is missing, or the host does not answer ARP',
      );
    default:
      return fault(check, place, attempt, 'see errno(3)');
  }
}

/**
 * Connects as the speaker does, with password and GTSM, and closes. Where that meets silence a plain attempt tells more: a closed
 * port answers with a reset that is not signed and that has an ordinary TTL, so that the kernel drops it.
 */
export async function connectRouter(
  router: RouterPeerConfig,
  password: string | undefined,
  localAddress: string | undefined,
): Promise<Attempt> {
  const source = localAddress === undefined ? {} : { localAddress };
  const protectedAttempt = await connect(router, {
    ...source,
    ...(password === undefined ? {} : { password }),
    ...(router.ttlSecurityHops === 0 ? {} : { ttlSecurityHops: router.ttlSecurityHops }),
  });
  if (protectedAttempt !== 'ETIMEDOUT') return protectedAttempt;
  const plain = await connect(router, source);
  return plain === 'connected' ? 'plain' : plain;
}

function connect({ address, port }: RouterPeerConfig, options: TcpSocketOptions): Promise<Attempt> {
  const socket = openTcpSocket(address, options);
  return new Promise((resolve) => {
    const done = (attempt: Attempt): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(attempt);
    };
    const timer = setTimeout(() => done('ETIMEDOUT'), CONNECT_TIME);
    socket.once('connect', () => done('connected'));
    socket.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? error.message));
    socket.connect(port, address);
  });
}
