import { endpointText } from '@bgp-lb/protocol';
/** A VIP as HAProxy carries it. */
export interface HaproxyVip {
  /** Canonical text, without length. */
  readonly address: string;
  /** The port that clients use. */
  readonly port: number;
  /** The API server's port on the members that have none of their own. */
  readonly machinePort: number;
}

/** How HAProxy checks a member. Times in milliseconds. */
interface HaproxyCheck {
  /** `/readyz` */
  readonly path: string;
  /** The name that the serving certificate must have. */
  readonly serverName: string;
  readonly interval: number;
  readonly timeout: number;
  readonly rise: number;
  readonly fall: number;
}

/** Where the files and sockets of HAProxy are. */
export interface HaproxyPaths {
  readonly configFile: string;
  /** What HAProxy begins with: see `server-state.ts`. */
  readonly stateFile: string;
  /** The CA that members are verified by. */
  readonly caFile: string;
  /** The run-time API. */
  readonly socket: string;
  /** The API of the master process, which reloads. HAProxy gets it by its command line (`-S`). */
  readonly masterSocket: string;
}

/** What a configuration of HAProxy is made of, the members aside. */
export interface HaproxySettings {
  readonly vips: readonly HaproxyVip[];
  readonly check: HaproxyCheck;
  readonly paths: HaproxyPaths;
  /** The text of the CA bundle; `undefined` where there is none yet, and nothing can be verified. */
  readonly ca: string | undefined;
  /** Connections of clients at a time. */
  readonly maxConnections: number;
  /** A connection without an octet for so long is closed (ms). */
  readonly idleTimeout: number;
  /** A client, or a member, that is silent for so long is asked whether it is there, and left soon after (ms). */
  readonly userTimeout: number;
  /** Where HAProxy's own exporter for Prometheus listens; `undefined`: nowhere. */
  readonly exporter?: { readonly host: string; readonly port: number } | undefined;
  /** So long after a reload the old worker ends what it still has (ms). */
  readonly hardStopAfter: number;
}

/** Name of the server of each backend that is never used. */
export const ANCHOR: string = 'anchor';

/** Name of the backend with the members of a VIP. */
export function backendOf(address: string): string {
  return `members-${address}`;
}

/** `10.0.0.1:6443`, `[fd00::1]:6443` */
export function socketAddress(address: string, port: number): string {
  return endpointText(address, port);
}
