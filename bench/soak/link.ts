/** Two namespaces with one cable between them, and as many addresses on each end as there are sessions. */
import { cable, NetworkNamespace } from '../../test/kit/network-namespace.ts';

/** The interface at both ends. */
export const device = 'v0';

/** One end of one session. */
interface SessionEnd {
  readonly local: string;
  readonly remote: string;
}

/** One end of all sessions. */
export interface LinkEnd {
  readonly namespace: NetworkNamespace;
  readonly sessions: readonly SessionEnd[];
}

/** Both ends: `left` is the one whose processor time is measured. */
export interface Link {
  readonly left: LinkEnd;
  readonly right: LinkEnd;
  remove(): Promise<void>;
}

/** The most sessions of one link: what fits the addresses. */
export const mostSessions = 100;

/** Makes a link. @param label letters for people who look at `ip netns list` */
export async function makeLink(label: string, sessions: number): Promise<Link> {
  const address = (side: 1 | 2, n: number): string => `10.9.${side}.${n + 1}`;
  const numbers = Array.from({ length: sessions }, (_, n) => n);
  const ends: NetworkNamespace[] = [];
  const remove = async (): Promise<void> => {
    await Promise.all(ends.map((end) => end.remove()));
  };
  const end = (side: 1 | 2, other: 1 | 2): LinkEnd => {
    const namespace = NetworkNamespace.create(`${label}-${side}`);
    ends.push(namespace);
    return {
      namespace,
      sessions: numbers.map((n) => ({ local: address(side, n), remote: address(other, n) })),
    };
  };
  try {
    const left = end(1, 2);
    const right = end(2, 1);
    const plug = ({ namespace, sessions: own }: LinkEnd): Parameters<typeof cable>[0] => ({
      namespace,
      device,
      addresses: own.map(({ local }) => `${local}/16`),
    });
    cable(plug(left), plug(right));
    return { left, right, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
