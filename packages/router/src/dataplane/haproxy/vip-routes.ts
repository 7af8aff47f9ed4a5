import type { RouteSocket } from '@bgp-lb/linux';
import { hostPrefix } from '@bgp-lb/protocol';

/** RT_TABLE_LOCAL (linux/rtnetlink.h). */
const LOCAL_TABLE = 255;

/** What `VipRoutes` needs of the kernel. */
export type LocalRoutes = Pick<RouteSocket, 'routes' | 'addresses' | 'links' | 'setRoute' | 'deleteRoute'>;

/**
 * Routes of type local: packets to a VIP end at this host, on which HAProxy listens, although no interface has the address.
 * Told from others by their protocol number.
 */
export class VipRoutes {
  readonly #socket: LocalRoutes;
  readonly #protocol: number;

  constructor(socket: LocalRoutes, protocol: number) {
    this.#socket = socket;
    this.#protocol = protocol;
  }

  /** What is not as wanted, in words. @throws NetlinkError */
  differences(vips: readonly string[]): readonly string[] {
    const { missing, superfluous } = this.#compare(vips);
    return [
      ...missing.map((prefix) => `local route ${prefix}: missing`),
      ...superfluous.map((prefix) => `local route ${prefix}: there, and no VIP`),
    ];
  }

  /** Makes these VIPs local, and no others. @returns what was done, in words. @throws NetlinkError */
  apply(vips: readonly string[]): readonly string[] {
    const { missing, superfluous } = this.#compare(vips);
    const interfaceIndex = this.#socket.links().find(({ isLoopback }) => isLoopback)?.index;
    if (interfaceIndex === undefined) throw new Error('this host has no loopback interface');
    const key = { table: LOCAL_TABLE, protocol: this.#protocol, type: 'local' } as const;
    for (const destination of missing)
      this.#socket.setRoute({ destination, ...key, interfaceIndex, scope: 'host' });
    for (const destination of superfluous) this.#socket.deleteRoute({ destination, ...key });
    return [
      ...missing.map((prefix) => `add local route ${prefix}`),
      ...superfluous.map((prefix) => `delete local route ${prefix}`),
    ];
  }

  /** An address that an interface has needs no route of ours: the program that put it there answers for it. */
  #compare(vips: readonly string[]): { missing: string[]; superfluous: string[] } {
    const owned = new Set(this.#socket.addresses().map(({ address }) => address));
    const wanted = vips.filter((vip) => !owned.has(vip)).map(hostPrefix);
    const there = this.#socket
      .routes({ table: LOCAL_TABLE, protocol: this.#protocol })
      .map(({ destination }) => destination);
    return {
      missing: wanted.filter((prefix) => !there.includes(prefix)),
      superfluous: there.filter((prefix) => !wanted.includes(prefix)),
    };
  }
}
