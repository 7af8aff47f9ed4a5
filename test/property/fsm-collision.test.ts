import {
  asn,
  type FsmEvent,
  ipv4Unicast,
  localOpen,
  type Message,
  messageEvent,
  type OpenMessage,
  type PeerAction,
  PeerFsm,
  type PeerInput,
  parseRouterId,
  type Role,
} from '@bgp-lb/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

/** A TCP connection between the two sides: what is on its way to each of them. */
interface Link {
  readonly dialler: 0 | 1;
  readonly toward: [Delivery[], Delivery[]];
  readonly isOpen: [boolean, boolean];
}

type Delivery = Message | 'connected' | 'incoming' | 'FIN';

/** Two peers and a network that delivers in any order, except within one connection and direction. */
class World {
  readonly #sides: readonly [PeerFsm, PeerFsm];
  readonly #opens: readonly [OpenMessage, OpenMessage];
  readonly #asns = [65001, 65002].map((each) => asn(each));
  readonly #links: Link[] = [];
  /** Which link is the active or passive connection of a side. */
  readonly #bound: [Map<Role, Link>, Map<Role, Link>] = [new Map(), new Map()];
  /** ConnectRetry and IdleHold of each side. */
  readonly #waits: [Map<string, PeerInput>, Map<string, PeerInput>] = [new Map(), new Map()];
  /** Connections that were dialled. */
  dialled = 0;
  #now = 0;

  constructor(ids: readonly [string, string]) {
    const open = (index: 0 | 1): OpenMessage =>
      localOpen({
        asn: asn(65001 + index),
        routerId: parseRouterId(ids[index]),
        holdTime: 90,
        families: [ipv4Unicast],
        addPathSend: [],
        addPathReceive: [],
        extendedMessage: false,
        enhancedRouteRefresh: false,
        gracefulRestart: undefined,
      });
    this.#opens = [open(0), open(1)];
    const config = { passive: false, connectRetryTime: 5, delayOpenTime: undefined, sendHoldTime: 480 };
    this.#sides = [new PeerFsm(this.#opens[0], config), new PeerFsm(this.#opens[1], config)];
  }

  start(index: 0 | 1): void {
    this.#handle(index, { type: 'start' });
  }

  /** Both established, and on the same connection. */
  get isSettled(): boolean {
    const [left, right] = [0, 1].map((side) => {
      const fsm = this.#sides[side as 0 | 1];
      return fsm.establishedRole === undefined
        ? undefined
        : this.#bound[side as 0 | 1].get(fsm.establishedRole);
    });
    return left !== undefined && left === right;
  }

  get inFlight(): number {
    return this.#queues().length;
  }

  /** Delivers the next of some connection; when nothing is on its way, a timer fires. */
  turn(choice: number): boolean {
    const queues = this.#queues();
    if (queues.length > 0) {
      const chosen = queues[choice % queues.length];
      if (chosen !== undefined) this.#deliver(chosen.link, chosen.side);
      return true;
    }
    const waits = ([0, 1] as const).flatMap((side) =>
      [...this.#waits[side].keys()].map((name) => ({ side, name })),
    );
    const chosen = waits[choice % waits.length];
    if (chosen === undefined) return false;
    this.#now += 1000;
    const input = this.#waits[chosen.side].get(chosen.name);
    this.#waits[chosen.side].delete(chosen.name);
    if (input !== undefined) this.#handle(chosen.side, input);
    return true;
  }

  #queues(): readonly { readonly link: Link; readonly side: 0 | 1 }[] {
    return this.#links.flatMap((link) =>
      ([0, 1] as const).filter((side) => link.toward[side].length > 0).map((side) => ({ link, side })),
    );
  }

  #deliver(link: Link, side: 0 | 1): void {
    const delivery = link.toward[side].shift();
    if (delivery === undefined) return;
    if (delivery === 'incoming') {
      this.#incoming(link, side);
      return;
    }
    const role: Role = link.dialler === side ? 'active' : 'passive';
    if (!link.isOpen[side] || this.#bound[side].get(role) !== link) return;
    this.#handle(side, { type: 'connection', role, event: this.#eventOf(delivery, side) });
  }

  #eventOf(delivery: Exclude<Delivery, 'incoming'>, side: 0 | 1): FsmEvent {
    if (delivery === 'connected') return { type: 'Tcp_CR_Acked' };
    if (delivery === 'FIN') return { type: 'TcpConnectionFails', cause: 'closed', detail: 'FIN' };
    const [own, other] = side === 0 ? [0, 1] : [1, 0];
    const localAsn = this.#asns[own];
    const remoteAsn = this.#asns[other];
    const open = this.#opens[side];
    if (localAsn === undefined || remoteAsn === undefined || delivery.type === 'UPDATE')
      throw new Error('unreachable');
    return messageEvent(delivery, open, { localAsn, remoteAsn: [remoteAsn] });
  }

  #incoming(link: Link, side: 0 | 1): void {
    this.#handle(side, { type: 'incoming' }, link);
  }

  #handle(side: 0 | 1, input: PeerInput, link?: Link): void {
    for (const action of this.#sides[side].handle(input, this.#now)) this.#carryOut(side, action, link);
  }

  #carryOut(side: 0 | 1, action: PeerAction, incoming?: Link): void {
    const other = side === 0 ? 1 : 0;
    if (action.type === 'accept' && incoming !== undefined) {
      incoming.isOpen[side] = true;
      this.#bound[side].set('passive', incoming);
    }
    if (action.type === 'refuse' && incoming !== undefined) incoming.toward[other].push('FIN');
    if (action.type === 'startIdleHold') this.#waits[side].set('IdleHold', { type: 'idleHoldExpired' });
    if (action.type === 'stopIdleHold') this.#waits[side].delete('IdleHold');
    if (action.type === 'connection') this.#connection(side, action.role, action.action);
  }

  #connection(side: 0 | 1, role: Role, action: Extract<PeerAction, { type: 'connection' }>['action']): void {
    const other = side === 0 ? 1 : 0;
    const link = this.#bound[side].get(role);
    if (action.type === 'connect') {
      const fresh: Link = { dialler: side, toward: [[], []], isOpen: [false, false] };
      fresh.isOpen[side] = true;
      fresh.toward[side].push('connected');
      fresh.toward[other].push('incoming');
      this.dialled += 1;
      this.#links.push(fresh);
      this.#bound[side].set('active', fresh);
    }
    if (action.type === 'send') link?.toward[other].push(action.message);
    if (action.type === 'notify') {
      const { code, subcode, data } = action;
      link?.toward[other].push({ type: 'NOTIFICATION', code, subcode, data });
    }
    if (action.type === 'close' && link !== undefined) {
      link.toward[other].push('FIN');
      link.isOpen[side] = false;
      this.#bound[side].delete(role);
    }
    if (action.type === 'startTimer' && action.timer === 'ConnectRetry') {
      this.#waits[side].set('ConnectRetry', {
        type: 'connection',
        role,
        event: { type: 'ConnectRetryTimer_Expires' },
      });
    }
    if (action.type === 'stopTimer' && action.timer === 'ConnectRetry')
      this.#waits[side].delete('ConnectRetry');
  }
}

describe('two peers that connect to each other at the same time', () => {
  it('end with exactly one session, whatever the order in which things arrive, and mostly in the first round', () => {
    let manyDialled = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(
          ['10.0.0.1', '10.0.0.2'] as const,
          ['10.0.0.2', '10.0.0.1'] as const,
          ['10.0.0.1', '10.0.0.1'] as const,
        ),
        fc.array(fc.nat(1000), { minLength: 400, maxLength: 400 }),
        fc.nat(20),
        (ids, choices, delay) => {
          const world = new World(ids);
          world.start(0);
          for (const [index, choice] of choices.entries()) {
            if (index === delay) world.start(1);
            if (index > delay && world.isSettled && world.inFlight === 0) break;
            world.turn(choice);
          }
          expect(world.isSettled).toBe(true);
          if (world.dialled > 5) manyDialled += 1;
        },
      ),
      { numRuns: 1000 },
    );
    // Two sides that decide differently get there too, by retries: in more than a tenth of the runs. Those that agree
    // need them in a hundredth, when a connection arrives just as the other one is established.
    expect(manyDialled).toBeLessThan(40);
  });
});
