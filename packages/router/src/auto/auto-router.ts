import type { RunningDaemon } from '@bgp-lb/daemon';
import type { AutoDataplaneConfig, ChosenConfig, RouterConfig } from '../config/router-config.ts';
import { kernelFootprint } from '../dataplane/kernel/kernel-footprint.ts';
import { choicePath, knownChoice, withChoice } from './chosen-config.ts';
import { type DataPlaneChoice, writeChoice } from './data-plane-choice.ts';

/** What a router is told of the choice of its data plane. */
export interface AutoOptions {
  /** `undefined`: it is to be made. */
  readonly choice: DataPlaneChoice | undefined;
  /** Called once, when it is made. Throws when it cannot be kept. */
  readonly decided: (choice: DataPlaneChoice) => void;
}

/** A router with a data plane of one kind. */
type OneRouter = Required<Pick<RunningDaemon, 'stop' | 'reload' | 'checkWell'>>;

export interface AutoRouterOptions {
  readonly config: RouterConfig;
  readonly dataplane: AutoDataplaneConfig;
  readonly reread: () => RouterConfig;
  readonly start: (options: {
    readonly config: ChosenConfig;
    readonly reread: () => ChosenConfig;
    readonly auto: AutoOptions;
  }) => Promise<OneRouter>;
}

/**
 * The router with `dataplane.kind: auto`. Until it is decided the kernel's data plane is there and carries nothing. Where HAProxy is
 * chosen, everything of it is removed and the router begins again with HAProxy, in this process; no client was served until then.
 */
export class AutoRouter implements OneRouter {
  readonly #options: AutoRouterOptions;
  #router: OneRouter | undefined;
  #turning: Promise<void> = Promise.resolve();

  constructor(options: AutoRouterOptions) {
    this.#options = options;
  }

  /** @throws ChoiceError */
  async start(): Promise<void> {
    const { config, dataplane } = this.#options;
    const known = knownChoice(config, dataplane);
    if (known !== undefined) writeChoice(choicePath(config), known);
    await this.#begin(known);
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    await this.#turning;
    await this.#router?.stop(signal);
  }

  async reload(): Promise<void> {
    await this.#turning;
    await this.#router?.reload();
  }

  async checkWell(): Promise<void> {
    await this.#turning;
    await this.#router?.checkWell();
  }

  async #begin(choice: DataPlaneChoice | undefined): Promise<void> {
    const { config, reread, start } = this.#options;
    let counts = choice;
    this.#router = await start({
      config: withChoice(config, choice),
      reread: () => withChoice(reread(), counts),
      auto: {
        choice,
        decided: (made) => {
          counts = made;
          if (made.kind === 'kernel') writeChoice(choicePath(config), made);
          // A rejection ends the process: the next start finds the choice made, or makes it again.
          else this.#turning = this.#turn(made);
        },
      },
    });
  }

  /** What the kernel has goes before the choice is kept: a start in between finds nothing decided, and nothing half done. */
  async #turn(choice: DataPlaneChoice): Promise<void> {
    const { config, dataplane } = this.#options;
    await this.#router?.stop('SIGTERM');
    await kernelFootprint({ kind: 'kernel', ...dataplane.kernel }, config).remove(false);
    writeChoice(choicePath(config), choice);
    await this.#begin(choice);
  }
}
