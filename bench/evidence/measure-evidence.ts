/** What the counting of clients' packets costs the kernel of a load balancer. */
import { Attempts, type Failure } from '../attempts.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { type Sampled, sampled } from '../statistics.ts';
import { ForwardingLab, type SegmentKind } from './forwarding-lab.ts';

const kinds: readonly SegmentKind[] = ['ack', 'syn'];
/** Of each kind in one run: half a second and more. */
const segments = 200_000;

interface EvidenceResult {
  readonly kind: SegmentKind;
  /** With the table that counts, and without it. */
  readonly isCounted: boolean;
  /** Microseconds of the processor for each segment, from the sender's system call to the member. */
  readonly took: Sampled;
}

export interface EvidenceReport {
  readonly bench: 'evidence';
  readonly machine: Machine;
  readonly rounds: number;
  /** Of one kind in one round. */
  readonly segments: number;
  readonly results: readonly EvidenceResult[];
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

export async function measureEvidence({
  rounds,
  niceness,
  progress,
}: {
  readonly rounds: number;
  readonly niceness: number;
  readonly progress: (line: string) => void;
}): Promise<EvidenceReport> {
  const since = performance.now();
  const machine = await describeMachine(niceness);
  const attempts = new Attempts(progress);
  const samples = new Map<string, number[]>();
  const lab = await ForwardingLab.create();
  try {
    for (let round = 0; round < rounds; round += 1) {
      progress(`clients' packets, round ${round + 1} of ${rounds}`);
      // In turns, the first of which changes: what else the machine does falls on both alike.
      for (const isCounted of round % 2 === 0 ? [false, true] : [true, false]) {
        await lab.setEvidence(isCounted);
        for (const kind of kinds) {
          const took = await attempts.attempt('bgp-lb', kind, () => sendAll(lab, kind));
          if (took === undefined) continue;
          const key = keyOf(kind, isCounted);
          samples.set(key, [...(samples.get(key) ?? []), took]);
        }
      }
    }
  } finally {
    await lab.remove();
  }
  const results = kinds.flatMap((kind) =>
    [false, true].flatMap((isCounted): EvidenceResult[] => {
      const took = sampled(samples.get(keyOf(kind, isCounted)) ?? [], 3);
      return took === undefined ? [] : [{ kind, isCounted, took }];
    }),
  );
  return {
    ...{ bench: 'evidence', machine, rounds, segments, results },
    failures: attempts.failures,
    tookMs: Math.round(performance.now() - since),
  };
}

const keyOf = (kind: SegmentKind, isCounted: boolean): string => `${kind} ${isCounted}`;

/** @throws Error when some were lost: those cost less */
async function sendAll(lab: ForwardingLab, kind: SegmentKind): Promise<number> {
  const before = await lab.received();
  const took = await lab.send(kind, segments);
  const arrived = (await lab.received()) - before;
  if (arrived !== segments) throw new Error(`${arrived} of ${segments} segments arrived`);
  return took;
}
