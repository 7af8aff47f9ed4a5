import type { Socket } from 'node:net';
import {
  type Firewall,
  type KernelChange as LinuxChange,
  Nftables,
  NftablesMonitor,
  openTcpSocket,
  RouteMonitor,
  RouteSocket,
  readFirewall,
  readSysctl,
  writeSysctl,
} from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
import { EvidenceReader } from './evidence-reader.ts';
import { nftTables } from './nft-table.ts';
import type { SysctlAccess } from './sysctls.ts';

/** What the kernel monitor tells: enough to know whether it is of interest. */
export interface KernelChange {
  readonly kind: 'link' | 'address' | 'route' | 'nexthop' | 'rule' | 'netconf';
  readonly destination?: string | undefined;
  readonly protocol?: number | undefined;
}

/** Who hears of the kernel's changes. */
interface KernelMonitorHandlers {
  changed(change: KernelChange): void;
  nftChanged(): void;
  firewallChanged(): void;
  overflow(): void;
}

/** What the data plane uses of the host. */
export interface KernelHost {
  readonly socket: RouteSocket;
  /** Reports changes until `close`; `nftChanged` for our nft tables, `firewallChanged` for those of others; `overflow` when some were lost. */
  monitor(handlers: KernelMonitorHandlers): { close(): void };
  readonly nft: Pick<Nftables, 'apply' | 'table'>;
  /** What filters packets here, whosever it is. */
  readonly firewall: () => Promise<Firewall>;
  /** What clients have sent, as counted. */
  readonly evidence: Pick<EvidenceReader, 'arrived' | 'close'>;
  readonly sysctl: SysctlAccess;
  openSocket(remoteAddress: string, mark: number): Socket;
  readonly clock: Clock;
}

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
          if (nftTables.some(({ name }) => name === table)) handlers.nftChanged();
          else handlers.firewallChanged();
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
    firewall: readFirewall,
    evidence: new EvidenceReader(),
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
