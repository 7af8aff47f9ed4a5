import { type Clock, systemClock } from '@bgp-lb/protocol/node';
import type { Advertiser } from './bgp/advertiser.ts';
import type { BootstrapStatus, BootstrapWatch } from './bootstrap/bootstrap-watch.ts';
import { type DatedGate, GateHistory } from './gate-history.ts';
import { gatesOf } from './gates.ts';
import { ApiServerWatch } from './health/api-server-watch.ts';
import { ClientCertificateReader } from './health/client-certificate.ts';
import type { Readiness } from './health/readiness.ts';
import { checkVip } from './health/vip-check.ts';
import type { Journal } from './journal.ts';
import type { ClientConnections } from './kernel/client-connections.ts';
import type { ConnectionHold } from './kernel/connection-hold.ts';
import type { HostKeeper } from './kernel/host-keeper.ts';
import type { DrainTriggers } from './lifecycle/drain-triggers.ts';
import { Lifecycle, type VipView } from './lifecycle/lifecycle.ts';
import { type DrainRequest, drainPace } from './lifecycle/lifecycle-input.ts';
import { SharedTimer } from './shared-timer.ts';
import type { SpeakerContext } from './speaker-context.ts';

/** Milliseconds between looks at markers, ca.crt and the drain file. */
const OBSERVE_INTERVAL = 200;
/** Milliseconds between decisions while a drain goes on. */
const DRAIN_INTERVAL = 50;
/** Milliseconds after which a restarted speaker no longer leaves its predecessor's announcements alone. */
const SETTLE_LIMIT = 10_000;

export interface MasterLifeOptions {
  readonly context: SpeakerContext;
  readonly journal: Journal;
  readonly bootstrap: BootstrapWatch;
  /** VIPs that a predecessor left and that stay. */
  readonly adopted: ReadonlySet<string>;
  readonly keeper: Pick<HostKeeper, 'setBound'>;
  readonly advertiser: Pick<Advertiser, 'advertise' | 'movedOn' | 'others'>;
  readonly clients: Pick<ClientConnections, 'count'>;
  readonly hold: Pick<ConnectionHold, 'apply'>;
  readonly triggers: DrainTriggers;
  /** ca.crt is no longer the file that is mounted. */
  readonly caUnlinked: () => void;
}

/** Everything that the state of the VIPs depends on, looked at in time and handed to the state machine. */
export class MasterLife {
  readonly #options: MasterLifeOptions;
  readonly #bootstrap: BootstrapWatch;
  readonly #api: ApiServerWatch;
  readonly #lifecycle: Lifecycle;
  readonly #gates = new GateHistory();
  /** Of what is looked at all the time: files and API server. */
  readonly #clock: Clock;
  #cancelObserving: () => void = () => undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #observed: BootstrapStatus;
  #drainTimer: NodeJS.Timeout | undefined;
  #drained: (() => void) | undefined;
  #isClosed = false;

  constructor(options: MasterLifeOptions, observed: BootstrapStatus) {
    this.#options = options;
    this.#bootstrap = options.bootstrap;
    this.#observed = observed;
    this.#clock = new SharedTimer(systemClock, options.journal.metrics.noteLag);
    this.#api = this.#newApiServerWatch();
    this.#lifecycle = this.#newLifecycle();
  }

  start(): void {
    this.#observeForEver();
    this.#api.probeNow();
    this.#settleTimer = setTimeout(() => this.#lifecycle.settle(), SETTLE_LIMIT);
  }

  get bootstrap(): BootstrapStatus {
    return this.#observed;
  }

  get readiness(): Readiness {
    return this.#api.readiness;
  }

  /** What has to be good, and since when each is as it is. */
  get gates(): readonly DatedGate[] {
    this.#noteGates(this.#options.triggers.current());
    return this.#gates.view(systemClock.now());
  }

  views(): readonly VipView[] {
    return this.#lifecycle.views();
  }

  /** Decides now: a trigger of a drain has changed. */
  decide(): void {
    if (!this.#isClosed) this.#decide();
  }

  /** Drains for the end of this process. Resolves when nothing is advertised any more; the VIPs are still to be unbound. */
  async drainToStop(): Promise<void> {
    this.#options.triggers.stop();
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    this.#observe();
    await drained;
    this.#lifecycle.close();
  }

  /** Looks and decides no more; what is bound and advertised stays. */
  close(): void {
    this.#isClosed = true;
    this.#lifecycle.close();
    this.#api.close();
    clearTimeout(this.#drainTimer);
    clearTimeout(this.#settleTimer);
    this.#cancelObserving();
  }

  #observeForEver(): void {
    this.#cancelObserving = this.#clock.after(OBSERVE_INTERVAL, () => this.#observeForEver());
    this.#observe();
  }

  #observe(): void {
    if (this.#isClosed) return;
    this.#observed = this.#bootstrap.observe();
    if (this.#observed.isCaUnlinked) {
      this.#options.caUnlinked();
      return;
    }
    if (this.#observed.isNewProof) {
      this.#options.journal.bootstrapProven(this.#observed.detail);
      this.#api.probeNow();
    }
    this.#decide();
  }

  #decide(): void {
    const { role, proof, detail } = this.#observed;
    const { level, isPortClosed, detail: readinessDetail } = this.#api.readiness;
    const { triggers } = this.#options;
    const drain = triggers.current();
    this.#lifecycle.update({
      // A first master has the VIP for kubeadm only where it may have it at all.
      role: this.#options.context.config.vipBind ? role : 'join',
      bootstrap: proof,
      bootstrapDetail: detail,
      readiness: level,
      readinessDetail,
      isPortClosed,
      drain,
      isHurried: triggers.isHurried,
    });
    this.#noteGates(drain);
    this.#lookAtDrain();
  }

  #noteGates(drain: DrainRequest | undefined): void {
    const { bootstrap, readiness } = this;
    this.#gates.note(gatesOf({ bootstrap, readiness, drain, vips: this.views() }), systemClock.now());
  }

  /** A drain is decided on more often, and its end is told. */
  #lookAtDrain(): void {
    const states = this.views().map(({ state }) => state);
    if (states.includes('draining')) {
      clearTimeout(this.#drainTimer);
      this.#drainTimer = setTimeout(() => this.decide(), DRAIN_INTERVAL);
    }
    if (states.every((state) => state === 'absent' || state === 'local-only')) this.#drained?.();
  }

  #newApiServerWatch(): ApiServerWatch {
    const { context, journal } = this.#options;
    const { config, facts, logger } = context;
    const { clientCertificate: files, ...apiServer } = config.apiServer;
    const client =
      files === undefined ? undefined : new ClientCertificateReader(files, (message) => logger.warn(message));
    return new ApiServerWatch({
      ...apiServer,
      clientCertificate: client === undefined ? undefined : () => client.read(),
      // Certificates block the first advertisement only.
      isNameOptional: () => this.#bootstrap.advertised.length > 0,
      address: facts.nodeAddress,
      port: config.vips[0]?.machinePort ?? 6443,
      ca: () => this.#bootstrap.caPem,
      clock: this.#clock,
      probed: (result, isNews) => {
        journal.probed(result);
        // What is no news is decided on with the next look at the files.
        if (isNews && !this.#isClosed) this.#decide();
      },
    });
  }

  #newLifecycle(): Lifecycle {
    const { context, journal, adopted, keeper, advertiser, clients, hold } = this.#options;
    const { config } = context;
    const { path, timeout } = config.apiServer;
    return new Lifecycle({
      vips: config.vips,
      vipBind: config.vipBind,
      times: { drainTimeout: config.drain.timeout, ...drainPace },
      clock: systemClock,
      adopted,
      bind: (addresses) => keeper.setBound(addresses),
      advertise: (wanted, isSettled) => {
        if (isSettled) advertiser.advertise(wanted, this.#observed.caKeys);
      },
      check: (vip) =>
        checkVip({
          vip,
          at: config.vipBind ? undefined : { host: context.facts.nodeAddress, port: vip.machinePort },
          path,
          timeout,
          endpoint: config.endpoint,
          ca: () => this.#bootstrap.caPem,
        }),
      checked: (vip, result) => journal.vipChecked(vip, result),
      hold: async (holds) => {
        await hold.apply(holds).catch((error: unknown) => {
          journal.kernelFailed(error);
          throw error;
        });
      },
      movedOn: () => advertiser.movedOn(),
      clients: (isAnew) => clients.count(config.vips, isAnew),
      others: (vip) => advertiser.others(vip).size,
      hasAdvertised: (vip) => this.#bootstrap.advertised.includes(vip),
      transition: (transition) => {
        journal.vipMoved(transition);
        const { vip, to } = transition;
        if (to === 'advertised' || to === 'last-resort') this.#bootstrap.noteAdvertised(vip);
      },
    });
  }
}
