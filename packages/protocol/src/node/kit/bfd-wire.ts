/** BFD engines on a clock and a wire of the tests' own. */

import type { BfdControlPacket } from '../../index.ts';
import { decodeBfdControlPacket, encodeBfdControlPacket, ipVersion } from '../../index.ts';
import { BfdEngine } from '../bfd-engine.ts';
import type { BfdDatagramSource, BfdSockets } from '../bfd-sockets.ts';
import type { BfdSessionOptions, BfdSessionStatus, BfdStateChange } from '../bfd-status.ts';
import type { Clock } from '../clock.ts';
import { ManualClock } from './manual-clock.ts';

interface Datagram {
  readonly from: string;
  readonly to: string;
  readonly port: number;
  readonly payload: Uint8Array;
}

interface Receiver {
  readonly version: 4 | 6;
  readonly port: number;
  readonly onDatagram: (payload: Uint8Array, source: BfdDatagramSource) => void;
}

/** As many datagrams as libuv reads from a socket in one turn of the event loop. */
const readsPerTurn = 32;

/** 50 ms x 3. */
export const fastTiming = { transmitInterval: 50, receiveInterval: 50, detectMultiplier: 3 } as const;

/** Carries datagrams between hosts; each reads in the event loop's poll phase, which comes after the timers. */
export class BfdWire {
  readonly clock: ManualClock = new ManualClock();
  /** Addresses whose datagrams do not arrive any more. */
  readonly cut: Set<string> = new Set();
  /** Whether datagrams wait in the sockets although there was time to read them: the readers stall. */
  isStalled = false;
  readonly #receivers = new Map<string, Set<Receiver>>();
  #waiting: Datagram[] = [];
  #isReading = false;

  /** The clock for engines on this wire. */
  get engineClock(): Clock {
    return {
      now: () => this.clock.now(),
      after: (ms, fire) =>
        this.clock.after(ms, () => {
          this.#poll();
          fire();
        }),
    };
  }

  /** Sockets of a host with this address; what `refuse` returns is thrown. */
  sockets(
    address: string,
    refuse: (call: 'receive' | 'open') => Error | undefined = () => undefined,
  ): BfdSockets {
    return {
      receive: ({ version, port }, onDatagram) => {
        const error = refuse('receive');
        if (error !== undefined) throw error;
        const receiver: Receiver = { version, port, onDatagram };
        const ofHost = this.#receivers.get(address) ?? new Set();
        this.#receivers.set(address, ofHost.add(receiver));
        return { close: () => ofHost.delete(receiver) };
      },
      open: ({ remoteAddress, remotePort }) => {
        const error = refuse('open');
        if (error !== undefined) throw error;
        return {
          port: 49_152,
          send: (payload) => this.send({ from: address, to: remoteAddress, port: remotePort, payload }),
          close: () => undefined,
        };
      },
    };
  }

  /** How many receivers a host has open. */
  receiversOf(address: string): number {
    return this.#receivers.get(address)?.size ?? 0;
  }

  send(datagram: Datagram): void {
    if (this.cut.has(datagram.from)) return;
    this.#waiting.push(datagram);
    if (!this.isStalled) this.#deliver();
  }

  /** Ends a stall: reads turn by turn. A setImmediate asked for in a timer comes after the first turn, as in Node. */
  #poll(): void {
    if (!this.isStalled || this.#isReading) return;
    this.#isReading = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#deliver(readsPerTurn);
    this.isStalled = this.#waiting.length > 0;
    this.#isReading = this.isStalled;
    if (this.isStalled) setImmediate(() => this.#turn());
  }

  #deliver(limit = Infinity): void {
    for (const { from, to, port, payload } of this.#waiting.splice(0, limit)) {
      for (const receiver of this.#receivers.get(to) ?? []) {
        if (receiver.port === port && receiver.version === ipVersion(to)) {
          receiver.onDatagram(payload, () => from);
        }
      }
    }
  }
}

/** A host with an engine, and what the engine told. */
export class BfdHost {
  readonly address: string;
  readonly engine: BfdEngine;
  readonly changes: BfdStateChange[] = [];
  readonly removed: string[] = [];
  readonly #wire: BfdWire;

  constructor(
    wire: BfdWire,
    address: string,
    options: {
      refuse?: (call: 'receive' | 'open') => Error | undefined;
      discriminator?: () => number;
      random?: () => number;
    } = {},
  ) {
    this.address = address;
    this.#wire = wire;
    this.engine = new BfdEngine({
      sockets: wire.sockets(address, options.refuse),
      clock: wire.engineClock,
      random: options.random ?? (() => 0.5),
      handlers: {
        changed: (change) => this.changes.push(change),
        removed: (id) => this.removed.push(id),
      },
      ...(options.discriminator === undefined ? {} : { discriminator: options.discriminator }),
    });
  }

  /** Begins a session that is named after its neighbor. */
  add(remoteAddress: string, options: Partial<BfdSessionOptions> = {}): void {
    this.engine.add({ id: remoteAddress, remoteAddress, ...fastTiming, ...options });
  }

  session(id: string): BfdSessionStatus {
    const found = this.engine.status().sessions.find((session) => session.id === id);
    if (found === undefined) throw new Error(`no session ${id}`);
    return found;
  }

  /** Sends a packet of the test's own from an address to this host. */
  hears(from: string, fields: Partial<BfdControlPacket> | Uint8Array, port = 3784): void {
    const payload = fields instanceof Uint8Array ? fields : encodeBfdControlPacket({ ...quiet, ...fields });
    this.#wire.send({ from, to: this.address, port, payload });
  }
}

const quiet: BfdControlPacket = {
  diagnostic: 0,
  state: 'Down',
  poll: false,
  final: false,
  controlPlaneIndependent: false,
  authenticationPresent: false,
  demand: false,
  detectMult: 3,
  myDiscriminator: 4711,
  yourDiscriminator: 0,
  desiredMinTx: 50_000,
  requiredMinRx: 50_000,
  requiredMinEchoRx: 0,
};

/** A host that only listens: the packets that reach it. */
export function listenOn(wire: BfdWire, address: string): BfdControlPacket[] {
  const packets: BfdControlPacket[] = [];
  wire.sockets(address).receive(
    { version: ipVersion(address), port: 3784, onlyTtl255: true },
    (payload) => {
      const packet = decodeBfdControlPacket(payload);
      if (typeof packet !== 'string') packets.push(packet);
    },
    () => undefined,
  );
  return packets;
}
