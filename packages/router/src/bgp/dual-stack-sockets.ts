import type { Sockets } from '@bgp-lb/protocol/node';

/**
 * Sockets for a speaker that listens on IPv4 and IPv6 with passwords for neighbours of both: the key of an IPv6
 * neighbour is kept from listeners on IPv4 addresses, which never see it and refuse it. A listener on IPv6 may take
 * IPv4 too, so it gets all keys.
 */
export function dualStackSockets(sockets: Sockets): Sockets {
  return {
    open: (remoteAddress, options) => sockets.open(remoteAddress, options),
    accepted: (socket, options) => sockets.accepted(socket, options),
    async listen(options, onConnection) {
      const listener = await sockets.listen(options, onConnection);
      const isIpv4Only = !options.address.includes(':');
      return {
        address: listener.address,
        port: listener.port,
        setPassword(prefix, password) {
          if (!(isIpv4Only && prefix.includes(':'))) {
            listener.setPassword(prefix, password);
          }
        },
        close: () => listener.close(),
      };
    },
  };
}
