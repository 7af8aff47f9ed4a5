import { isDeepStrictEqual } from 'node:util';
import { type ApiClient, type ApiServer, credentialState } from '@bgp-lb/kubernetes';
import { hostPrefix } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';

import type { PoolList } from '../config/members-schema.ts';
import type { KubernetesConfig, RouterConfig } from '../config/router-config.ts';
import type { ListedMember } from '../pool/member-claims.ts';
import { ConfigMapWatch } from './config-map-watch.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { kubernetesClient } from './kubernetes-client.ts';
import type { MembershipSink, MembershipSource, StandingEvent } from './membership-source.ts';
import type { MemberSourceStatus, SourceEvent } from './source-status.ts';
import { usableFor, VipLists } from './vip-lists.ts';

/** Milliseconds between two looks at when the credentials end. */
const CREDENTIAL_INTERVAL = 10_000;

export interface ConfigMapMembershipOptions {
  readonly config: RouterConfig;
  readonly clock: Clock;
  /** Milliseconds since 1970. */
  readonly wallClock: () => number;
  /** The last good lists. */
  readonly kept: KeptAnswers;
  /** API servers of the members that are known: asked where no other one answers. */
  readonly knownServers: (config: RouterConfig) => readonly ApiServer[];
  readonly tell: (event: SourceEvent) => void;
}

/** The members of `vips[].members.configMap`. */
export class ConfigMapMembership implements MembershipSource {
  readonly kind = 'configMap';
  readonly #options: ConfigMapMembershipOptions;
  readonly #lists = new VipLists();
  readonly #watches = new Map<string, ConfigMapWatch>();
  #config: RouterConfig;
  #client: ApiClient | undefined;
  #credentialWas = 'good';
  #cancel: () => void = () => undefined;

  constructor(options: ConfigMapMembershipOptions) {
    this.#options = options;
    this.#config = options.config;
  }

  async start(sink: MembershipSink): Promise<void> {
    this.#lists.start(sink);
    this.#client = this.#newClient(this.#config.kubernetes);
    this.#follow();
    this.#lookAtCredential();
  }

  async stop(): Promise<void> {
    this.#lists.stop();
    this.#cancel();
    this.#closeAll();
  }

  standing(): readonly StandingEvent[] {
    return [];
  }

  configure(next: RouterConfig): void {
    const before = this.#config.kubernetes;
    this.#config = next;
    if (!isDeepStrictEqual(before, next.kubernetes)) {
      // The lists stay; who is asked is another one.
      this.#closeAll();
      this.#client = this.#newClient(next.kubernetes);
    }
    this.#follow();
  }

  status(): readonly MemberSourceStatus[] {
    return [...this.#watches].map(([key, watch]) => {
      const { list, problem, heardMs, isFromDisk } = watch;
      const generation = list?.generation === undefined ? '' : `generation ${list.generation}, `;
      const from = isFromDisk
        ? 'as it was before the restart'
        : `from ${this.#client?.server ?? 'nowhere yet'}`;
      return {
        kind: this.kind,
        name: key,
        vips: this.#config.vips.filter((vip) => keyOf(vip) === key).map(({ address }) => address),
        members: list?.members.length ?? 0,
        detail: list === undefined ? 'no list yet' : `${generation}${from}`,
        heardMs: heardMs ?? null,
        problem,
        ignored: ignoredPorts(list, this.#config, key),
        credential: this.#credential(),
      };
    });
  }

  #credential(): MemberSourceStatus['credential'] {
    const credential = this.#client?.credential;
    if (credential === undefined) return null;
    const state = credentialState(credential, this.#options.wallClock() / 1_000);
    return { kind: credential.kind, state, expiresAt: credential.expiresAt ?? null };
  }

  #newClient(kubernetes: KubernetesConfig | undefined): ApiClient | undefined {
    if (kubernetes === undefined) return undefined;
    const { clock, knownServers } = this.#options;
    return kubernetesClient(kubernetes, clock, () => knownServers(this.#config));
  }

  /** A watch for each ConfigMap of the configuration; those that are there go on. */
  #follow(): void {
    const { clock, kept, tell } = this.#options;
    const wanted = new Map(
      this.#config.vips.flatMap((vip) =>
        vip.members.configMap ? [[keyOf(vip), vip.members.configMap]] : [],
      ),
    );
    for (const [key, watch] of this.#watches) {
      if (wanted.has(key)) continue;
      watch.close();
      this.#watches.delete(key);
    }
    kept.retain(new Set(wanted.keys()));
    const client = this.#client;
    const added = client === undefined ? [] : [...wanted].filter(([key]) => !this.#watches.has(key));
    for (const [key, { namespace, name }] of added) {
      if (client === undefined) continue;
      const watch = new ConfigMapWatch({
        namespace,
        name,
        client,
        clock,
        kept,
        tell,
        changed: () => this.#report(),
      });
      this.#watches.set(key, watch);
    }
    // What was kept counts before anything is asked: by it the members are known that can be asked.
    this.#report();
    for (const [key] of added) this.#watches.get(key)?.start();
  }

  #closeAll(): void {
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
  }

  #report(): void {
    const vips = this.#config.vips.map(({ address }) => address);
    const prefixes = new Set(vips.map(hostPrefix));
    for (const vip of this.#lists.vips) if (!prefixes.has(vip)) this.#lists.forget(vip);
    for (const vip of this.#config.vips) {
      const key = keyOf(vip);
      const list = this.#watches.get(key)?.list;
      if (key === '') this.#lists.set(hostPrefix(vip.address), []);
      if (list === undefined) continue;
      const usable = usableFor(vip.address, list.members.map(listed), vips);
      // A list for another family is no reason to empty this pool.
      if (usable.length > 0 || list.members.length === 0)
        this.#lists.set(hostPrefix(vip.address), usable, key);
    }
  }

  #lookAtCredential(): void {
    this.#cancel = this.#options.clock.after(CREDENTIAL_INTERVAL, () => this.#lookAtCredential());
    const credential = this.#credential();
    if (credential === null || credential.state === this.#credentialWas) return;
    this.#credentialWas = credential.state;
    const ends = credential.expiresAt === null ? 'does not end' : `ends at ${timeText(credential.expiresAt)}`;
    const texts = {
      good: `the ${credential.kind} was renewed, and ${ends}`,
      ending: `the ${credential.kind} ${ends}, and was not renewed yet`,
      expired: `the ${credential.kind} has ended at ${timeText(credential.expiresAt ?? 0)}`,
    } as const;
    const isBad = credential.state !== 'good';
    this.#options.tell({ kind: this.kind, name: 'credential', isBad, text: texts[credential.state] });
  }
}

function keyOf({ members: { configMap } }: RouterConfig['vips'][number]): string {
  return configMap === undefined ? '' : `${configMap.namespace}/${configMap.name}`;
}

/** The kernel passes packets on as they are, to the port that the client asked for. */
function ignoredPorts(list: PoolList | undefined, { vips, dataplane }: RouterConfig, key: string): string {
  if (dataplane.kind !== 'kernel') return '';
  const ports = vips.filter((vip) => keyOf(vip) === key).map(({ port }) => port);
  const others = (list?.members ?? []).filter(
    ({ port }) => port !== undefined && ports.some((one) => one !== port),
  );
  if (others.length === 0) return '';
  const which = others.map(({ name, port }) => `${port} of ${name}`).join(', ');
  return `port ${which} is not used: the kernel leaves the port of a packet as it is, and only HAProxy connects to another`;
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** Without the keys that the list does not have. */
function listed({ name, address, port, zone, draining }: PoolList['members'][number]): ListedMember {
  return {
    name,
    address,
    draining,
    ...(port !== undefined && { port }),
    ...(zone !== undefined && { zone }),
  };
}
