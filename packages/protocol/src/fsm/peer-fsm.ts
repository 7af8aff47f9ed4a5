import type { OpenMessage } from '../wire/message.ts';
import { CeaseSubcode, NotificationCode } from '../wire/notification-codes.ts';
import type { Action } from './action.ts';
import { type Role, survivingRole } from './collision.ts';
import type { FsmEvent, NotificationContent } from './event.ts';
import type { Negotiated } from './negotiate.ts';
import { Oscillation } from './oscillation.ts';
import { type ConnectionConfig, type State, type StateName, stateNames } from './state.ts';
import { step } from './step.ts';
import { connectionCollision } from './transitions.ts';

/** What happens to a peer. */
export type PeerInput =
  | { readonly type: 'start' }
  /** Down until `start`; without a notification TCP is closed and nothing is said (RFC 4724 section 4.1). */
  | { readonly type: 'stop'; readonly notification: NotificationContent | undefined }
  /** Down and up again. */
  | { readonly type: 'reset'; readonly notification: NotificationContent }
  /** The peer has opened a TCP connection; answered by `accept` or `refuse`. */
  | { readonly type: 'incoming' }
  | { readonly type: 'connection'; readonly role: Role; readonly event: FsmEvent }
  | { readonly type: 'idleHoldExpired' };

/** What the driver must do for a peer, in the order of the list. */
export type PeerAction =
  /** For one connection. `damp` and `connectRetryCounter` never come: the peer itself carries them out. */
  | { readonly type: 'connection'; readonly role: Role; readonly action: Action }
  /** The connection just announced has this role from now on. */
  | { readonly type: 'accept'; readonly role: Role }
  /** Close the connection just announced, with a NOTIFICATION where one is given. */
  | {
      readonly type: 'refuse';
      readonly notification: NotificationContent | undefined;
      readonly reason: string;
    }
  | { readonly type: 'startIdleHold'; readonly seconds: number }
  | { readonly type: 'stopIdleHold' }
  /** For the log: a connection has changed its state. */
  | {
      readonly type: 'transition';
      readonly role: Role;
      readonly from: StateName;
      readonly to: StateName;
      readonly event: FsmEvent['type'];
      readonly reason: string;
    };

export interface PeerFsmConfig {
  /** Never open a connection ourselves. */
  readonly passive: boolean;
  /** In seconds: bounds one attempt to connect, and the wait between two. */
  readonly connectRetryTime: number;
  /** In seconds; `undefined` when OPEN is not delayed. */
  readonly delayOpenTime: number | undefined;
  /** In seconds (RFC 9687 section 3). */
  readonly sendHoldTime: number;
  /** In seconds: how long a peer that has passed the limit of prefixes is kept in Idle at least; Infinity until `reset`. Default 0. */
  readonly limitHold?: number;
  /** Remembers failures; one that outlives the peer is given for peers that come and go. */
  readonly oscillation?: Oscillation;
}

/**
 * A session that lasted so long (ms) and whose TCP then just ended is no oscillation: the peer's process was started
 * again, however often that happens. RFC 4271 section 8.2.2 does not damp there at all; a peer that opens sessions only to
 * drop them is damped here all the same. Nor is one that the peer ended because BFD was down (RFC 9384): that says
 * something of the way, and a peer that is back is wanted back.
 */
const CALM_SESSION = 1_000;

function endsWithoutFault(event: FsmEvent): boolean {
  if (event.type === 'TcpConnectionFails') return true;
  if (event.type !== 'NotifMsg') return false;
  const { code, subcode } = event.notification;
  return code === NotificationCode.Cease && subcode === CeaseSubcode.BfdDown;
}

function isLimitPassed({ code, subcode }: NotificationContent): boolean {
  return code === NotificationCode.Cease && subcode === CeaseSubcode.MaximumNumberOfPrefixesReached;
}

/** Never sent: it ends attempts, before there is a connection to send it on. */
const cease: NotificationContent = Object.freeze({ code: 6, subcode: 0, data: new Uint8Array(0) });

const roles = ['active', 'passive', 'successor'] as const satisfies readonly Role[];
/** The peer has at most one of them beside a session. */
const openedByPeer = ['passive', 'successor'] as const satisfies readonly Role[];

const busyStates: readonly StateName[] = ['OpenSent', 'OpenConfirm', 'Established'];

/** A TCP connection is there. */
function isBusy(state: State | undefined): boolean {
  if (state === undefined) return false;
  return busyStates.includes(state.name) || ('delayingOpen' in state && state.delayingOpen);
}

/**
 * One peer: the connection that we open, the one that the peer opens, the collision of both (RFC 4271 section 6.8),
 * the operator's will, and the damping of a peer that keeps failing. Pure as `step` is: inputs in, actions out.
 */
export class PeerFsm {
  /** The OPEN that the next connection sends. */
  localOpen: OpenMessage;
  readonly #config: PeerFsmConfig;
  readonly #oscillation: Oscillation;
  #states: Record<Role, State | undefined> & { active: State } = {
    active: { name: 'Idle' },
    passive: undefined,
    successor: undefined,
  };
  #actions: PeerAction[] = [];
  #isStarted = false;
  #isHeld = false;
  #hasFailed = false;
  #hasPassedLimit = false;
  #now = 0;
  #establishedAt = 0;
  /** Attempts to connect since the last established session. */
  #attempts = 0;
  #connectRetryCounter = 0;

  constructor(localOpen: OpenMessage, config: PeerFsmConfig) {
    this.localOpen = localOpen;
    this.#config = config;
    this.#oscillation = config.oscillation ?? new Oscillation();
  }

  /** The state of the connection that has come further. */
  get state(): StateName {
    const furthest = Math.max(...roles.map((role) => stateNames.indexOf(this.#states[role]?.name ?? 'Idle')));
    return stateNames[furthest] ?? 'Idle';
  }

  /** The operator wants the session. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Kept in Idle for a while because it failed repeatedly. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** RFC 4271 section 8.1.1. */
  get connectRetryCounter(): number {
    return this.#connectRetryCounter;
  }

  /** What the established session agreed on. */
  get negotiated(): Negotiated | undefined {
    const state = this.#states[this.establishedRole ?? 'active'];
    return state?.name === 'Established' ? state.negotiated : undefined;
  }

  /** The connection that the established session uses. */
  get establishedRole(): Role | undefined {
    return roles.find((role) => this.#states[role]?.name === 'Established');
  }

  /** There is a TCP connection, at whatever stage. */
  get isConnected(): boolean {
    return roles.some((role) => isBusy(this.#states[role]));
  }

  /**
   * Takes one input.
   * @param now Monotonic milliseconds.
   */
  handle(input: PeerInput, now: number): readonly PeerAction[] {
    this.#actions = [];
    this.#hasFailed = false;
    this.#hasPassedLimit = false;
    this.#now = now;
    this.#take(input);
    for (const role of openedByPeer) {
      if (!isBusy(this.#states[role])) this.#states[role] = undefined;
    }
    if (this.#isStarted) this.#settle(now);
    return this.#actions;
  }

  #take(input: PeerInput): void {
    switch (input.type) {
      case 'start':
        if (this.#isStarted) return;
        this.#isStarted = true;
        this.#run('active', {
          type: this.#config.passive ? 'ManualStart_with_PassiveTcpEstablishment' : 'ManualStart',
        });
        return;
      case 'stop':
        this.#isStarted = false;
        this.#end(input.notification);
        return;
      case 'reset':
        this.#end(input.notification);
        return;
      case 'incoming':
        this.#incoming();
        return;
      case 'idleHoldExpired':
        this.#isHeld = false;
        return;
      case 'connection':
        this.#connectionEvent(input.role, input.event);
        return;
    }
  }

  /** Ends both connections as an operator does, and forgets what the peer did before. */
  #end(notification: NotificationContent | undefined): void {
    for (const role of roles) this.#run(role, { type: 'ManualStop', notification });
    this.#oscillation.reset();
    this.#attempts = 0;
    this.#release();
  }

  #release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#actions.push({ type: 'stopIdleHold' });
  }

  #incoming(): void {
    if (!this.#isStarted) {
      this.#refuse('administratively down');
      return;
    }
    // RFC 4271 section 8.2.2, Idle: "BGP FSM refuses all incoming BGP connections for this peer."
    if (this.#isHeld) {
      this.#refuse('held in Idle after repeated failures');
      return;
    }
    const established = this.establishedRole;
    if (established !== undefined && !this.#mayBeReplaced) {
      this.#refuse('a session is established', connectionCollision);
      return;
    }
    // The peer opens a second connection only when it has given up the first: the newer one is the one it uses.
    for (const role of openedByPeer) {
      if (role !== established) this.#run(role, { type: 'OpenCollisionDump' });
    }
    const role = established === 'passive' ? 'successor' : 'passive';
    this.#states[role] = { name: 'Active', delayingOpen: false };
    this.#actions.push({ type: 'accept', role });
    this.#run(role, { type: 'TcpConnectionConfirmed' });
  }

  /** RFC 4724 section 4.2: with graceful restart the next connection of the peer replaces that of the session. */
  get #mayBeReplaced(): boolean {
    return (this.negotiated?.gracefulRestart?.families.length ?? 0) > 0;
  }

  #refuse(reason: string, notification?: NotificationContent): void {
    this.#actions.push({ type: 'refuse', notification, reason });
  }

  #connectionEvent(role: Role, event: FsmEvent): void {
    const state = this.#states[role];
    const isOpen = event.type === 'BGPOpen' && isOpenAwaited(state);
    const established = this.establishedRole;
    if (isOpen && established !== undefined && role !== 'active' && this.#mayBeReplaced) {
      // A valid OPEN says that the peer has restarted; a connection alone may be of any host that has its address.
      this.#run(established, { type: 'TcpConnectionConfirmed' });
    }
    const others = roles.filter((one) => one !== role);
    const other = others.find((one) => isBusy(this.#states[one]));
    if (isOpen && other !== undefined) {
      // Both connections are to the one peer of this address, so the OPEN tells the identifier behind the other one
      // too: it is examined also in OpenSent, as RFC 4271 section 6.8 allows. Resolving before the KEEPALIVE goes out
      // keeps the peer from establishing the connection that we are about to close.
      const opener = role === 'active' ? 'active' : 'passive';
      const isLoser = this.establishedRole !== undefined || survivingRole(event.negotiated) !== opener;
      this.#run(isLoser ? role : other, { type: 'OpenCollisionDump' });
      if (isLoser) return;
    }
    if (event.type === 'KeepAliveMsg' && state?.name === 'OpenConfirm') {
      // One session: the other connection, or the attempt at it, ends.
      for (const one of others) {
        if (this.#states[one]?.name !== 'Idle') this.#run(one, { type: 'OpenCollisionDump' });
      }
    }
    this.#run(role, event);
  }

  #run(role: Role, event: FsmEvent): void {
    const from = this.#states[role];
    if (from === undefined) return;
    // What comes of a connection beside the session says nothing against the peer of the session.
    const isBeside = this.establishedRole !== undefined && this.establishedRole !== role;
    const { state, actions, reason } = step(from, event, this.#connectionConfig(role));
    this.#states[role] = state;
    // An attempt that had no answer in time begins again in the same state: it is a transition of RFC 4271 all the same.
    if (state.name !== from.name || event.type === 'ConnectRetryTimer_Expires') {
      this.#actions.push({
        type: 'transition',
        role,
        from: from.name,
        to: state.name,
        event: event.type,
        reason,
      });
    }
    const isRestart =
      from.name === 'Established' &&
      endsWithoutFault(event) &&
      this.#now - this.#establishedAt >= CALM_SESSION;
    for (const action of actions) {
      const isIgnored =
        (action.type === 'damp' && (isRestart || isBeside)) ||
        (action.type === 'connectRetryCounter' && isBeside);
      if (!isIgnored) this.#act(role, action);
    }
  }

  #act(role: Role, action: Action): void {
    switch (action.type) {
      case 'connectRetryCounter':
        this.#connectRetryCounter = action.change === 'zero' ? 0 : this.#connectRetryCounter + 1;
        return;
      case 'damp':
        this.#hasFailed = true;
        return;
      case 'notify':
        this.#hasPassedLimit ||= isLimitPassed(action);
        break;
      case 'connect':
        this.#attempts += 1;
        break;
      case 'established':
        this.#attempts = 0;
        this.#establishedAt = this.#now;
        break;
      default:
        break;
    }
    this.#actions.push({ type: 'connection', role, action });
  }

  /** Holds a peer that failed in Idle, or starts it again. */
  #settle(now: number): void {
    const damped = this.#hasFailed ? this.#oscillation.fail(now) : 0;
    const seconds = Math.max(damped, this.#hasPassedLimit ? (this.#config.limitHold ?? 0) : 0);
    const { active, passive, successor } = this.#states;
    if (this.#isHeld || isBusy(active) || passive !== undefined || successor !== undefined) return;
    if (seconds > 0) {
      if (active.name !== 'Idle') this.#run('active', { type: 'AutomaticStop', notification: cease });
      this.#isHeld = true;
      this.#actions.push({ type: 'startIdleHold', seconds });
      return;
    }
    if (active.name !== 'Idle') return;
    this.#run('active', {
      type: this.#config.passive
        ? 'AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment'
        : 'AutomaticStart_with_DampPeerOscillations',
    });
  }

  #connectionConfig(role: Role): ConnectionConfig {
    const { passive, connectRetryTime, delayOpenTime, sendHoldTime } = this.#config;
    return {
      localOpen: this.localOpen,
      passive: passive || role !== 'active',
      connectRetryTime,
      retryDelay: Math.min(connectRetryTime, 2 ** Math.max(0, Math.min(this.#attempts, 30) - 1)),
      delayOpenTime,
      sendHoldTime,
    };
  }
}

function isOpenAwaited(state: State | undefined): boolean {
  return isBusy(state) && state?.name !== 'OpenConfirm' && state?.name !== 'Established';
}
