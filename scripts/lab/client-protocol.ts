/** What the lab's owner and the client program say to each other: one JSON object per line, each way. */

/** The commands, with the arguments and the result of each. All times in milliseconds. */
export interface ClientCommands {
  /** Opens long connections, each exchanging a line with its server every `exchangeEvery`. */
  open: { arguments: OpenArguments; result: OpenResult };
  /** Sends a line on every connection that is open and waits for the answers. */
  check: { arguments: { readonly timeout: number }; result: CheckResult };
  /** One request on a new connection. */
  request: { arguments: RequestArguments; result: RequestResult };
  startLoop: { arguments: LoopArguments; result: Record<string, never> };
  /** Begins a new span of time in the loop's report. */
  markLoop: { arguments: Record<string, never>; result: Record<string, never> };
  loopReport: { arguments: Record<string, never>; result: LoopReport };
  /** Ends the loop, waits for what is in flight, and reports. */
  stopLoop: { arguments: Record<string, never>; result: LoopReport };
  /** Forgets all connections, closing those that are open. */
  closeAll: { arguments: Record<string, never>; result: Record<string, never> };
}

/** The name of a command. */
export type ClientCommandName = keyof ClientCommands;

/** Whom to talk to, and the CA that its certificate must be signed by. The certificate must name `host`. */
export interface ClientTarget {
  readonly host: string;
  readonly port: number;
  readonly caFile: string;
}

/** How `open` opens. */
export interface OpenArguments {
  readonly target: ClientTarget;
  readonly count: number;
  readonly exchangeEvery: number;
  readonly connectTimeout: number;
  /** `lines` uses the stand-in's stream; `requests` repeats `GET /version` on the connection, as any API server allows. */
  readonly exchange: 'lines' | 'requests';
  /** With it each ends by itself, some at once and the last after so many milliseconds. */
  readonly lifetime?: number;
}

/** What `open` did. */
export interface OpenResult {
  readonly opened: number;
  readonly failed: number;
  /** How many of those failed for which reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Opened connections by the name of the master that serves them. */
  readonly byMaster: Readonly<Record<string, number>>;
}

/** The long connections as they are. */
export interface CheckResult {
  readonly alive: number;
  /** Broken since they were opened, or without an answer to this check. */
  readonly broken: number;
  /** Ended by themselves, at the end of their lifetime. */
  readonly finished: number;
  readonly byMaster: Readonly<Record<string, number>>;
  readonly brokenByMaster: Readonly<Record<string, number>>;
  /** Broken ones by what happened: an error code, `closed by the server`, `no answer`. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** What is asked for on a new connection. */
export interface RequestArguments {
  readonly target: ClientTarget;
  readonly path: string;
  readonly timeout: number;
}

/** The outcome of a request. */
export interface RequestResult {
  /** True for status 200. */
  readonly ok: boolean;
  readonly status?: number;
  /** The node name in the serving certificate. */
  readonly master?: string;
  readonly took: number;
  readonly error?: string;
}

/** How a request of the loop reaches its server: on a connection of its own, or on one of a few that are kept. */
export type LoopConnection = 'new' | 'kept-http1' | 'kept-http2';

/** A request every so often, by each of the ways in turn, whatever became of the ones before. */
export interface LoopArguments extends RequestArguments {
  readonly every: number;
  readonly connections: readonly LoopConnection[];
}

/** The loop's requests that were sent since the mark, or since the start. */
export interface LoopReport {
  readonly sent: number;
  readonly ok: number;
  readonly failed: number;
  readonly inFlight: number;
  readonly byMaster: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, number>>;
  /** Failed ones by the way that they took. */
  readonly failedBy: Readonly<Record<string, number>>;
  /** From the mark to the end of the first good answer to a request sent after it. */
  readonly firstSuccess?: number;
  /** From the mark to the end of the first good answer to a request that was sent after the last failed one. */
  readonly recovered?: number;
  /** The longest that a good answer took. */
  readonly slowest: number;
}

/** One line to the client. */
export interface ClientCall {
  readonly id: number;
  readonly command: ClientCommandName;
  readonly arguments: unknown;
}

/** One line from the client. */
export interface ClientReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}
