import { Socket } from 'node:net';
import { HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import { type Link, NetlinkError, RouteSocket } from '@bgp-lb/linux';
import type { RouterConfig } from '../config/router-config.ts';
import { endpointOf } from '../config/vip-endpoint.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { CaFile } from '../health/ca-file.ts';
import type { Pool } from '../pool/pool.ts';
import type { MemberPath, PathLink, PathProbe } from './member-path.ts';

export interface PathTesterOptions {
  /** As it was last taken. */
  readonly config: () => RouterConfig;
  readonly pools: ReadonlyMap<string, Pick<Pool, 'probes' | 'members'>>;
  readonly dataPlane: Pick<DataPlane, 'probeWays'>;
  readonly ca: Pick<CaFile, 'text'>;
}

/** One request takes no longer (ms): the command that waits for the test has ten seconds. */
const LONGEST = 2000;
/** Requests at a time. */
const MOST_REQUESTS = 64;
/** IFF_POINTOPOINT and IFF_NOARP (netdevice(7)): WireGuard, tun, and tunnels of other kinds. */
const POINT_TO_POINT = 0x10 | 0x80;
/** Answers of an API server: also that it is not ready, or does not know us. */
const ANSWERS: readonly ProbeResult['kind'][] = ['ok', 'unauthorized', 'status'];

interface Target {
  readonly vip: string;
  readonly nextHop: string;
  readonly name: string;
  readonly port: number;
}

/** Asks every member of every VIP, by the VIP and at its own address: what is between this host and it shows in the difference. */
export class PathTester {
  readonly #options: PathTesterOptions;
  #running: Promise<readonly MemberPath[]> | undefined;

  constructor(options: PathTesterOptions) {
    this.#options = options;
  }

  /** Calls that overlap share one test. @throws NetlinkError when the kernel does not say by which interfaces members are reached */
  test(): Promise<readonly MemberPath[]> {
    this.#running ??= this.#test().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #test(): Promise<readonly MemberPath[]> {
    const targets = this.#targets();
    const links = linksTo(targets.map(({ nextHop }) => nextHop));
    const limited = limiter(MOST_REQUESTS);
    const own = new Map<string, Promise<PathProbe>>();
    const direct = ({ nextHop, port }: Target): Promise<PathProbe> => {
      const key = `${nextHop} ${port}`;
      const known = own.get(key) ?? limited(() => this.#probe({ address: nextHop, port }));
      own.set(key, known);
      return known;
    };
    return Promise.all(
      targets.map(async (target): Promise<MemberPath> => {
        const { vip, nextHop, name } = target;
        const [byVip, directly] = await Promise.all([limited(() => this.#byVip(target)), direct(target)]);
        return { vip, name, nextHop, link: links.get(nextHop) ?? null, byVip, direct: directly };
      }),
    );
  }

  #targets(): readonly Target[] {
    const { pools, config } = this.#options;
    return [...pools].flatMap(([vip, pool]) => {
      const { machinePort } = endpointOf(config(), vip);
      const names = new Map(pool.members().map(({ nextHop, name }) => [nextHop, name]));
      return pool.probes().map(({ nextHop, port = machinePort }) => ({
        vip,
        nextHop,
        name: names.get(nextHop) ?? nextHop,
        port,
      }));
    });
  }

  async #byVip({ vip, nextHop }: Target): Promise<PathProbe | null> {
    const { probeWays } = this.#options.dataPlane;
    if (probeWays === undefined) return null;
    const { address, port } = endpointOf(this.#options.config(), vip);
    return this.#probe({ address, port, open: () => probeWays.socketThrough(nextHop, address) });
  }

  async #probe({
    address,
    port,
    open = () => new Socket(),
  }: {
    readonly address: string;
    readonly port: number;
    readonly open?: () => Socket;
  }): Promise<PathProbe> {
    const { path, serverName, timeout } = this.#options.config().healthCheck;
    const probe = new HttpsProbe({
      ...{ address, port, serverName, path, keepAlive: false },
      ca: () => this.#options.ca.text,
      timeoutMs: Math.min(timeout, LONGEST),
      connect: () => open().connect({ host: address, port }),
    });
    const { kind, detail, certificate } = await probe.probe();
    probe.close();
    return { answered: ANSWERS.includes(kind), detail, names: certificate?.subjectAltNames ?? [] };
  }
}

/** The interfaces by which these next hops are reached. */
function linksTo(nextHops: readonly string[]): ReadonlyMap<string, PathLink> {
  const socket = new RouteSocket();
  try {
    const links = new Map(socket.links().map((link) => [link.index, link]));
    const found = new Map<string, Link>();
    for (const nextHop of new Set(nextHops)) {
      const link = links.get(interfaceOf(socket, nextHop) ?? 0);
      if (link !== undefined) found.set(nextHop, link);
    }
    const used = [...found.values()];
    return new Map(
      [...found].map(([nextHop, { index, name, kind = '', flags }]) => [
        nextHop,
        {
          name,
          kind,
          isPointToPoint: (flags & POINT_TO_POINT) === POINT_TO_POINT,
          members: used.filter((link) => link.index === index).length,
        },
      ]),
    );
  } finally {
    socket.close();
  }
}

function interfaceOf(socket: RouteSocket, nextHop: string): number | undefined {
  try {
    return socket.routeTo(nextHop).interfaceIndex;
  } catch (error) {
    if (error instanceof NetlinkError && error.isAnswer) return undefined;
    throw error;
  }
}

/** Runs what it is given, so many at a time. */
function limiter(most: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await run();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
