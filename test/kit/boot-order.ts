/** All orders in which a load balancer, a first master and two joiners can boot, and what goes wrong meanwhile: from a seed. */
import type { InitProfile, JoinProfile } from '../../scripts/lab/kubeadm/kubeadm-config.ts';

export type MasterName = 'm1' | 'm2' | 'm3';
export type MachineName = 'lb1' | MasterName;

/** What goes wrong. The power comes back, and what manages a process starts it again: nothing else helps. */
type TroubleKind = 'power cut' | 'daemon killed' | 'kubeadm killed' | 'API server killed';

export interface Trouble {
  readonly kind: TroubleKind;
  readonly target: MachineName;
  /** It happens when kubeadm on this machine has come to this phase. */
  readonly when: { readonly machine: MasterName; readonly phase: string };
  /** Milliseconds from then on. */
  readonly delay: number;
}

export interface BootOrder {
  readonly machines: readonly MachineName[];
  /** Milliseconds before each machine is switched on, after the one before it. */
  readonly delays: readonly number[];
  readonly init: InitProfile;
  readonly join: JoinProfile;
  readonly troubles: readonly Trouble[];
}

const machines: readonly MachineName[] = ['lb1', 'm1', 'm2', 'm3'];
const initProfiles: readonly InitProfile[] = [
  'endpoint-from-wait-control-plane',
  'endpoint-from-upload-config',
  'local-only',
];
const joinProfiles: readonly JoinProfile[] = ['local', 'endpoint'];

/** Up to here no machine can have joined yet: a first master that begins again begins a cluster that has no other member. */
const initPhases = ['certs', 'kubelet-start', 'wait-control-plane', 'upload-config', 'mark-control-plane'];
const joinPhases = [
  'preflight',
  'control-plane-prepare/certs',
  'kubelet-start',
  'control-plane-join/mark-control-plane',
];
/** Phases in which the machine's own speaker runs. */
const speakerPhases = {
  init: ['wait-control-plane', 'upload-config', 'bootstrap-token'],
  join: ['control-plane-join/mark-control-plane'],
};

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((first, index) =>
    permutations(items.filter((_, other) => other !== index)).map((rest) => [first, ...rest]),
  );
}

/** The 24 orders, each with its own delays and troubles, and with every behaviour of kubeadm in turn. */
export function bootOrders(seed: number): readonly BootOrder[] {
  const random = randomNumbers(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[], index: number = below(items.length)): T => {
    const item = items[index % items.length];
    if (item === undefined) throw new RangeError('nothing to choose from');
    return item;
  };
  const master = (): MasterName => pick(['m1', 'm2', 'm3'] as const);
  const makers: readonly (() => Trouble)[] = [
    () => ({ kind: 'power cut', target: 'lb1', when: anyPhase(), delay: below(300) }),
    () => {
      const target = master();
      return { kind: 'power cut', target, when: ownPhase(target), delay: below(100) };
    },
    // The first master reboots, as after an update of its kernel, while another joins through it.
    () => ({ kind: 'power cut', target: 'm1', when: joinPhase(), delay: below(200) }),
    () => ({ kind: 'daemon killed', target: 'lb1', when: anyPhase(), delay: below(300) }),
    () => {
      const target = master();
      const phases = speakerPhases[target === 'm1' ? 'init' : 'join'];
      return {
        kind: 'daemon killed',
        target,
        when: { machine: target, phase: pick(phases) },
        delay: below(300),
      };
    },
    () => {
      const target = master();
      return { kind: 'kubeadm killed', target, when: ownPhase(target), delay: below(50) };
    },
    () => ({ kind: 'API server killed', target: 'm1', when: joinPhase(), delay: below(200) }),
  ];
  const ownPhase = (machine: MasterName): Trouble['when'] => ({
    machine,
    phase: pick(machine === 'm1' ? initPhases : joinPhases),
  });
  const joinPhase = (): Trouble['when'] => ({
    machine: pick(['m2', 'm3'] as const),
    phase: pick(joinPhases.slice(1)),
  });
  const anyPhase = (): Trouble['when'] => ownPhase(master());

  return permutations(machines).map((order, index) => ({
    machines: order,
    delays: order.map(() => below(400)),
    init: pick(initProfiles, index),
    join: pick(joinProfiles, Math.floor(index / initProfiles.length)),
    troubles: [pick(makers, index)(), pick(makers)()],
  }));
}

/** One line for the matrix. */
export function describeOrder({ machines: order, delays, init, join, troubles }: BootOrder): string {
  const boots = order.map((machine, index) => `${machine} +${delays[index]}`).join(', ');
  const trouble = troubles.map(
    ({ kind, target, when }) => `${target} ${kind} (${when.machine} ${when.phase})`,
  );
  return `${boots}; init ${init}, join ${join}; ${trouble.join(', ')}`;
}
