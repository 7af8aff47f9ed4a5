import { hostPrefix } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';

import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { CarriedVip, DataPlane, DataPlaneHandlers, DataPlaneStatus, Difference } from '../data-plane.ts';
import { ChecksByVip } from './checks-by-vip.ts';
import { ConfigDelivery } from './config-delivery.ts';
import { configIdentity, haproxyConfig, serverArguments } from './haproxy-config.ts';
import type { HaproxyFiles, HaproxyTexts } from './haproxy-files.ts';
import type { HaproxyProcess, HaproxySnapshot } from './haproxy-process.ts';
import { backendOf, type HaproxySettings } from './haproxy-settings.ts';
import { haproxyForwarding, isDeadServer, servesOf } from './haproxy-status.ts';
import { HaproxyVips } from './haproxy-vips.ts';
import { orderServers } from './order-servers.ts';
import { PatientReload } from './patient-reload.ts';
import {
  type ServerCommand,
  type ServerDifference,
  serverDifference,
  type WantedServer,
  wantedServers,
} from './server-difference.ts';
import { coldState } from './server-state.ts';
import type { VipRoutes } from './vip-routes.ts';

/** HAProxy is looked at this often (ms): it tells nothing by itself. */
const LOOK = 200;
/** While a check or the end of a connection is waited for (ms). */
const LOOK_SOON = 30;
/** Between two looks at the workers of configurations before (ms). */
const LOOK_OLD = 250;
/** How long a VIP that is withdrawn is served as it was: upstreams and packets on their way need a moment (ms). */
const LEAVE = 2000;

export interface HaproxyDataPlaneOptions {
  /** As it is at the moment. */
  readonly settings: () => Omit<HaproxySettings, 'vips' | 'ca'>;
  readonly vips: readonly CarriedVip[];
  /** The CA bundle as it is at the moment. */
  readonly ca: () => string | undefined;
  /** The pool uses this member although its health says otherwise. */
  readonly isOverruled: (vip: string, nextHop: string) => boolean;
}

/** What the data plane works with. */
export interface HaproxyHost {
  readonly haproxy: HaproxyProcess;
  readonly files: HaproxyFiles;
  /** Undefined where others make the VIPs local to this host. */
  readonly routes: Pick<VipRoutes, 'apply' | 'differences'> | undefined;
  readonly clock: Clock;
}

/** Terminates the VIPs' connections in HAProxy, a process of its own that lives without us. */
export class HaproxyDataPlane implements DataPlane {
  readonly kind = 'haproxy';
  readonly title = 'HAProxy';
  readonly #options: HaproxyDataPlaneOptions;
  readonly #host: HaproxyHost;
  #handlers: DataPlaneHandlers | undefined;
  readonly #vips: HaproxyVips;
  #snapshot: HaproxySnapshot | undefined;
  readonly #forwarding = new Map<string, readonly string[]>();
  readonly #checks: ChecksByVip;
  readonly #problems = new Map<'haproxy' | 'master' | 'file' | 'reload' | 'route', string>();
  #failing: string | undefined;
  /** Everything was as wanted at the last look, and nothing else is wanted since: what differs is another's doing. */
  #isSettled = false;
  /** When old workers are to be looked at (monotonic ms). */
  #oldDue = 0;
  #isRunning = false;
  #isDue = false;
  #isStopped = true;
  #cancel: () => void = () => undefined;
  readonly #delivery: ConfigDelivery;
  /** For what cannot be changed at run time: VIPs, certificates, times. */
  readonly #reload: PatientReload;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: HaproxyDataPlaneOptions, host: HaproxyHost) {
    this.#options = options;
    this.#host = host;
    this.#vips = new HaproxyVips(options.vips);
    this.#checks = new ChecksByVip({
      isByPool: options.isOverruled,
      onDissent: (...dissent) => this.#handlers?.dissent(...dissent),
    });
    this.#delivery = new ConfigDelivery({
      ...host,
      texts: () => this.#texts(),
      onFault: (fault) => {
        if (fault === undefined) this.#problems.delete('file');
        else this.#problems.set('file', fault);
      },
      onReload: (took, error) => this.#handlers?.operation('reload', took, error),
    });
    this.#reload = new PatientReload({
      clock: host.clock,
      reload: (identity) => this.#delivery.reload(identity),
      onEnd: (error) => this.#reloaded(error),
      onLateEnd: () => this.#kick(),
    });
  }

  async start(handlers: DataPlaneHandlers): Promise<ReadonlyMap<string, readonly WeightedNextHop[]>> {
    this.#isStopped = false;
    try {
      const { files, haproxy } = this.#host;
      this.#snapshot = await haproxy.readFirst(() => files.config !== undefined && !this.#isStopped);
      this.#vips.adopt(this.#snapshot.servers);
    } catch (error) {
      this.#problems.set('haproxy', textOf(error));
    }
    this.#handlers = handlers;
    // Before HAProxy is told anything: if it starts now it is to find what is safe.
    await this.#delivery.write();
    this.#look();
    this.#kick();
    return this.#nextHopsOf(this.#vips.all);
  }

  setVips(vips: readonly CarriedVip[]): ReadonlyMap<string, readonly WeightedNextHop[]> {
    const before = new Set(this.#vips.current.map(({ address }) => address));
    this.#vips.set(vips, this.#host.clock.now() + LEAVE);
    if (this.#snapshot !== undefined) this.#vips.adopt(this.#snapshot.servers);
    this.#changed();
    return this.#nextHopsOf(vips.filter(({ address }) => !before.has(address)));
  }

  setNextHops(changes: ReadonlyMap<string, readonly WeightedNextHop[]>): void {
    this.#vips.setNextHops(changes);
    this.#changed();
  }

  forwarding(vip: string): readonly string[] {
    return this.#forwarding.get(vip) ?? [];
  }

  /** Connections of clients end here: no route is between them and HAProxy. */
  obstacle(): undefined {
    return undefined;
  }

  status(): DataPlaneStatus {
    const vips = this.#vips.current.map((vip) =>
      haproxyForwarding(vip, this.#vips.nextHops(hostPrefix(vip.address)), this.#snapshot),
    );
    const { kind, title } = this;
    return { kind, title, destination: 'member', vips, problems: [...this.#problems.values()], warnings: [] };
  }

  async differences(): Promise<readonly Difference[]> {
    const now = this.#settings();
    const snapshot = await this.#host.haproxy.read();
    const identity = configIdentity(now);
    const found = new Map(this.#compare(snapshot).commands.map((one) => [describe(one), one.vip]));
    const differences: Difference[] = [...found].map(([difference, vip]) => ({
      vip,
      object: 'server',
      difference,
    }));
    if (snapshot.process.description !== identity) {
      const has = snapshot.process.description ?? 'one that is not ours';
      differences.push({
        vip: null,
        object: 'configuration',
        difference: `runs with ${has}, wanted ${identity}`,
      });
    }
    if (this.#host.files.config !== this.#configText(now)) {
      const difference = `${now.paths.configFile}: not as wanted`;
      differences.push({ vip: null, object: 'file', difference });
    }
    const local = this.#host.routes?.differences(this.#vips.all.map(({ address }) => address)) ?? [];
    return [...differences, ...local.map((difference) => ({ vip: null, object: 'route', difference }))];
  }

  /** HAProxy is a service of its own: that it is away is said by `failing`, and a new start of ours would cure nothing. */
  checkAble(): void {}

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#handlers = undefined;
    this.#cancel();
    await this.#ended;
    await this.#delivery.settled();
  }

  /** @param error none: the new worker serves */
  #reloaded(error: unknown): void {
    if (error !== undefined) {
      this.#problems.set('reload', textOf(error));
      return;
    }
    this.#problems.delete('reload');
    // The master begins with the new configuration too, and is not there for a moment.
    this.#oldDue = this.#host.clock.now() + LOOK_OLD;
  }

  #nextHopsOf(vips: readonly CarriedVip[]): ReadonlyMap<string, readonly WeightedNextHop[]> {
    const prefixes = vips.map(({ address }) => hostPrefix(address));
    return new Map(prefixes.map((vip) => [vip, this.#vips.nextHops(vip)]));
  }

  #settings(): HaproxySettings {
    const { settings, ca } = this.#options;
    return { ...settings(), vips: this.#vips.all, ca: ca() };
  }

  #isOtherConfig(): boolean {
    const { config } = this.#host.files;
    return config === undefined || !config.includes(configIdentity(this.#settings()));
  }

  #changed(): void {
    this.#isSettled = false;
    this.#kick();
    void this.#delivery.write();
  }

  /** Looks at HAProxy now, or as soon as the look that runs is over. */
  #kick(): void {
    if (this.#isStopped) return;
    this.#isDue = true;
    if (this.#isRunning) return;
    this.#cancel();
    this.#isRunning = true;
    this.#ended = this.#run();
  }

  async #run(): Promise<void> {
    let isWaiting = false;
    while (this.#isDue && !this.#isStopped) {
      this.#isDue = false;
      try {
        isWaiting = await this.#pass();
        this.#problems.delete('haproxy');
      } catch (error) {
        isWaiting = false;
        this.#isSettled = false;
        this.#problems.set('haproxy', textOf(error));
      }
      this.#look();
    }
    this.#isRunning = false;
    if (this.#isStopped) return;
    this.#cancel = this.#host.clock.after(isWaiting ? LOOK_SOON : LOOK, () => this.#kick());
  }

  /** One look, and what follows from it. @returns true while something is waited for */
  async #pass(): Promise<boolean> {
    this.#dropLeft();
    const snapshot = await this.#read();
    // HAProxy was not there at first: before it is known who is to serve, nothing is taken from it.
    this.#vips.adopt(snapshot.servers);
    for (const vip of this.#vips.all) {
      const nextHops = this.#vips.nextHops(hostPrefix(vip.address));
      this.#checks.look(vip, nextHops, snapshot.servers, this.#host.clock.now());
    }
    const identity = configIdentity(this.#settings());
    const isOther = snapshot.process.description !== identity;
    const found = this.#compare(snapshot);
    const { commands } = found;
    const errors: unknown[] = [];
    // Those that are there before a reload, which takes long: who leaves must not wait for it. Those that are not come by it.
    const later = isOther ? commands.filter(({ isAddition }) => isAddition) : [];
    const done = await this.#order(
      commands.filter((one) => !later.includes(one)),
      errors,
    );
    const isReloaded = isOther && (await this.#reload.run(identity));
    if (!isOther) this.#problems.delete('reload');
    if (!isReloaded) done.push(...(await this.#order(later, errors)));
    const now = commands.length > 0 || isReloaded ? await this.#read() : snapshot;
    if (this.#isSettled && done.length > 0) this.#handlers?.repaired([...new Set(done.map(describe))]);
    const left = now === snapshot ? found : this.#compare(now);
    this.#isSettled = left.commands.length === 0 && !left.isWaiting && !isOther;
    this.#endOldSessions();
    void this.#delivery.write();
    if (errors.length > 0) throw errors[0];
    return left.isWaiting || commands.length > 0 || isReloaded;
  }

  async #read(): Promise<HaproxySnapshot> {
    const before = this.#snapshot?.process.pid;
    // What is not known is not said: only an answer counts as serving.
    this.#snapshot = await this.#host.haproxy.read().catch((error: unknown) => {
      this.#snapshot = undefined;
      throw error;
    });
    if (before !== undefined && this.#snapshot.process.pid !== before) this.#isSettled = false;
    return this.#snapshot;
  }

  #order(commands: readonly ServerCommand[], errors: unknown[]): Promise<ServerCommand[]> {
    const tell: DataPlaneHandlers['operation'] = (...operation) => this.#handlers?.operation(...operation);
    return orderServers(commands, this.#host, tell, errors);
  }

  #compare({ servers, backends }: HaproxySnapshot): ServerDifference {
    const settings = this.#settings();
    // A VIP that HAProxy does not have yet comes by a reload.
    const carried = this.#vips.all.filter(({ address }) => backends.has(backendOf(address)));
    const parts = carried.map((vip) => {
      const backend = backendOf(vip.address);
      const running = servers.filter((one) => one.backend === backend);
      const newServer = ({ member, port }: WantedServer): string => serverArguments(settings, member, port);
      return serverDifference(vip.address, this.#wantedServers(vip), running, newServer);
    });
    return {
      commands: parts.flatMap(({ commands }) => commands),
      isWaiting: parts.some(({ isWaiting }) => isWaiting),
    };
  }

  #wantedServers({ address, machinePort }: CarriedVip): WantedServer[] {
    const vip = hostPrefix(address);
    const isOverruled = (nextHop: string): boolean => this.#checks.isOverruled(vip, nextHop);
    return wantedServers(this.#vips.nextHops(vip), machinePort, isOverruled);
  }

  /** Beside everything else: a master that is slow to answer keeps nothing waiting. */
  #endOldSessions(): void {
    const { clock, haproxy } = this.#host;
    // While it reloads, the master has no time for others.
    if (this.#oldDue > clock.now() || this.#reload.isRunning) return;
    this.#oldDue = Number.POSITIVE_INFINITY;
    void haproxy
      .endOldSessions((server) => isDeadServer(server, this.#snapshot?.servers))
      .then(
        () => this.#problems.delete('master'),
        (error: unknown) => this.#problems.set('master', textOf(error)),
      )
      .finally(() => {
        this.#oldDue = clock.now() + LOOK_OLD;
      });
  }

  #dropLeft(): void {
    for (const vip of this.#vips.drop(this.#host.clock.now())) {
      this.#forwarding.delete(vip);
      this.#checks.forget(vip);
    }
  }

  /** Tells what has changed of what HAProxy serves. */
  #look(): void {
    try {
      const done = this.#host.routes?.apply(this.#vips.all.map(({ address }) => address)) ?? [];
      if (done.length > 0 && this.#isSettled) this.#handlers?.repaired(done);
      this.#problems.delete('route');
    } catch (error) {
      this.#problems.set('route', `the VIPs cannot be made local to this host: ${textOf(error)}`);
    }
    for (const { address } of this.#vips.all) {
      const vip = hostPrefix(address);
      const backend = backendOf(address);
      const serves = servesOf(this.#vips.nextHops(vip));
      const now = (this.#snapshot?.servers ?? [])
        .filter((one) => one.backend === backend && serves(one))
        .map(({ name }) => name)
        .sort();
      if (now.join() === this.forwarding(vip).join()) continue;
      this.#forwarding.set(vip, now);
      this.#handlers?.forwarding(vip, now);
    }
    const [problem] = this.#problems.values();
    if (problem === this.#failing) return;
    this.#failing = problem;
    this.#handlers?.failing(problem);
  }

  #configText(settings: HaproxySettings): string {
    return haproxyConfig(
      settings,
      new Map(this.#vips.all.map((vip) => [vip.address, this.#wantedServers(vip)])),
    );
  }

  /** None while the members on disk are all that is known of those of a VIP. */
  #texts(): HaproxyTexts | undefined {
    const settings = this.#settings();
    if (!this.#vips.areKnown && !this.#isOtherConfig()) return undefined;
    const servers = this.#vips.all.map((vip) => [vip.address, this.#wantedServers(vip)] as const);
    return { config: this.#configText(settings), state: coldState(new Map(servers)), ca: settings.ca };
  }
}

function describe({ member, difference }: ServerCommand): string {
  return `${member}: ${difference}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
