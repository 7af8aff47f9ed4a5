import type { AddressKey, InterfaceAddress, Link } from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
import type { DataplaneConfig, VrrpConfig } from '../config/router-config.ts';
import { parseAdvertisement } from './advertisement.ts';
import { ConfigDelivery } from './config-delivery.ts';
import { givesUp } from './decide-fault.ts';
import { FirstStart, foreignText } from './first-start.ts';
import { type HeardRouter, HeardRouters } from './heard-routers.ts';
import { unfitness } from './host-fitness.ts';
import { keepalivedConfig } from './keepalived-config.ts';
import type { KeepalivedFiles } from './keepalived-files.ts';
import type { KeepalivedPaths } from './keepalived-paths.ts';
import { ownedAddresses } from './leftover-addresses.ts';
import type { NotifyFifo, NotifyFifoHandlers } from './notify-fifo.ts';
import { type InstanceState, parseNotifyLine } from './notify-line.ts';
import { SettledValue } from './settled-value.ts';
import { stateReason } from './state-reason.ts';
import { type VirtualRouterSettings, virtualRouterSettings, vridOf } from './virtual-router-settings.ts';
import type { VrrpChange, VrrpStatus } from './vrrp-status.ts';

/** Between two looks at the host (ms): a peer is to serve within half a second. */
const LOOK = 100;
/** Between two signs of life for keepalived (ms). */
const ALIVE = 5_000;
/** This host counts as able to serve again only after so long (ms). */
const RECOVERED = 1_000;
/** Members that come and go move the priority only after so long (ms): peers see the same, at another moment. */
const MEMBERS_SETTLE = 3_000;
/** The most that members that are not used take off the priority. */
const MOST_OFFSET = 10;

/** Clients are told again once in so long at most (ms): any host of the link can send what leads to it. */
const CONTEST_GAP = 1_000;

/** What the virtual router works with. */
export interface VirtualRouterHost {
  readonly clock: Clock;
  readonly files: Pick<
    KeepalivedFiles,
    'config' | 'write' | 'isReloadDue' | 'setReloaded' | 'removeConfig' | 'track' | 'touch'
  >;
  readonly paths: KeepalivedPaths;
  /** The name of the user that keepalived runs as. */
  readonly user: string;
  links(): readonly Link[];
  addresses(): readonly InterfaceAddress[];
  deleteAddress(key: AddressKey): void;
  /** Hears VRRP on a link. */
  listen(
    options: { readonly index: number; readonly version: 4 | 6 },
    handlers: { packet(packet: Uint8Array): void; lost(error: Error): void },
  ): { close(): void };
  fifo(handlers: NotifyFifoHandlers): Pick<NotifyFifo, 'start' | 'close' | 'isLive'>;
  /** The process id of our keepalived while it runs. */
  pid(): number | undefined;
  reload(pid: number): void;
  /** Whether any keepalived runs here. */
  runsKeepalived(): boolean;
}

export interface VirtualRouterOptions {
  /** As they are at the moment. */
  readonly config: () => { readonly vrrp: VrrpConfig; readonly vips: readonly string[] };
  readonly kind: DataplaneConfig['kind'];
  readonly host: VirtualRouterHost;
  /** Why the data plane cannot serve, whatever the members are; undefined while it can. */
  readonly dataPlaneFault: () => string | undefined;
  /** Members that are known and not used. */
  readonly missingMembers: () => number;
  changed(change: VrrpChange): void;
  /** This host has the VIPs, and another had them too until now: clients are to be told again. */
  contested(): void;
  /** Something that an operator has to know, once; undefined when it is over. */
  problem(problem: string | undefined): void;
  repaired(what: readonly string[]): void;
}

/** Our part of keepalived: its files, what it tracks, what it says, and what it leaves behind. */
export class VirtualRouter {
  readonly #options: VirtualRouterOptions;
  readonly #host: VirtualRouterHost;
  readonly #heard = new HeardRouters();
  readonly #delivery: ConfigDelivery;
  readonly #firstStart = new FirstStart();
  readonly #fifo: Pick<NotifyFifo, 'start' | 'close' | 'isLive'>;
  readonly #unfit = new SettledValue<string | undefined>(undefined, (from, to) =>
    from !== undefined && to === undefined ? RECOVERED : 0,
  );
  readonly #offset = new SettledValue(0, () => MEMBERS_SETTLE);
  #listener: { close(): void } | undefined;
  /** Where it listens: the index of the interface and the IP version. */
  #listened = '';
  #settings: VirtualRouterSettings | undefined;
  #state: InstanceState = 'stop';
  /** keepalived has told its state since it opened the FIFO. */
  #isTold = false;
  #since: number;
  #why = 'keepalived does not run';
  #priority: number;
  #problem = '';
  #isDrained = false;
  #contestedAt = Number.NEGATIVE_INFINITY;
  #aliveAt = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => undefined;

  constructor(options: VirtualRouterOptions) {
    const { host } = options;
    this.#options = options;
    this.#host = host;
    this.#since = host.clock.now();
    this.#priority = options.config().vrrp.priority;
    this.#delivery = new ConfigDelivery({
      ...host,
      pid: () => host.pid(),
      reload: (pid) => host.reload(pid),
    });
    this.#fifo = host.fifo({
      line: (line) => {
        const said = parseNotifyLine(line);
        if (said === undefined) return;
        this.#priority = said.priority;
        this.#isTold = true;
        if (said.isContested && this.isOwner) this.#contested();
        this.#enter(said.state);
      },
      // There may have been lines, as of the other instance, and none that told our state.
      quiet: () => {
        if (!this.#isTold) this.#enter(this.#hasOwned() ? 'master' : 'backup');
      },
      ended: () => {
        this.#isTold = false;
        this.#enter('stop');
      },
    });
  }

  start(): void {
    this.#look();
    this.#fifo.start();
  }

  /** keepalived goes on as it is. */
  stop(): void {
    this.#cancel();
    this.#fifo.close();
    this.#listener?.close();
  }

  /** An operator has taken this load balancer out of use, or has it back. */
  setDrained(isDrained: boolean): void {
    this.#isDrained = isDrained;
  }

  /** This host has the VIPs. */
  get isOwner(): boolean {
    return this.#state === 'master';
  }

  status(): VrrpStatus {
    const { vrrp, vips } = this.#options.config();
    const now = this.#host.clock.now();
    const settings = this.#settings;
    const heard = this.#heard.all(now);
    const fit = settings === undefined ? [] : this.#heard.fitPeers(settings, now);
    const other = settings === undefined ? undefined : this.#heard.owner(settings, now);
    return {
      interface: vrrp.interface,
      vrid: vridOf(vrrp, vips),
      state: this.#state,
      sinceMs: Math.round(now - this.#since),
      why: this.#why,
      owner: this.isOwner ? (settings?.ownAddress ?? null) : (other?.source ?? null),
      priority: this.#priority,
      unfit: this.#unfit.value ?? null,
      peers: vrrp.peers
        .map((address) => ({
          address,
          isFit: fit.includes(address),
          heardMs: Math.min(
            ...heard.filter(({ source }) => source === address).map(({ agoMs }) => agoMs),
            Infinity,
          ),
        }))
        .map((peer) => ({ ...peer, heardMs: peer.heardMs === Infinity ? null : peer.heardMs })),
      problem: this.#problem,
      others: heard.filter(({ source }) => !vrrp.peers.includes(source)).map(({ agoMs: _, ...one }) => one),
    };
  }

  #look(): void {
    this.#cancel = this.#host.clock.after(LOOK, () => this.#look());
    let problem: string;
    try {
      problem = this.#pass();
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#options.problem(problem === '' ? undefined : problem);
  }

  /** @returns what keeps it from being as wanted, in words, or nothing */
  #pass(): string {
    const { config, kind } = this.#options;
    const { vrrp, vips } = config();
    const now = this.#host.clock.now();
    const links = this.#host.links();
    const addresses = this.#host.addresses();
    const link = links.find(({ name }) => name === vrrp.interface);
    this.#listenOn(link, vrrp);
    const own = addresses.filter(({ index }) => index === link?.index);
    const settings = virtualRouterSettings(vrrp, kind, vips, own);
    const unfit = unfitness({
      links,
      trackInterfaces: vrrp.trackInterfaces,
      dataPlane: this.#options.dataPlaneFault(),
      isDrained: this.#isDrained,
    });
    this.#unfit.take(unfit, now);
    // What was good before counts while the interface is away: a peer of a host without a link has the VIPs by itself.
    if (typeof settings !== 'string') this.#settings = settings;
    const untold = this.#tell(now);
    this.#removeLeftovers(links, addresses);
    if (link === undefined) return `there is no interface ${vrrp.interface}`;
    if (typeof settings === 'string') return settings;
    const problem = this.#deliver(settings, link, now);
    return problem === '' ? untold : problem;
  }

  #deliver(settings: VirtualRouterSettings, link: Link, now: number): string {
    const { files, paths, user } = this.#host;
    const { vrid } = settings;
    const foreign = this.#heard.foreign(settings, FirstStart.window, now);
    const isRunning = this.#fifo.isLive || this.#host.pid() !== undefined;
    const isListening = this.#listener !== undefined && link.hasCarrier;
    const wait = this.#firstStart.look({ isRunning, isListening, foreign, vrid }, now);
    if (wait !== undefined) {
      // A service that starts by itself is not to find one.
      if (foreign !== undefined) files.removeConfig();
      if (!isListening) return `keepalived is not started: nothing can be heard on ${link.name} yet`;
      return foreign === undefined ? '' : `keepalived is not started: ${wait}`;
    }
    this.#delivery.look(keepalivedConfig(settings, paths, user));
    if (this.#delivery.fault !== '') return this.#delivery.fault;
    return foreign === undefined ? '' : foreignText(foreign, vrid);
  }

  /** What keepalived reads of us all the time. @returns why it could not be written, in words, or nothing: the rest of a look goes on. */
  #tell(now: number): string {
    try {
      if (now - this.#aliveAt >= ALIVE) {
        this.#aliveAt = now;
        this.#host.files.touch();
      }
      this.#track(now);
      return '';
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      return `keepalived is not told of this host: ${words}`;
    }
  }

  #track(now: number): void {
    const settings = this.#settings;
    const broken = this.#unfit.value;
    const missing = Math.min(MOST_OFFSET, this.#options.missingMembers());
    this.#host.files.track({
      gaveUp:
        settings !== undefined &&
        givesUp({
          broken,
          state: this.#state,
          hasFitPeer: this.#heard.fitPeers(settings, now).length > 0,
          hasOwner: this.#heard.owner(settings, now) !== undefined,
        }),
      unfit: broken !== undefined,
      offset: 0 - this.#offset.take(missing, now),
    });
  }

  /** What keepalived has left on interfaces when it was killed. */
  #removeLeftovers(links: readonly Link[], addresses: readonly InterfaceAddress[]): void {
    const settings = this.#settings;
    if (settings === undefined || this.#fifo.isLive) return;
    const { owned, beacon } = ownedAddresses(settings, links, addresses);
    const left = [...owned, ...beacon];
    if (left.length === 0 || this.#host.pid() !== undefined || this.#host.runsKeepalived()) return;
    for (const key of left) this.#host.deleteAddress(key);
    this.#options.repaired(
      left.map(({ address }) => `delete ${address}, which a keepalived that ended has left`),
    );
  }

  #hasOwned(): boolean {
    const settings = this.#settings;
    if (settings === undefined) return false;
    return ownedAddresses(settings, this.#host.links(), this.#host.addresses()).owned.length > 0;
  }

  #listenOn(link: Link | undefined, { peers }: VrrpConfig): void {
    const version = peers[0]?.includes(':') === true ? 6 : 4;
    const wanted = `${link?.index} ${version}`;
    if (this.#listener !== undefined && this.#listened !== wanted) {
      this.#listener.close();
      this.#listener = undefined;
    }
    if (this.#listener !== undefined || link === undefined || !link.isUp) return;
    this.#listened = wanted;
    this.#listener = this.#host.listen(
      { index: link.index, version },
      {
        packet: (packet) => this.#take(packet),
        lost: () => {
          this.#listener = undefined;
        },
      },
    );
  }

  #take(packet: Uint8Array): void {
    const what = parseAdvertisement(packet);
    if (what === undefined || what.source === this.#settings?.ownAddress) return;
    this.#heard.hear(what, this.#host.clock.now());
  }

  #enter(state: InstanceState): void {
    const from = this.#state;
    if (state === from) return;
    const { vrrp } = this.#options.config();
    const now = this.#host.clock.now();
    this.#state = state;
    this.#since = now;
    this.#why = stateReason({
      state,
      priority: this.#priority,
      unfit: this.#unfit.value,
      heard: this.#lastOfPeers(now),
      window: (vrrp.missedAdverts + 1) * vrrp.advertInterval,
      interface: vrrp.interface,
    });
    this.#options.changed({ interface: vrrp.interface, from, to: state, why: this.#why });
  }

  #contested(): void {
    const now = this.#host.clock.now();
    if (now - this.#contestedAt < CONTEST_GAP) return;
    this.#contestedAt = now;
    this.#options.contested();
  }

  #lastOfPeers(now: number): HeardRouter | undefined {
    const settings = this.#settings;
    if (settings === undefined) return undefined;
    const { vrid, peers } = settings;
    return this.#heard
      .all(now)
      .filter((one) => one.vrid === vrid && peers.includes(one.source))
      .sort((a, b) => a.agoMs - b.agoMs)[0];
  }
}
