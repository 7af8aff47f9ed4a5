import { MAX_STATE_SIZE, readRegularFile } from '@bgp-lb/daemon';
import { RouteSocket } from '@bgp-lb/linux';

/** What a router id is chosen by on this host. */
export function identityHost(): {
  sourceTowards(address: string): string | undefined;
  machineId(): string | undefined;
} {
  return {
    sourceTowards(address) {
      const socket = new RouteSocket();
      try {
        return socket.routeTo(address).source;
      } catch {
        // No route there: the next neighbor may have one.
        return undefined;
      } finally {
        socket.close();
      }
    },
    machineId() {
      try {
        return readRegularFile('/etc/machine-id', MAX_STATE_SIZE).toString().trim() || undefined;
      } catch {
        return undefined;
      }
    },
  };
}
