import { isIP } from 'node:net';
import { hostPrefix, ipVersion } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';

import type { RouterConfig, StaticMemberConfig } from '../config/router-config.ts';
import type { ListedMember } from '../pool/member-claims.ts';
import type { KeptAnswers } from './kept-answers.ts';
import type { MembershipSink, MembershipSource, StandingEvent } from './membership-source.ts';
import type { NameLookup } from './name-lookup.ts';
import { NameWatch } from './name-watch.ts';
import type { MemberSourceStatus, SourceEvent } from './source-status.ts';
import { usableFor, VipLists } from './vip-lists.ts';

export interface StaticMembershipOptions {
  readonly config: RouterConfig;
  readonly lookup: NameLookup;
  readonly clock: Clock;
  /** The last good answers of DNS. */
  readonly kept: KeptAnswers;
  readonly tell: (event: SourceEvent) => void;
}

/** The members of `vips[].members.static`: addresses, and names that are followed. */
export class StaticMembership implements MembershipSource {
  readonly kind = 'static';
  readonly #options: StaticMembershipOptions;
  readonly #lists = new VipLists();
  /** By family and name: `4 m1.example.net`. */
  readonly #names = new Map<string, NameWatch>();
  #config: RouterConfig;

  constructor(options: StaticMembershipOptions) {
    this.#options = options;
    this.#config = options.config;
  }

  async start(sink: MembershipSink): Promise<void> {
    this.#lists.start(sink);
    this.configure(this.#config);
  }

  async stop(): Promise<void> {
    this.#lists.stop();
    for (const watch of this.#names.values()) watch.close();
    this.#names.clear();
  }

  standing(): readonly StandingEvent[] {
    return [];
  }

  configure(next: RouterConfig): void {
    this.#config = next;
    const wanted = new Set(next.vips.flatMap(({ address, members }) => namesOf(address, members.static)));
    for (const [key, watch] of this.#names) {
      if (wanted.has(key)) continue;
      watch.close();
      this.#names.delete(key);
    }
    for (const key of wanted) if (!this.#names.has(key)) this.#names.set(key, this.#watch(key));
    this.#options.kept.retain(wanted);
    this.#report();
  }

  status(): readonly MemberSourceStatus[] {
    const { vips } = this.#config;
    const direct = vips.filter(({ members }) => members.static.some(({ address }) => isIP(address) !== 0));
    const count = new Set(
      direct
        .flatMap(({ members }) => members.static.map(({ address }) => address))
        .filter((one) => isIP(one) !== 0),
    ).size;
    const addresses: MemberSourceStatus = {
      ...{ kind: this.kind, name: 'addresses', vips: direct.map(({ address }) => address), members: count },
      ...{ detail: 'the configuration', heardMs: null, problem: '', ignored: '', credential: null },
    };
    return [
      ...(count === 0 ? [] : [addresses]),
      ...[...this.#names].map(([key, watch]) => this.#nameStatus(key, watch)),
    ];
  }

  #nameStatus(key: string, { addresses, problem, answeredAt }: NameWatch): MemberSourceStatus {
    const { clock } = this.#options;
    const users = this.#config.vips.filter(({ address, members }) =>
      namesOf(address, members.static).includes(key),
    );
    const kept = answeredAt === undefined && addresses.length > 0 ? ', as it was before the restart' : '';
    return {
      kind: this.kind,
      name: nameOf(key),
      vips: users.map(({ address }) => address),
      members: addresses.length,
      detail: addresses.length === 0 ? 'no address known' : `${addresses.join(', ')}${kept}`,
      heardMs: answeredAt === undefined ? null : Math.round(clock.now() - answeredAt),
      problem,
      ignored: '',
      credential: null,
    };
  }

  #watch(key: string): NameWatch {
    const { lookup, clock, kept } = this.#options;
    const before = (kept.get(key) ?? '').split(' ').filter((one) => isIP(one) !== 0);
    const name = nameOf(key);
    let [known, problem] = [before.join(', '), ''];
    const watch: NameWatch = new NameWatch({
      ...{ name, lookup, clock, addresses: before },
      family: key.startsWith('6') ? 6 : 4,
      changed: () => {
        const text = watch.addresses.join(', ');
        if (watch.problem === '') kept.set(key, watch.addresses.join(' '));
        if (text !== known)
          this.#tell(name, false, `${name} is ${text} now${known === '' ? '' : `, it was ${known}`}`);
        const stays = text === '' ? '' : `; it stays ${text}`;
        if (watch.problem !== '' && problem === '') this.#tell(name, true, `${watch.problem}${stays}`);
        if (watch.problem === '' && problem !== '' && text === known)
          this.#tell(name, false, `${name} answers again`);
        [known, problem] = [text, watch.problem];
        this.#report();
      },
    });
    watch.start();
    return watch;
  }

  #tell(name: string, isBad: boolean, text: string): void {
    this.#options.tell({ kind: this.kind, name, isBad, text });
  }

  #report(): void {
    const vips = this.#config.vips.map(({ address }) => address);
    const prefixes = new Set(vips.map(hostPrefix));
    for (const vip of this.#lists.vips) if (!prefixes.has(vip)) this.#lists.forget(vip);
    for (const { address, members } of this.#config.vips) {
      const listed = members.static.flatMap((member) => this.#members(address, member));
      this.#lists.set(hostPrefix(address), usableFor(address, listed, vips));
    }
  }

  #members(vip: string, { name, address, zone }: StaticMemberConfig): ListedMember[] {
    const known = isIP(address) === 0 ? (this.#names.get(keyOf(vip, address))?.addresses ?? []) : [address];
    return known.map((one) => ({
      name: known.length > 1 ? `${name ?? address} (${one})` : (name ?? address),
      address: one,
      ...(zone !== undefined && { zone }),
      draining: false,
    }));
  }
}

function namesOf(vip: string, members: readonly StaticMemberConfig[]): string[] {
  return members.filter(({ address }) => isIP(address) === 0).map(({ address }) => keyOf(vip, address));
}

function keyOf(vip: string, name: string): string {
  return `${ipVersion(vip)} ${name}`;
}

function nameOf(key: string): string {
  return key.slice(2);
}
