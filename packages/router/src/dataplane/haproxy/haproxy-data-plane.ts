import type { Clock } from '@bgp-lb/protocol/node';
import { hostPrefix } from '../../bgp/neighbor-options.ts';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { CarriedVip, DataPlane, DataPlaneHandlers, DataPlaneStatus, Difference } from '../data-plane.ts';
import { configIdentity, haproxyConfig, serverArguments } from './haproxy-config.ts';
import type { HaproxyFiles } from './haproxy-files.ts';
import type { HaproxyProcess, HaproxySnapshot } from './haproxy-process.ts';
import { backendOf, type HaproxySettings } from './haproxy-settings.ts';
import { haproxyForwarding, servesOf } from './haproxy-status.ts';
import { HaproxyVips } from './haproxy-vips.ts';
import { OverruledChecks } from './overruled-checks.ts';
import type { RunningServer } from './run-time-answers.ts';
import {
  type ServerCommand,
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
  readonly routes: VipRoutes | undefined;
  readonly clock: Clock;
}

/** Terminates the VIPs' connections in HAProxy, a process of its own that lives without us. */
export class HaproxyDataPlane implements DataPlane {
  readonly kind = 'haproxy';
  readonly #options: HaproxyDataPlaneOptions;
  readonly #host: HaproxyHost;
  #handlers: DataPlaneHandlers | undefined;
  readonly #vips: HaproxyVips;
  #snapshot: HaproxySnapshot | undefined;
  readonly #forwarding = new Map<string, readonly string[]>();
  /** By prefix. */
  readonly #overruled = new Map<string, OverruledChecks>();
  readonly #problems = new Map<'haproxy' | 'master' | 'file' | 'route', string>();
  #failing: string | undefined;
  /** Everything was as wanted at the last look, and nothing else is wanted since: what differs is somebody else's doing. */
  #isSettled = false;
  /** When old workers are to be looked at (monotonic ms). */
  #oldDue = 0;
  #isRunning = false;
  #isDue = false;
  #isStopped = true;
  #cancel: () => void = () => undefined;
  #writing: Promise<void> = Promise.resolve();
  #written = '';
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: HaproxyDataPlaneOptions, host: HaproxyHost) {
    this.#options = options;
    this.#host = host;
    this.#vips = new HaproxyVips(options.vips);
  }

  async start(handlers: DataPlaneHandlers): Promise<ReadonlyMap<string, readonly WeightedNextHop[]>> {
    this.#isStopped = false;
    try {
      this.#snapshot = await this.#host.haproxy.read();
    } catch (error) {
      this.#problems.set('haproxy', textOf(error));
    }
    for (const vip of this.#vips.all) this.#vips.adopt(vip, this.#snapshot?.servers ?? []);
    this.#handlers = handlers;
    // Before HAProxy is told anything: if it starts now it is to find what is safe.
    if (this.#snapshot !== undefined || this.#isOtherConfig()) await this.#write();
    this.#look();
    this.#kick();
    return this.#nextHopsOf(this.#vips.all);
  }

  setVips(vips: readonly CarriedVip[]): ReadonlyMap<string, readonly WeightedNextHop[]> {
    const before = new Set(this.#vips.current.map(({ address }) => address));
    for (const vip of this.#vips.set(vips, this.#host.clock.now() + LEAVE)) {
      this.#vips.adopt(vip, this.#snapshot?.servers ?? []);
    }
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
    return { kind: this.kind, vips, problems: [...this.#problems.values()] };
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
    await this.#writing;
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
    void this.#write();
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
        this.#snapshot = undefined;
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
    const { haproxy } = this.#host;
    const snapshot = await haproxy.read();
    if (this.#snapshot !== undefined && snapshot.process.pid !== this.#snapshot.process.pid)
      this.#isSettled = false;
    this.#snapshot = snapshot;
    if (snapshot.process.description !== configIdentity(this.#settings())) {
      await this.#reload();
      return true;
    }
    this.#overrule(snapshot.servers);
    const { commands, isWaiting } = this.#compare(snapshot);
    for (const one of commands) await this.#do(one);
    if (commands.length > 0) this.#snapshot = await haproxy.read();
    if (this.#isSettled && commands.length > 0)
      this.#handlers?.repaired([...new Set(commands.map(describe))]);
    this.#isSettled = commands.length === 0 && !isWaiting;
    this.#endOldSessions();
    void this.#write();
    return isWaiting || commands.length > 0;
  }

  async #do({ command, expected }: ServerCommand): Promise<void> {
    const { clock, haproxy } = this.#host;
    const begun = clock.now();
    const kind = command.split(' ', 2).join('-');
    try {
      await haproxy.order(command, expected);
      this.#handlers?.operation(kind, clock.now() - begun, undefined);
    } catch (error) {
      this.#handlers?.operation(kind, clock.now() - begun, textOf(error));
      throw error;
    }
  }

  /** For what cannot be changed at run time: VIPs, certificates, times. */
  async #reload(): Promise<void> {
    this.#isSettled = false;
    await this.#write();
    if (this.#problems.has('file')) throw new Error(this.#problems.get('file'));
    const begun = this.#host.clock.now();
    await this.#host.haproxy.reload(this.#host.files, this.#stateText());
    // The master begins with the new configuration too, and is not there for a moment.
    this.#oldDue = this.#host.clock.now() + LOOK_OLD;
    this.#handlers?.operation('reload', this.#host.clock.now() - begun, undefined);
  }

  #compare({ servers }: HaproxySnapshot): {
    readonly commands: readonly ServerCommand[];
    readonly isWaiting: boolean;
  } {
    const settings = this.#settings();
    const parts = this.#vips.all.map((vip) => {
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
    const isOverruled = (nextHop: string): boolean => this.#overruled.get(vip)?.has(nextHop) === true;
    return wantedServers(this.#vips.nextHops(vip), machinePort, isOverruled);
  }

  #overrule(servers: readonly RunningServer[]): void {
    for (const { address } of this.#vips.all) {
      const vip = hostPrefix(address);
      const checks = this.#overruled.get(vip) ?? new OverruledChecks();
      this.#overruled.set(vip, checks);
      const own = servers.filter((one) => one.backend === backendOf(address));
      const isByPool = (nextHop: string): boolean => this.#options.isOverruled(vip, nextHop);
      checks.look(this.#vips.nextHops(vip), own, isByPool, this.#host.clock.now());
    }
  }

  /** Beside everything else: a master that is slow to answer keeps nothing waiting. */
  #endOldSessions(): void {
    const { clock, haproxy } = this.#host;
    if (this.#oldDue > clock.now()) return;
    this.#oldDue = Number.POSITIVE_INFINITY;
    void haproxy
      .endOldSessions((server) => this.#isDead(server))
      .then(
        () => this.#problems.delete('master'),
        (error: unknown) => this.#problems.set('master', textOf(error)),
      )
      .finally(() => {
        this.#oldDue = clock.now() + LOOK_OLD;
      });
  }

  /** Of a server of an old worker, which does not check it any more. */
  #isDead(server: string): boolean {
    const running = this.#snapshot?.servers.find(({ backend, name }) => `${backend}/${name}` === server);
    if (running === undefined || running.admin === 'maint') return true;
    return running.isChecked && running.status.startsWith('DOWN');
  }

  #dropLeft(): void {
    for (const vip of this.#vips.drop(this.#host.clock.now())) {
      this.#forwarding.delete(vip);
      this.#overruled.delete(vip);
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

  #stateText(): string {
    const servers = this.#vips.all.map((vip) => [vip.address, this.#wantedServers(vip)] as const);
    return coldState(new Map(servers));
  }

  /** What HAProxy begins with when it starts by itself follows what it is told at run time, a moment later. */
  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const settings = this.#settings();
      const texts = { config: this.#configText(settings), state: this.#stateText(), ca: settings.ca };
      const all = JSON.stringify(texts);
      if (all === this.#written && this.#host.files.config === texts.config) return;
      try {
        await this.#host.files.write(texts);
        this.#written = all;
        this.#problems.delete('file');
      } catch (error) {
        this.#problems.set('file', textOf(error));
      }
    });
    return this.#writing;
  }
}

function describe({ member, difference }: ServerCommand): string {
  return `${member}: ${difference}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
