/** The clients of a reflector: one that sends a table, the others that are to get all of it. Runs in a namespace. */
import { EventEmitter, once } from 'node:events';
import { parseIpAddress } from '@bgp-lb/protocol';
import { type EncodedTable, encodedTable } from '../../bgp/encoded-table.ts';
import { openRawSession, type RawSession, writeAll } from '../../bgp/raw-session.ts';
import { PrefixCounter } from '../prefix-counter.ts';

/** The module's type, for NamespaceProcess. */
export type Clients = typeof import('./clients.ts');

export interface ClientsOptions {
  readonly reflector: string;
  readonly asn: number;
  /** In seconds. */
  readonly holdTime: number;
  readonly prefixes: number;
  /** Addresses; the first one sends. */
  readonly clients: readonly string[];
}

/** What it took. */
export interface ReflectFigures {
  /** From the first octet sent to the moment in which the first, and the last, of the receivers had all prefixes. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** UPDATEs to one receiver, the mean. */
  readonly updates: number;
  /** UPDATEs of the table that was sent. */
  readonly sentUpdates: number;
}

let table: EncodedTable | undefined;
let sender: RawSession | undefined;
const receivers: RawSession[] = [];
let counters: PrefixCounter[] = [];
const completed: number[] = [];
const told = new EventEmitter();

/** Opens all sessions; resolves once they are established. */
export async function open({ reflector, asn, holdTime, prefixes, clients }: ClientsOptions): Promise<void> {
  const [first = '', ...others] = clients;
  const address = parseIpAddress(first).bytes;
  table = encodedTable(prefixes, { asn, address, isInternal: true });
  const session = { remote: reflector, asn, holdTime };
  counters = others.map(() => new PrefixCounter(prefixes));
  for (const [n, local] of others.entries()) {
    const counter = counters[n];
    const onUpdate = (frame: Parameters<PrefixCounter['take']>[0]): void => {
      if (counter === undefined || counter.isComplete) return;
      counter.take(frame);
      if (!counter.isComplete) return;
      completed.push(performance.now());
      told.emit('complete');
    };
    receivers.push(await openRawSession({ ...session, local, onUpdate }));
  }
  sender = await openRawSession({ ...session, local: first });
}

/**
 * Sends the table; resolves once every receiver has all of it, or with undefined after `patience` ms.
 * Rejects when a session has ended by then.
 */
export async function reflect({
  patience,
}: {
  readonly patience: number;
}): Promise<ReflectFigures | undefined> {
  if (sender === undefined || table === undefined) throw new Error('the sessions are not open');
  const since = performance.now();
  const written = writeAll(sender, table.chunks);
  const signal = AbortSignal.timeout(patience);
  while (completed.length < receivers.length) {
    try {
      await once(told, 'complete', { signal });
    } catch {
      const ends = [sender, ...receivers].flatMap(({ failure }) => failure ?? []);
      if (ends.length === 0) return undefined;
      const counts = counters.map(({ count }) => count).join(' ');
      throw new Error(`sessions ended, with ${counts} prefixes: ${ends.join(', ')}`);
    }
  }
  await written;
  const updates = counters.reduce((sum, counter) => sum + counter.updates, 0) / counters.length;
  return {
    firstMs: Math.min(...completed) - since,
    lastMs: Math.max(...completed) - since,
    updates,
    sentUpdates: table.updates,
  };
}
