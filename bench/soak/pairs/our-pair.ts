import { schedulingText } from '@bgp-lb/protocol/node';
import type { NamespaceProcess } from '../../../test/kit/namespace-process.ts';
import { type LinkEnd, makeLink } from '../link.ts';
import type { LoadFigures } from '../programs/table-load.ts';
import type { Pair, PairOptions } from './pair.ts';

type OurEnd = typeof import('../programs/our-end.ts');

/** Ours, with what only ours tells. */
export interface OurPair extends Pair {
  readonly name: 'bgp-lb';
  /** Detection Times that had run out only because the thread was late, at both ends. */
  averted(): Promise<number>;
  /** Begins or ends the table load in the main thread of one end. */
  setLoad(isWanted: boolean): Promise<void>;
  load(): Promise<LoadFigures>;
}

/** Starts our engine at both ends, in the thread that the daemons run it in. */
export async function startOurPair(options: PairOptions): Promise<OurPair> {
  const link = await makeLink('ours', options.sessions);
  try {
    const ends: NamespaceProcess<OurEnd>[] = [];
    let scheduling = '';
    for (const end of [link.left, link.right]) {
      const started = await startEnd(end, options);
      ends.push(started.process);
      scheduling = started.scheduling;
    }
    const [left, right] = ends;
    if (left === undefined || right === undefined) throw new Error('an end is missing');
    const counts = () => Promise.all(ends.map((end) => end.run((e) => e.counts())));
    const sum = async (name: 'failures' | 'averted'): Promise<number> =>
      (await counts()).reduce((total, each) => total + each[name], 0);
    return {
      name: 'bgp-lb',
      scheduling,
      pid: left.pid,
      async allUp() {
        await Promise.all(ends.map((end) => end.run((e, count) => e.allUp(count), options.sessions)));
      },
      alarms: () => sum('failures'),
      averted: () => sum('averted'),
      setLoad: (isWanted) => left.run((e, wanted) => e.setLoad(wanted), isWanted),
      load: async () => (await left.run((e) => e.counts())).load,
      stop: () => link.remove(),
    };
  } catch (error) {
    await link.remove();
    throw error;
  }
}

async function startEnd(
  { namespace, sessions }: LinkEnd,
  { interval, scheduling }: PairOptions,
): Promise<{ process: NamespaceProcess<OurEnd>; scheduling: string }> {
  const started = await namespace.start<OurEnd>(new URL('../programs/our-end.ts', import.meta.url));
  const wanted = sessions.map(({ local, remote }) => ({
    id: remote,
    remoteAddress: remote,
    localAddress: local,
    transmitInterval: interval,
    receiveInterval: interval,
    detectMultiplier: 3,
  }));
  const how = await started.run((e, all) => e.add(all), {
    sessions: wanted,
    isOrdinary: scheduling === 'ordinary',
  });
  return { process: started, scheduling: schedulingText(how) };
}
