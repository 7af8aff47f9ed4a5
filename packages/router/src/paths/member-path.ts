/** A TLS request to an API server, as a test of a path sees it. */
export interface PathProbe {
  /** An API server answered, whatever its health. */
  readonly answered: boolean;
  /** What it said, or why nothing came: one phrase. */
  readonly detail: string;
  /** The names in its certificate. */
  readonly names: readonly string[];
}

/** The interface by which packets go to a member. */
export interface PathLink {
  readonly name: string;
  /** `veth`, `wireguard`, `tun`; empty for hardware. */
  readonly kind: string;
  /** Point to point and without a link layer: the next hop of a route means nothing there, the destination alone decides. */
  readonly isPointToPoint: boolean;
  /** Members that are reached by it. */
  readonly members: number;
}

/** The way from this host to one member of a VIP, and back, as it was just tested. */
export interface MemberPath {
  /** `10.100.0.1/32` */
  readonly vip: string;
  readonly name: string;
  readonly nextHop: string;
  /** `null`: there is no route. */
  readonly link: PathLink | null;
  /** To the VIP, through that very member, as a client's packets go; `null` where the data plane connects to its own address. */
  readonly byVip: PathProbe | null;
  /** To its own address. */
  readonly direct: PathProbe;
}

/**
 * `passes`: clients are served by it. `shared`: its interface sends what is for the VIP to one member of several. `dropped`: it is
 * alive, and a request to the VIP through it is not answered. `elsewhere`: another host answered. `untested`: it does not answer at all.
 */
export type PathVerdict = 'passes' | 'shared' | 'dropped' | 'elsewhere' | 'untested';

/** What a test proves, with a sentence. Pure. */
export function judgePath(path: MemberPath): { readonly verdict: PathVerdict; readonly text: string } {
  const { byVip, direct, link } = path;
  const way = link === null ? 'no route' : `by ${linkText(link)}`;
  const own = `its own address says: ${direct.detail}`;
  if (byVip === null) {
    return direct.answered
      ? { verdict: 'passes', text: `its own address answers ${way}` }
      : { verdict: 'untested', text: `its own address does not answer ${way}: ${direct.detail}` };
  }
  if (!direct.answered && !byVip.answered) {
    return { verdict: 'untested', text: `does not answer ${way}: ${byVip.detail}; ${own}` };
  }
  if (link?.isPointToPoint === true && link.members > 1) {
    const sharing = `${link.members} members are behind ${linkText(link)}, which sends the VIP to one of them at most`;
    return { verdict: 'shared', text: `${sharing}; a request to it through this one: ${byVip.detail}` };
  }
  if (!byVip.answered) {
    return {
      verdict: 'dropped',
      text: `a request to the VIP through it, ${way}, fails: ${byVip.detail}; ${own}`,
    };
  }
  if (direct.answered && !isSame(byVip.names, direct.names)) {
    const who = `a host with the certificate names ${byVip.names.join(', ')}`;
    return { verdict: 'elsewhere', text: `a request to the VIP through it, ${way}, is answered by ${who}` };
  }
  return { verdict: 'passes', text: `a request to the VIP through it is answered ${way}` };
}

function linkText({ name, kind }: PathLink): string {
  return kind === '' ? name : `${name} (${kind})`;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return [...a].sort().join() === [...b].sort().join();
}
