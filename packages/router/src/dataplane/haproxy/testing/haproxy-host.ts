import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bgp-lb/protocol/node';
import { expect } from 'vitest';
import type { WeightedNextHop } from '../../../pool/member-view.ts';
import type { CarriedVip, DataPlaneHandlers } from '../../data-plane.ts';
import { HaproxyDataPlane } from '../haproxy-data-plane.ts';
import { HaproxyFiles } from '../haproxy-files.ts';
import { HaproxyProcess } from '../haproxy-process.ts';
import type { HaproxyPaths, HaproxySettings } from '../haproxy-settings.ts';
import { RunTimeClient } from '../run-time-client.ts';
import { type Certificates, makeCertificates } from './certificates.ts';

/** A real HAProxy on loopback with API servers as members, without the router. */
export class HaproxyHost {
  readonly vip: CarriedVip;
  readonly prefix: string;
  readonly folder: string = mkdtempSync(join(tmpdir(), 'haproxy-'));
  readonly #network: string;
  readonly #servers: Server[] = [];
  readonly #planes: HaproxyDataPlane[] = [];
  readonly #certificates: Certificates;
  #haproxy: ChildProcess | undefined;
  readonly repaired: string[][] = [];
  /** Members of which its check says otherwise than the pool, and what. */
  readonly dissents: [string, string | undefined][] = [];
  /** Requests that each member got besides those for its readiness, by address. */
  readonly requests: Map<string, number> = new Map();

  private constructor(certificates: Certificates) {
    // Its own: several tests run side by side.
    this.#network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`;
    this.vip = { address: `${this.#network}.100`, port: 8443, machinePort: 6443 };
    this.prefix = `${this.vip.address}/32`;
    this.#certificates = certificates;
  }

  static create(): HaproxyHost {
    return new HaproxyHost(makeCertificates());
  }

  get paths(): HaproxyPaths {
    return {
      configFile: join(this.folder, 'haproxy.cfg'),
      stateFile: join(this.folder, 'server-state'),
      caFile: join(this.folder, 'ca.crt'),
      socket: join(this.folder, 'haproxy.sock'),
      masterSocket: join(this.folder, 'master.sock'),
    };
  }

  /**
   * An API server on the address that ends with this number.
   * @param status of its answers to `/readyz`, asked for each
   */
  async member(
    number: number,
    status: () => number = () => 200,
    certificate: keyof Omit<Certificates, 'ca'> = 'good',
  ): Promise<string> {
    const address = `${this.#network}.${number}`;
    const server = createServer(this.#certificates[certificate], (asked, response) => {
      if (asked.url === '/readyz') {
        response.writeHead(status()).end();
        return;
      }
      this.requests.set(address, (this.requests.get(address) ?? 0) + 1);
      response.end(address);
    });
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(6443, address, resolve));
    return address;
  }

  /** Starts HAProxy as its unit does. */
  async startHaproxy(): Promise<void> {
    const { masterSocket, configFile } = this.paths;
    this.#haproxy = spawn('/usr/sbin/haproxy', ['-W', '-S', `${masterSocket},mode,600`, '-f', configFile], {
      stdio: 'ignore',
    });
    await expect.poll(() => this.ask('show info').catch(() => ''), { timeout: 10_000 }).toContain('Pid');
  }

  async killHaproxy(): Promise<void> {
    const haproxy = this.#haproxy;
    if (haproxy === undefined) return;
    const worker = await this.pid().catch(() => Number.NaN);
    const ended = new Promise((resolve) => haproxy.once('exit', resolve));
    // The master ends when its worker is killed, and with it.
    if (worker > 0) process.kill(worker, 'SIGKILL');
    else haproxy.kill('SIGKILL');
    await ended;
    this.#haproxy = undefined;
  }

  ask(command: string): Promise<string> {
    return new RunTimeClient(this.paths.socket).ask(command);
  }

  async pid(): Promise<number> {
    return Number(/Pid: (\d+)/.exec(await this.ask('show info'))?.[1]);
  }

  /** The member that has the connection of this client, or empty. */
  async serverOf({ localPort }: Socket): Promise<string> {
    const sessions = await this.ask('show sess');
    const line = sessions.split('\n').find((one) => one.includes(`src=127.0.0.1:${localPort} `));
    return / srv=(\d\S+) /.exec(line ?? '')?.[1] ?? '';
  }

  plane(changed: Partial<HaproxySettings> = {}): HaproxyDataPlane {
    const { paths } = this;
    const check = {
      path: '/readyz',
      serverName: 'kubernetes',
      interval: 200,
      timeout: 1000,
      rise: 2,
      fall: 3,
    };
    const plane = new HaproxyDataPlane(
      {
        settings: () => ({
          ...{ check, paths, maxConnections: 500 },
          ...{ idleTimeout: 60_000, userTimeout: 30_000, hardStopAfter: 60_000 },
          ...changed,
        }),
        vips: [this.vip],
        ca: () => this.#certificates.ca,
        isOverruled: () => false,
      },
      {
        haproxy: new HaproxyProcess(new RunTimeClient(paths.socket), new RunTimeClient(paths.masterSocket)),
        files: new HaproxyFiles(paths, 'haproxy'),
        // Addresses of loopback are local to this host as they are.
        routes: undefined,
        clock: systemClock,
      },
    );
    this.#planes.push(plane);
    return plane;
  }

  get handlers(): DataPlaneHandlers {
    return {
      forwarding: () => undefined,
      obstacle: () => undefined,
      link: () => undefined,
      configured: () => undefined,
      dissent: (_, nextHop, text) => this.dissents.push([nextHop, text]),
      repaired: (operations) => this.repaired.push([...operations]),
      failing: () => undefined,
      operation: () => undefined,
    };
  }

  /** Sets the next hops and waits until HAProxy serves them. */
  async serve(plane: HaproxyDataPlane, nextHops: readonly WeightedNextHop[]): Promise<void> {
    plane.setNextHops(new Map([[this.prefix, nextHops]]));
    const most = Math.max(0, ...nextHops.map(({ weight }) => weight));
    const serving = nextHops.filter(({ weight }) => weight === most).map(({ nextHop }) => nextHop);
    await expect.poll(() => plane.forwarding(this.prefix), { timeout: 10_000 }).toEqual(serving.sort());
    await expect.poll(() => plane.differences(), { timeout: 10_000 }).toEqual([]);
  }

  /** Which member answers a new client, or the code of its error. */
  connect(): Promise<string> {
    return new Promise((resolve) => {
      const { address: host, port } = this.vip;
      const sent = request(
        { host, port, agent: false, rejectUnauthorized: false, timeout: 3000 },
        (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += String(chunk);
          });
          response.on('end', () => resolve(text));
        },
      );
      sent.on('timeout', () => sent.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      sent.end();
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#planes.map((plane) => plane.stop()));
    await this.killHaproxy();
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
