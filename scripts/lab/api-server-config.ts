/** What the lab and the API server stand-in say to each other. */
import type { ApiServerMode } from './readiness.ts';

/** The options file of the program api-server.ts. */
export interface ApiServerConfig {
  readonly nodeName: string;
  readonly port: number;
  readonly pkiFolder: string;
  readonly storeFolder: string;
  readonly controlSocket: string;
  readonly mode: ApiServerMode;
  /** Milliseconds. */
  readonly shutdownDelay: number;
}

/** The body of `POST /mode`. */
export interface ModeRequest {
  readonly mode: ApiServerMode;
  readonly failing?: readonly string[];
}

/** The answer of `GET /state` and `POST /mode`. */
export interface ApiServerState {
  readonly mode: ApiServerMode;
  readonly isStopping: boolean;
  /** Open connections to `/stream`. */
  readonly streams: number;
  /** Requests that are being worked on. */
  readonly inFlight: number;
  /** Requests since the start. */
  readonly requests: number;
}
