import type { PeerEvent } from '@bgp-lb/protocol/node';
import { ManualClock, MemoryNetwork } from '@bgp-lb/protocol/testing';
import { type MembershipEvent, MemoryRouter } from '@bgp-lb/router/testing';
import { memorySpeaker } from '@bgp-lb/speaker/testing';
import { withoutCapabilities } from './without-capabilities.ts';

const AS = 64512;

/** The hosts and the VIP, by the version of IP that they speak. */
const networks = {
  IPv4: { subnet: '10.0.0.', range: '10.0.0.0/24', vip: '10.100.0.1' },
  IPv6: { subnet: 'fd00:9::', range: 'fd00:9::/64', vip: 'fd00:100::1' },
} as const;

export const VIP: string = networks.IPv4.vip;

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
  /** NOTIFICATIONs that either side sent or received, in its words. */
  readonly notifications: Set<string> = new Set();
  readonly router: MemoryRouter;
  readonly #network = new MemoryNetwork();
  readonly #speakers: Speaker[] = [];
  readonly #hosts: (typeof networks)[keyof typeof networks];
  #events: MembershipEvent[] = [];

  constructor(missing: readonly CapabilityName[], version: keyof typeof networks = 'IPv4') {
    this.#hosts = networks[version];
    const { subnet, range, vip } = this.#hosts;
    this.lack(missing);
    this.router = new MemoryRouter({
      address: `${subnet}10`,
      routerId: '10.0.0.10',
      range,
      vip,
      asn: AS,
      sockets: this.#network.host(`${subnet}10`),
      clock: this.clock,
      observe: (event) => this.#observe('router', event),
    });
  }

  /** From the next connection on these capabilities are taken out of the OPENs, and no others. */
  lack(missing: readonly CapabilityName[]): void {
    const codes = new Set<number>(missing.map((name) => capabilityCodes[name]));
    this.#network.rewrite = (bytes) => withoutCapabilities(bytes, codes);
  }

  async start(): Promise<void> {
    await this.router.start((event) => this.#events.push(event));
  }

  /** A speaker at `10.0.0.NUMBER` or `fd00:9::NUMBER`, connected to the router. */
  async startSpeaker(number: number, isRestarting = false): Promise<Speaker> {
    const { subnet, vip } = this.#hosts;
    const address = `${subnet}${number}`;
    const speaker = memorySpeaker({
      address,
      routerId: `10.0.0.${number}`,
      router: `${subnet}10`,
      vip,
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
    speaker.advertise(new Map([[this.#hosts.vip, how]]), ['0123abcd'.padEnd(64, '0')]);
    await this.clock.advance(1);
  }

  /** What the router has made of a speaker's path since the last call: `announced active of IDENTITY`, `stale`, `withdrawn`. */
  took(number: number): readonly string[] {
    const events = this.#events;
    this.#events = [];
    return events.flatMap((event) => {
      if (!('nextHop' in event) || event.nextHop !== `${this.#hosts.subnet}${number}`) return [];
      if (event.type === 'announced') return [`announced ${event.intent} of ${event.identities?.join()}`];
      return event.type === 'stale' || event.type === 'withdrawn' ? [event.type] : [];
    });
  }

  async stop(): Promise<void> {
    await Promise.all([this.router.stop(), ...this.#speakers.map((one) => one.closeForSuccessor())]);
  }

  #observe(who: string, event: PeerEvent): void {
    if (event.type === 'notification-sent' || event.type === 'notification-received')
      this.notifications.add(`${who}: ${event.type}: ${event.text}`);
    if (event.type === 'attribute-fault') this.troubles.push(`${who}: ${JSON.stringify(event)}`);
  }
}
