import { type LocalEndpoint, NetlinkError, SockDiag, type TcpConnection } from '@bgp-lb/linux';

/** Connections of clients whose answers are sent again and again in vain. */
export interface StuckAnswers {
  readonly connections: number;
  /** Different addresses of clients. */
  readonly clients: number;
  /** All that are there. */
  readonly of: number;
}

/** More than what a network of whatever kind carries in one packet (RFC 9293 section 3.7.1): smaller answers may get there. */
const LARGE = 536;
/** Sent again so often, it is no single loss: with the usual timeout of 200 ms that is 1.4 s. */
const LEAST_RESENT = 3;

/** Pure. */
export function stuckAnswers(connections: readonly TcpConnection[]): StuckAnswers {
  const stuck = connections.filter(
    ({ unacknowledged, resent }) => unacknowledged > LARGE && resent >= LEAST_RESENT,
  );
  return {
    connections: stuck.length,
    clients: new Set(stuck.map(({ remoteAddress }) => remoteAddress)).size,
    of: connections.length,
  };
}

/** Those of the connections to VIPs on this host; undefined where the kernel does not tell. @throws SystemCallError without a socket to ask by */
export function readStuckAnswers(endpoints: readonly LocalEndpoint[]): StuckAnswers | undefined {
  const diagnostics = new SockDiag();
  try {
    return stuckAnswers(endpoints.flatMap((one) => diagnostics.connections(one)));
  } catch (error) {
    if (error instanceof NetlinkError) return undefined;
    throw error;
  } finally {
    diagnostics.close();
  }
}

/** Where clients' connections end on this host. */
export function answering(
  vips: readonly { readonly address: string; readonly machinePort: number }[],
): readonly LocalEndpoint[] {
  return vips.map(({ address, machinePort: port }) => ({ address, port }));
}
