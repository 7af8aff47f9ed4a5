/** A peer that sends a table as fast as it is taken, and notes when KEEPALIVEs come meanwhile. Runs in a namespace. */
import { parseIpAddress } from '@bgp-lb/protocol';
import { type EncodedTable, encodedTable } from '../../bgp/encoded-table.ts';
import { openRawSession, type RawSession, writeAll } from '../../bgp/raw-session.ts';

/** The module's type, for NamespaceProcess. */
export type Feeder = typeof import('./feeder.ts');

export interface FeederOptions {
  readonly local: string;
  readonly remote: string;
  readonly asn: number;
  /** In seconds. */
  readonly holdTime: number;
  readonly prefixes: number;
}

/** What is known once all is written. */
export interface FeedFigures {
  /** From the first octet to the last one's way into the kernel, in ms. */
  readonly writtenMs: number;
  readonly updates: number;
  readonly attributeSets: number;
  readonly bytes: number;
}

let session: RawSession | undefined;
let table: EncodedTable | undefined;
/** When KEEPALIVEs came, in ms of this process. */
let arrivals: number[] = [];

/** Opens the session; resolves once it is established. */
export async function open(options: FeederOptions): Promise<void> {
  const address = parseIpAddress(options.local).bytes;
  table = encodedTable(options.prefixes, { asn: options.asn, address, isInternal: false });
  session = await openRawSession({ ...options, onKeepalive: () => arrivals.push(performance.now()) });
}

/** Sends the table; resolves once the kernel has all of it. */
export async function feed(): Promise<FeedFigures> {
  if (session === undefined || table === undefined) throw new Error('the session is not open');
  const { chunks, updates, attributeSets } = table;
  arrivals = [];
  const since = performance.now();
  await writeAll(session, chunks);
  const writtenMs = performance.now() - since;
  return { writtenMs, updates, attributeSets, bytes: chunks.reduce((sum, { length }) => sum + length, 0) };
}

/** ms between KEEPALIVEs since `feed` began, the last one to now included. */
export function keepaliveGaps(): number[] {
  if (session?.failure !== undefined) throw new Error(session.failure);
  const times = [...arrivals, performance.now()];
  return times.slice(1).map((time, n) => time - (times[n] ?? time));
}
