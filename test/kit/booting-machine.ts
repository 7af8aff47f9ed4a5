/** Machines as their owners have them: switched on, they do by themselves what they were told, again after each power cut. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../../scripts/lab/host.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import type { InitProfile, JoinProfile } from '../../scripts/lab/kubeadm/kubeadm-config.ts';
import type { LbHost } from '../../scripts/lab/lb-host.ts';
import type { MasterHost, PkiFolder } from '../../scripts/lab/master-host.ts';

/** Milliseconds after which systemd starts the router again. */
const restartDelay = 100;

/** A program that runs while the machine has power. A new life begins with each time it is switched on. */
abstract class Machine {
  readonly #host: Host;
  #life = 0;
  #powerOn: Promise<void> = Promise.resolve();
  #script: Promise<void> = Promise.resolve();
  #tellSwitchedOn: () => void = () => undefined;
  readonly #switchedOn = new Promise<void>((resolve) => {
    this.#tellSwitchedOn = resolve;
  });
  /** Power cuts come one after the other. */
  #cuts: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(host: Host) {
    this.#host = host;
  }

  /** What the machine does by itself once it has power, for as long as `isAlive`. */
  protected abstract live(isAlive: () => boolean): Promise<void>;

  /** Switches it on. */
  boot(): void {
    this.#tellSwitchedOn();
    this.#life += 1;
    const life = this.#life;
    const isAlive = (): boolean => life === this.#life;
    this.#powerOn = this.#host.powerOn();
    this.#script = this.#powerOn
      .then(() => this.live(isAlive))
      .catch((error: unknown) => {
        // What a power cut interrupts fails, and that is no news.
        if (isAlive()) this.#failure = error;
      });
  }

  /** Cuts its power, once it has been switched on at all, and gives it back after a moment. */
  cutPower(pause: number): Promise<void> {
    this.#cuts = this.#cuts.then(async () => {
      await this.#switchedOn;
      await this.#switchOff();
      await sleep(pause);
      this.boot();
    });
    return this.#cuts;
  }

  /** Resolves once what it does by itself has come to its end: kubeadm has succeeded, or the power was cut. */
  get booted(): Promise<void> {
    return this.#script;
  }

  /** Switches it off for good; rejects with what has gone wrong on it. */
  async rest(): Promise<void> {
    await this.#cuts;
    await this.#switchOff();
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #switchOff(): Promise<void> {
    this.#life += 1;
    await this.#powerOn;
    if (this.#host.isOn) await this.#host.powerOff();
    await this.#script;
  }
}

/** A load balancer whose router is a service of systemd. */
export class BootingLb extends Machine {
  readonly #lb: LbHost;

  constructor(lb: LbHost) {
    super(lb);
    this.#lb = lb;
  }

  protected async live(isAlive: () => boolean): Promise<void> {
    while (isAlive()) {
      await this.#lb.router.spawn().exited;
      await sleep(restartDelay);
    }
  }

  /** kill -9. */
  killDaemon(): Promise<unknown> {
    return this.#lb.router.kill();
  }
}

export interface BootingMasterOptions {
  readonly role: 'init' | 'join';
  /** The cluster's CA, made before any machine: who joins has to know it before there is a first master. */
  readonly pki: PkiFolder;
  readonly init: InitProfile;
  readonly join: JoinProfile;
}

/** A master whose first boot runs kubeadm until it succeeds, and whose later boots start the kubelet. */
export class BootingMaster extends Machine {
  readonly master: MasterHost;
  readonly #options: BootingMasterOptions;
  #kubeadm: HostProcess | undefined;
  #attempts = 0;

  constructor(master: MasterHost, options: BootingMasterOptions) {
    super(master);
    this.master = master;
    this.#options = options;
  }

  /** How often kubeadm was started. */
  get attempts(): number {
    return this.#attempts;
  }

  protected async live(isAlive: () => boolean): Promise<void> {
    if (this.#hasProof()) {
      this.master.startKubelet();
      return;
    }
    while (isAlive() && !(await this.#attempt())) await sleep(restartDelay);
  }

  /** True when kubeadm has come to this phase, in whatever attempt. */
  hasReached(phase: string): boolean {
    const log = this.master.path('log/kubeadm.log');
    return existsSync(log) && readFileSync(log, 'utf8').includes(`[${phase}] started\n`);
  }

  async #attempt(): Promise<boolean> {
    const { role, pki, init, join } = this.#options;
    if (this.#attempts > 0) await this.#cleanUp();
    this.#attempts += 1;
    if (role === 'init') cpSync(pki.pkiFolder, this.master.pkiFolder, { recursive: true });
    this.master.placeSpeaker(role);
    this.#kubeadm =
      role === 'init'
        ? this.master.kubeadmInit({ profile: init })
        : this.master.kubeadmJoin(pki, { joinProfile: join });
    return (await this.#kubeadm.exited).code === 0;
  }

  /** What has to be done before kubeadm can be tried again. */
  async #cleanUp(): Promise<void> {
    await this.master.kubeadmReset({ isLastMember: this.#options.role === 'init' });
    const { code, stderr } = await this.master.speaker.command(['prepare'], 60_000);
    if (code !== 0) throw new Error(`${this.master.name}: prepare ended with ${code}: ${stderr}`);
  }

  #hasProof(): boolean {
    const state = this.master.path('var/lib/bgp-lb/state.json');
    return (
      existsSync(this.master.markerFile) ||
      (existsSync(state) && readFileSync(state, 'utf8').includes('"latch"'))
    );
  }

  /** kill -9 to the speaker. */
  killDaemon(): Promise<unknown> {
    return this.master.speaker.kill();
  }

  async killKubeadm(): Promise<unknown> {
    return this.#kubeadm?.kill();
  }

  async killApiServer(): Promise<unknown> {
    return this.master.apiServer?.kill();
  }
}
