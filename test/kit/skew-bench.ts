import { ManualClock, MemoryNetwork } from '@bgp-lb/protocol/testing';
import { type MembershipEvent, MemoryRouter } from '@bgp-lb/router/testing';
import { memorySpeaker } from '@bgp-lb/speaker/testing';
import { withoutCapabilities } from './without-capabilities.ts';

const AS = 64512;
const ROUTER = '10.0.0.10';
export const VIP = '10.100.0.1';

/** Codes of the capabilities that our OPENs have (IANA). */
export const capabilityCodes = {
  multiprotocol: 1,
  'route refresh': 2,
  'extended message': 6,
  'graceful restart': 64,
  'four-octet AS': 65,
  'ADD-PATH': 69,
  'enhanced route refresh': 70,
} as const;

export type CapabilityName = keyof typeof capabilityCodes;

type Speaker = ReturnType<typeof memorySpeaker>;

/**
 * The sessions of speakers and of the router as the daemons have them, in memory and by a clock of the test, with capabilities taken
 * out of every OPEN on its way: each side has a peer that does not know them.
 */
export class SkewBench {
  readonly clock: ManualClock = new ManualClock();
  /** What either side has found wrong with a message of the other, and each session that it did not end itself. */
  readonly troubles: string[] = [];
  readonly router: MemoryRouter;
  readonly #network = new MemoryNetwork();
  readonly #speakers: Speaker[] = [];
  #events: MembershipEvent[] = [];

  constructor(missing: readonly CapabilityName[]) {
    const codes = new Set<number>(missing.map((name) => capabilityCodes[name]));
    this.#network.rewrite = (bytes) => withoutCapabilities(bytes, codes);
    this.router = new MemoryRouter({
      address: ROUTER,
      vip: VIP,
      asn: AS,
      sockets: this.#network.host(ROUTER),
      clock: this.clock,
      observe: (event) => this.#observe('router', event),
    });
  }

  async start(): Promise<void> {
    await this.router.start((event) => this.#events.push(event));
  }

  /** A speaker at `10.0.0.NUMBER`, connected to the router. */
  async startSpeaker(number: number, isRestarting = false): Promise<Speaker> {
    const address = `10.0.0.${number}`;
    const speaker = memorySpeaker({
      address,
      router: ROUTER,
      vip: VIP,
      asn: AS,
      isRestarting,
      sockets: this.#network.host(address),
      clock: this.clock,
      handlers: {
        event: (_, event) => this.#observe(address, event),
        down: (_, { kind, text }) => {
          if (kind !== 'stopped') this.troubles.push(`${address}: ${kind}: ${text}`);
        },
      },
    });
    this.#speakers.push(speaker);
    await this.clock.advance(1);
    return speaker;
  }

  /** Lets a speaker advertise the VIP so, and everything come to rest. */
  async advertise(speaker: Speaker, how: 'none' | 'normal' | 'last-resort' | 'draining'): Promise<void> {
    speaker.advertise(new Map([[VIP, how]]), ['0123abcd'.padEnd(64, '0')]);
    await this.clock.advance(1);
  }

  /** What the router has made of a speaker's path since the last call: `announced active of IDENTITY`, `stale`, `withdrawn`. */
  took(number: number): readonly string[] {
    const events = this.#events;
    this.#events = [];
    return events.flatMap((event) => {
      if (!('nextHop' in event) || event.nextHop !== `10.0.0.${number}`) return [];
      if (event.type === 'announced') return [`announced ${event.intent} of ${event.identities?.join()}`];
      return event.type === 'stale' || event.type === 'withdrawn' ? [event.type] : [];
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.router.stop(), ...this.#speakers.map((one) => one.closeForSuccessor())]);
  }

  #observe(who: string, event: { readonly type: string }): void {
    if (event.type === 'attribute-fault') this.troubles.push(`${who}: ${JSON.stringify(event)}`);
  }
}
