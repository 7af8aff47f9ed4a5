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
      /** When the route was withdrawn; the VIP stays bound a little longer, until the routers have moved on. */
      readonly withdrawnAt: number | undefined;
    };

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

export interface Desired {
  /** The VIP is on `lo`, and its port is mapped to the API server's. The two go together. */
  readonly isBound: boolean;
  readonly advertisement: Advertisement;
}

/** The columns of the state table: what a state asks of the kernel and of BGP. */
export function desiredOf(state: VipState): Desired {
  switch (state.name) {
    case 'absent':
      return { isBound: false, advertisement: 'none' };
    case 'local-only':
      return { isBound: true, advertisement: 'none' };
    case 'advertised':
      return { isBound: true, advertisement: 'normal' };
    case 'last-resort':
      return { isBound: true, advertisement: 'last-resort' };
    case 'draining':
      return { isBound: true, advertisement: state.withdrawnAt === undefined ? 'draining' : 'none' };
    default:
      return state satisfies never;
  }
}
