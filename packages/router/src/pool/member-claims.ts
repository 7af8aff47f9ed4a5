import type { Identities } from './cluster-identity.ts';
import type { SourceId, SourceView } from './member-source.ts';
import type { Intent } from './member-view.ts';

/** The session over which a member speaks. */
export interface MemberSession {
  /** It is up: what the member does not announce over it, it does not want. */
  readonly isLive: boolean;
  /** For people, in the words of the protocol: `Established`, `Idle`. */
  readonly state: string;
}

/** What a list says of a member. */
export interface ListedMember {
  readonly name: string;
  /** Canonical text. */
  readonly address: string;
  /** Where its API server listens; that of the VIP where the list does not say. */
  readonly port?: number;
  readonly zone?: string;
  /** It keeps its live connections and gets next to no new ones. */
  readonly draining: boolean;
}

/** What is asked for in the name of a member: by itself over a session, or by a list. */
export interface HeldPath {
  readonly intent: Intent;
  /** Why it is used as it is, in words; empty for an active one that has a session. */
  readonly why: string;
  /** A list asks for it, and no session vouches for it: it is judged by its health alone. */
  readonly isListed: boolean;
  /** Its session is lost, but not by an end that says that it serves no more. */
  readonly isStale: boolean;
  /** Why it is stale, in words. */
  readonly staleReason: string;
  /** Which cluster its speaker says that it is of; empty when it does not. */
  readonly identities: Identities;
}

/** What one source says of the member. */
interface Claim {
  source: SourceId;
  name: string;
  session?: MemberSession;
  /** The session is live and has told all: what was not announced over it is not wanted. */
  hasToldAll: boolean;
  announced?: HeldPath | undefined;
  listed?: ListedMember | undefined;
}

/**
 * What all sources say of one member of one VIP, each by itself: what one takes back is nothing that another has said.
 * What a member announces over a session goes before what a list says of it. One with a live session that has told all and
 * does not announce the VIP does not want it, even where a list has it; a list may drain one that announces itself.
 */
export class MemberClaims {
  readonly #bySource = new Map<string, Claim>();
  readonly #hearsSpeakers: () => boolean;
  #wasHearing: boolean;
  #path: HeldPath | undefined;

  /** @param hearsSpeakers at the moment: that a member announces nothing says that it does not want the VIP */
  constructor(hearsSpeakers: () => boolean) {
    this.#hearsSpeakers = hearsSpeakers;
    this.#wasHearing = hearsSpeakers();
  }

  /** What comes out of it; `undefined` while no source wants the member to serve. */
  get path(): HeldPath | undefined {
    if (this.#hearsSpeakers() !== this.#wasHearing) this.#update();
    return this.#path;
  }

  /** The one that is up, or else the last that there was; `undefined` where there was never one. */
  get session(): MemberSession | undefined {
    const sessions = this.#all.flatMap(({ session }) => session ?? []);
    return sessions.find(({ isLive }) => isLive) ?? sessions[0];
  }

  /** What it is called by who has a name for it besides its address; who has a session with it is asked first. */
  nameOf(address: string): string {
    const named = this.#all.filter(({ name }) => name !== '' && name !== address);
    return (named.find(({ session }) => session !== undefined) ?? named[0])?.name ?? address;
  }

  get isListed(): boolean {
    return this.#listed.length > 0;
  }

  /** The first list that says it counts. */
  get port(): number | undefined {
    return this.#listed.find(({ listed }) => listed.port !== undefined)?.listed.port;
  }

  get zone(): string | undefined {
    return this.#listed.find(({ listed }) => listed.zone !== undefined)?.listed.zone;
  }

  setSession(source: SourceId, name: string, session: MemberSession): void {
    Object.assign(this.#of(source), { name, session, hasToldAll: false });
    this.#update();
  }

  announce(source: SourceId, name: string, announced: HeldPath): void {
    Object.assign(this.#of(source), { name, announced });
    this.#update();
  }

  /** True while it is announced by this source, and not stale. */
  isFresh(source: SourceId): boolean {
    return this.#bySource.get(source.kind)?.announced?.isStale === false;
  }

  makeStale(source: SourceId, staleReason: string): void {
    const claim = this.#of(source);
    claim.announced &&= { ...claim.announced, isStale: true, staleReason };
    this.#update();
  }

  withdraw(source: SourceId): void {
    const claim = this.#of(source);
    claim.announced = undefined;
    claim.hasToldAll = claim.session?.isLive === true;
    this.#update();
  }

  /** All that was announced over sessions is gone, by what happened to the member itself. */
  withdrawAll(): void {
    for (const claim of this.#all) {
      claim.announced = undefined;
    }
    this.#update();
  }

  complete(source: SourceId): void {
    this.#of(source).hasToldAll = true;
    this.#update();
  }

  isListedBy(source: SourceId): boolean {
    return this.#bySource.get(source.kind)?.listed !== undefined;
  }

  /** @param listed `undefined`: the list of this source has it no more */
  list(source: SourceId, listed: ListedMember | undefined): void {
    const claim = this.#of(source);
    claim.source = source;
    claim.listed = listed;
    claim.name = listed?.name ?? claim.name;
    this.#update();
  }

  views(): SourceView[] {
    return this.#all.flatMap((claim) => {
      const says = saysOf(claim);
      return says === undefined ? [] : [{ kind: claim.source.kind, name: claim.source.name, says }];
    });
  }

  get #all(): Claim[] {
    return [...this.#bySource.values()];
  }

  get #listed(): (Claim & { readonly listed: ListedMember })[] {
    return this.#all.flatMap((claim) =>
      claim.listed === undefined ? [] : [{ ...claim, listed: claim.listed }],
    );
  }

  #of(source: SourceId): Claim {
    const claim = this.#bySource.get(source.kind) ?? { source, name: '', hasToldAll: false };
    this.#bySource.set(source.kind, claim);
    return claim;
  }

  #update(): void {
    this.#wasHearing = this.#hearsSpeakers();
    const announced = this.#all.flatMap((claim) => claim.announced ?? []);
    const path = announced.find(({ isStale }) => !isStale) ?? announced[0];
    const drains = this.#listed.find(({ listed }) => listed.draining)?.source;
    const drained = drains && `${describe(drains)} says that it drains`;
    if (path !== undefined) {
      const isDrained = drained !== undefined && path.intent === 'active';
      this.#path = isDrained ? { ...path, intent: 'draining', why: drained } : path;
      return;
    }
    const [first] = this.#listed;
    const isSilent = this.#all.some(({ session, hasToldAll }) => session?.isLive === true && hasToldAll);
    const isUnwilling = this.#wasHearing && isSilent;
    if (first === undefined || isUnwilling) {
      this.#path = undefined;
      return;
    }
    const said = drained ?? `listed by ${describe(first.source)}`;
    const isUp = this.#wasHearing && this.session?.isLive === true;
    const without = isUp ? 'its speaker has not told all yet' : 'no session';
    this.#path = {
      intent: drained === undefined ? 'active' : 'draining',
      why: `${said}; ${without}: judged by health alone`,
      isListed: true,
      isStale: false,
      staleReason: '',
      identities: [],
    };
  }
}

/** For people: `configMap bgp-lb-system/prod`. */
function describe({ kind, name }: SourceId): string {
  return name === '' ? kind : `${kind} ${name}`;
}

/** Nothing where a list has it no more. */
function saysOf({ announced, listed, session, hasToldAll }: Claim): string | undefined {
  if (listed !== undefined) return listed.draining ? 'listed, draining' : 'listed';
  if (announced !== undefined) {
    if (announced.isStale) return `stale: ${announced.staleReason}`;
    return announced.intent === 'active' ? 'announced' : `announced, ${announced.intent}: ${announced.why}`;
  }
  if (session === undefined) return undefined;
  if (!session.isLive) return `no session (${session.state})`;
  return hasToldAll ? 'session up, not announced' : 'session up, has not told all yet';
}
