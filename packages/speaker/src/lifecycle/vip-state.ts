/** What the speaker does with one VIP on this master. `desiredOf` says what each state means for the kernel and for BGP. */
export type VipState =
  | { readonly name: 'absent' }
  | { readonly name: 'local-only' }
  | { readonly name: 'advertised' }
  | { readonly name: 'last-resort' }
  | {
      readonly name: 'draining';
      /** Monotonic milliseconds. */
      readonly startedAt: number;
      /** Its end has come, and why: new connections are held off, and what is under way may end. */
      readonly closing: DrainEnd | undefined;
      /** When the route was withdrawn; the VIP stays bound a little longer, until the routers have moved on. */
      readonly withdrawnAt: number | undefined;
    };

export interface DrainEnd {
  /** Monotonic milliseconds. */
  readonly at: number;
  /** No client was connected. It is taken back when one turns out to have come in the last moment. */
  readonly isEarly: boolean;
  readonly why: string;
}

export type VipStateName = VipState['name'];

/** Every state, in the order of a master's life. */
export const vipStateNames: readonly VipStateName[] = [
  'absent',
  'local-only',
  'advertised',
  'last-resort',
  'draining',
];

/** How a VIP is announced to the routers; `none` is withdrawn. */
export type Advertisement = 'none' | 'normal' | 'last-resort' | 'draining';

/**
 * What a master that leaves does about connections that it can no longer serve. A TCP that gets no answer to its SYN sends it
 * again after a second (RFC 6298 section 2), by then to another master; one that is refused gives up.
 * - `refusals`: the API server may close its port any moment: no SYN is refused
 * - `newcomers`: no SYN is answered at all
 */
export type Hold = 'none' | 'refusals' | 'newcomers';

export interface Desired {
  /** The VIP is on `lo`, and its port is mapped to the API server's. The two go together. */
  readonly isBound: boolean;
  readonly advertisement: Advertisement;
  readonly hold: Hold;
}

/** The columns of the state table: what a state asks of the kernel and of BGP. */
export function desiredOf(state: VipState): Desired {
  switch (state.name) {
    case 'absent':
      return { isBound: false, advertisement: 'none', hold: 'none' };
    case 'local-only':
      return { isBound: true, advertisement: 'none', hold: 'none' };
    case 'advertised':
      return { isBound: true, advertisement: 'normal', hold: 'none' };
    case 'last-resort':
      return { isBound: true, advertisement: 'last-resort', hold: 'none' };
    case 'draining':
      return {
        isBound: true,
        advertisement: state.withdrawnAt === undefined ? 'draining' : 'none',
        hold: state.closing === undefined ? 'refusals' : 'newcomers',
      };
    default:
      return state satisfies never;
  }
}
