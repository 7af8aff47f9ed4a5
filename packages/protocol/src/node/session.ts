import type { Socket } from 'node:net';
import {
  type Action,
  type ConnectionTimer,
  type EncodedUpdates,
  errorEvent,
  type FsmEvent,
  type Message,
  messageEvent,
  type Negotiated,
  type NotificationContent,
  NotificationError,
  type OpenMessage,
  openContext,
  type PeerAction,
  PeerFsm,
  type PeerInput,
  type ReceivedMessage,
  type ReceivedUpdate,
  type Role,
  type RouteRefreshMessage,
  type StateName,
} from '../index.ts';
import { Connection } from './connection.ts';
import { connectionTimers } from './connection-timers.ts';
import { MessageCounters } from './message-counters.ts';
import { NotificationLog } from './notification-log.ts';
import type { SessionOptions } from './session-options.ts';
import { SessionTimers } from './session-timers.ts';

/**
 * Drives the FSM of one peer: turns what sockets and timers report into its events, one after another, and carries out
 * the actions that it answers with.
 */
export class Session {
  readonly counters: MessageCounters = new MessageCounters();
  readonly notifications: NotificationLog;
  readonly #options: SessionOptions;
  readonly #fsm: PeerFsm;
  readonly #queue: { readonly input: PeerInput; readonly socket?: Socket }[] = [];
  readonly #connections = new Map<Role, Connection>();
  readonly #open = new Set<Connection>();
  readonly #timers: Readonly<Record<Role, SessionTimers<ConnectionTimer>>>;
  readonly #idleHold: SessionTimers<'IdleHold'>;
  #isRunning = false;
  #whenGone: (() => void)[] = [];

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#fsm = new PeerFsm(options.localOpen, options.fsm);
    const { clock, deadlines, random, handlers } = options;
    this.#timers = {
      active: connectionTimers(options, (event) => this.#event('active', event)),
      passive: connectionTimers(options, (event) => this.#event('passive', event)),
      successor: connectionTimers(options, (event) => this.#event('successor', event)),
    };
    this.notifications = new NotificationLog(clock, (event) => handlers.event(event));
    this.#idleHold = new SessionTimers({
      clock,
      deadlines,
      random,
      jittered: ['IdleHold'],
      silence: [],
      expired: () => this.#dispatch({ type: 'idleHoldExpired' }),
    });
  }

  get state(): StateName {
    return this.#fsm.state;
  }

  get isStarted(): boolean {
    return this.#fsm.isStarted;
  }

  get isHeld(): boolean {
    return this.#fsm.isHeld;
  }

  /** There is a TCP connection, at whatever stage. */
  get isConnected(): boolean {
    return this.#fsm.isConnected;
  }

  /** Milliseconds until the timers that run expire; of two connections, those of the session or else of the one that the peer opened. */
  get timers(): Partial<Record<ConnectionTimer, number>> {
    const { active, passive, successor } = this.#timers;
    const role = this.#fsm.establishedRole;
    if (role !== undefined) return this.#timers[role].remaining();
    return { ...active.remaining(), ...passive.remaining(), ...successor.remaining() };
  }

  get connectRetryCounter(): number {
    return this.#fsm.connectRetryCounter;
  }

  get negotiated(): Negotiated | undefined {
    return this.#fsm.negotiated;
  }

  /** The connection of the established session. */
  get connection(): Connection | undefined {
    return this.#fsm.state === 'Established'
      ? this.#connections.get(this.#fsm.establishedRole ?? 'active')
      : undefined;
  }

  /** The peer takes nothing for now. */
  get isBlocked(): boolean {
    return this.connection?.isBlocked ?? true;
  }

  /** What the next connection says in its OPEN. */
  set localOpen(open: OpenMessage) {
    this.#fsm.localOpen = open;
  }

  start(): void {
    this.#dispatch({ type: 'start' });
  }

  /** Without a notification TCP is closed and nothing is said. */
  stop(notification: NotificationContent | undefined): void {
    this.#dispatch({ type: 'stop', notification });
  }

  reset(notification: NotificationContent): void {
    this.#dispatch({ type: 'reset', notification });
  }

  /** The peer has connected to us; the options of the neighbor are set already. */
  incoming(socket: Socket): void {
    this.#dispatch({ type: 'incoming' }, socket);
  }

  /** Sends on the established session; elsewhere nothing happens. */
  send(message: Message): void {
    const { connection } = this;
    const role = this.#fsm.establishedRole;
    if (connection === undefined || role === undefined) return;
    this.#sendOn(role, connection, message);
  }

  /** As `send`, for UPDATEs that are encoded for the context of the session. */
  sendUpdates({ bytes, count }: EncodedUpdates): void {
    const { connection } = this;
    const role = this.#fsm.establishedRole;
    if (connection === undefined || role === undefined) return;
    connection.sendEncoded(bytes);
    this.#sent(role, 'UPDATE', count);
  }

  /** Writes several messages as one. */
  batch(write: () => void): void {
    this.connection?.batch(write);
  }

  /** Resolves when no socket of the peer is left. */
  gone(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenGone.push(resolve));
  }

  #event(role: Role, event: FsmEvent): void {
    this.#dispatch({ type: 'connection', role, event });
  }

  /** One input after another: what an action brings about waits in the queue. */
  #dispatch(input: PeerInput, socket?: Socket): void {
    this.#queue.push(socket === undefined ? { input } : { input, socket });
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        for (const action of this.#fsm.handle(next.input, this.#options.clock.now())) {
          this.#carryOut(action, next.socket);
        }
      }
    } finally {
      this.#isRunning = false;
    }
    this.#options.handlers.settled();
  }

  #carryOut(action: PeerAction, socket: Socket | undefined): void {
    switch (action.type) {
      case 'connection':
        this.#act(action.role, action.action);
        return;
      case 'accept':
        if (socket !== undefined) this.#attach(action.role, socket);
        return;
      case 'refuse':
        if (socket !== undefined) this.#refuse(socket, action.notification, action.reason);
        return;
      case 'startIdleHold':
        this.#idleHold.start('IdleHold', action.seconds);
        this.#options.handlers.event({ type: 'idle-hold', seconds: action.seconds });
        return;
      case 'stopIdleHold':
        this.#idleHold.stop('IdleHold');
        return;
      case 'transition':
        this.#options.handlers.event(action);
        return;
    }
  }

  #act(role: Role, action: Action): void {
    const connection = this.#connections.get(role);
    switch (action.type) {
      case 'connect':
        this.#connect();
        return;
      case 'close':
        this.#connections.delete(role);
        connection?.close();
        return;
      case 'send':
        if (connection === undefined) return;
        if (action.message.type === 'OPEN') connection.localOpen = action.message;
        this.#sendOn(role, connection, action.message);
        return;
      case 'notify':
        if (connection !== undefined) this.#notify(connection, action);
        return;
      case 'startTimer':
        this.#timers[role].start(action.timer, action.seconds);
        return;
      case 'stopTimer':
        this.#timers[role].stop(action.timer);
        return;
      case 'deliver':
        this.#deliver(role, action.message);
        return;
      case 'established':
        this.#options.handlers.established(action.negotiated);
        return;
      case 'down':
        this.#options.handlers.down(action.end);
        return;
      default:
        return;
    }
  }

  #sendOn(role: Role, connection: Connection, message: Message): void {
    connection.send(message);
    this.#sent(role, message.type, 1);
  }

  #sent(role: Role, type: Message['type'], count: number): void {
    this.counters.sent(type, count);
    const keepalive = this.#fsm.negotiated?.keepaliveTime ?? 0;
    // RFC 4271 section 8.2.2: each UPDATE, as each KEEPALIVE, restarts the KeepaliveTimer.
    if (type === 'UPDATE' && keepalive > 0) this.#timers[role].start('Keepalive', keepalive);
  }

  #connect(): void {
    const { sockets, address, port, socket: socketOptions, connectPassword } = this.#options;
    try {
      const password = connectPassword?.() ?? socketOptions.password;
      const options = password === undefined ? socketOptions : { ...socketOptions, password };
      const socket = sockets.open(address, options);
      this.#attach('active', socket).connect(port, address);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#event('active', { type: 'TcpConnectionFails', cause: 'failed', detail });
    }
  }

  #attach(role: Role, socket: Socket): Connection {
    const isCurrent = (): boolean => this.#connections.get(role) === connection;
    const connection: Connection = this.#newConnection(socket, {
      connected: () => {
        if (isCurrent()) this.#event(role, { type: 'Tcp_CR_Acked' });
      },
      message: (message) => {
        if (isCurrent()) this.#received(role, connection, message);
      },
      fault: (error) => {
        if (isCurrent()) this.#event(role, errorEvent(error));
      },
      failed: (cause, detail) => {
        if (isCurrent()) this.#event(role, { type: 'TcpConnectionFails', cause, detail });
      },
      sent: () => {
        // RFC 9687 section 3: what leaves restarts the SendHoldTimer.
        const timers = this.#timers[role];
        const holdTime = this.#fsm.negotiated?.holdTime ?? 0;
        if (isCurrent() && timers.isRunning('SendHold')) {
          timers.start('SendHold', Math.max(this.#options.fsm.sendHoldTime, 2 * holdTime));
        }
      },
      drained: () => {
        if (isCurrent()) this.#options.handlers.drained();
      },
    });
    this.#connections.set(role, connection);
    return connection;
  }

  #newConnection(
    socket: Socket,
    handlers: Omit<ConstructorParameters<typeof Connection>[3], 'gone' | 'traffic' | 'memory'>,
  ): Connection {
    const { clock, expected, traffic, memory } = this.#options;
    const connection: Connection = new Connection(socket, openContext(expected.localAsn), clock, {
      ...handlers,
      traffic,
      memory,
      gone: () => {
        this.#open.delete(connection);
        if (this.#open.size > 0) return;
        for (const resolve of this.#whenGone.splice(0)) resolve();
      },
    });
    this.#open.add(connection);
    return connection;
  }

  #received(role: Role, connection: Connection, message: ReceivedMessage): void {
    this.counters.received(message.type);
    const { localOpen: current, expected } = this.#options;
    const event = messageEvent(message, connection.localOpen ?? current, expected);
    if (event.type === 'BGPOpen') connection.negotiated(event.negotiated.context);
    if (message.type === 'NOTIFICATION') this.notifications.received(message);
    this.#event(role, event);
  }

  #deliver(role: Role, message: ReceivedUpdate | RouteRefreshMessage): void {
    const { handlers } = this.#options;
    if (message.type === 'ROUTE-REFRESH') {
      handlers.refresh(message);
      return;
    }
    try {
      handlers.update(message);
    } catch (error) {
      if (!(error instanceof NotificationError)) throw error;
      this.#event(role, errorEvent(error));
    }
  }

  #notify(connection: Connection, notification: NotificationContent): void {
    const { code, subcode, data } = notification;
    connection.notify({ code, subcode, data });
    this.counters.sent('NOTIFICATION');
    this.notifications.sent(notification);
  }

  #refuse(socket: Socket, notification: NotificationContent | undefined, reason: string): void {
    const { handlers, address } = this.#options;
    handlers.event({ type: 'connection-refused', address, reason });
    const ignore = (): void => undefined;
    if (notification === undefined) {
      socket.on('error', ignore);
      socket.destroy();
      return;
    }
    const connection = this.#newConnection(socket, {
      connected: ignore,
      message: ignore,
      fault: ignore,
      failed: ignore,
      sent: ignore,
      drained: ignore,
    });
    this.#notify(connection, notification);
    connection.close();
  }
}
