/** Many peers that connect at the same moment and then only keep their sessions. Runs in a namespace. */
import { openRawSession, type RawSession } from '../../bgp/raw-session.ts';

/** The module's type, for NamespaceProcess. */
export type Peers = typeof import('./peers.ts');

export interface PeersOptions {
  readonly daemon: string;
  readonly asn: number;
  /** In seconds. */
  readonly holdTime: number;
  readonly addresses: readonly string[];
}

/** A peer whose connection was closed or refused tries again after this time, in ms. */
const retryMs = 500;
let sessions: RawSession[] = [];

/** One session, so that all others meet a daemon that listens; it counts as one of them. */
export async function openFirst({ daemon, asn, holdTime, addresses }: PeersOptions): Promise<void> {
  const [local = ''] = addresses;
  sessions = [await openRawSession({ local, remote: daemon, asn, holdTime })];
}

/** All others at once. @returns for each the ms from the beginning to Established, by this side. */
export async function openOthers({ daemon, asn, holdTime, addresses }: PeersOptions): Promise<number[]> {
  const since = performance.now();
  return Promise.all(
    addresses.slice(1).map(async (local) => {
      sessions.push(await openRawSession({ local, remote: daemon, asn, holdTime }, retryMs));
      return performance.now() - since;
    }),
  );
}

/** How many sessions last, and why the first of the others has ended. */
export function lasting(): { readonly count: number; readonly failure: string | undefined } {
  const ended = sessions.flatMap(({ failure }) => failure ?? []);
  return { count: sessions.length - ended.length, failure: ended[0] };
}
