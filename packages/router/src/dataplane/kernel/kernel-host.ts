import {
  type KernelChange as LinuxChange,
  Nftables,
  NftablesMonitor,
  openTcpSocket,
  RouteMonitor,
  RouteSocket,
  readSysctl,
  writeSysctl,
} from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
import type { KernelChange, KernelHost } from './kernel-data-plane.ts';
import { NFT_TABLE } from './nft-table.ts';

/** The kernel of the network namespace that this process is in. `onError` hears of what the monitor cannot read. */
export function linuxKernelHost(clock: Clock, onError: (error: Error) => void): KernelHost {
  return {
    socket: new RouteSocket(),
    monitor: (handlers) => {
      const overflow = (): void => handlers.overflow();
      const route = new RouteMonitor({
        changed: (_, change) => handlers.changed(toChange(change)),
        overflow,
        error: onError,
      });
      const nft = new NftablesMonitor({
        changed: (table) => {
          if (table === NFT_TABLE) handlers.nftChanged();
        },
        overflow,
        error: onError,
      });
      return {
        close: () => {
          route.close();
          nft.close();
        },
      };
    },
    nft: new Nftables(),
    sysctl: { read: readSysctl, write: writeSysctl },
    openSocket: (remoteAddress, mark) => openTcpSocket(remoteAddress, { mark, noDelay: true }),
    clock,
  };
}

function toChange(change: LinuxChange): KernelChange {
  return change.kind === 'route'
    ? { kind: 'route', destination: change.object.destination, protocol: change.object.protocol }
    : { kind: change.kind };
}
