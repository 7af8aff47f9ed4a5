import type { RunningDaemon } from '@bgp-lb/daemon';
import type { AutoDataplaneConfig, ChosenConfig, RouterConfig } from '../config/router-config.ts';
import type { DataPlaneFootprint } from '../dataplane/data-plane-footprint.ts';
import { choicePath, knownChoice, withChoice } from './chosen-config.ts';
import { type DataPlaneChoice, writeChoice } from './data-plane-choice.ts';

/** What a router is told of the choice of its data plane. */
export interface AutoOptions {
  /** `undefined`: it is to be made. */
  readonly choice: DataPlaneChoice | undefined;
  /** Called once, when it is made. Throws when it cannot be kept. */
  readonly decided: (choice: DataPlaneChoice) => void;
  /** What could not be done when it was followed, a sentence each. */
  readonly problems: readonly string[];
}

/** A router with a data plane of one kind. */
type OneRouter = Required<Pick<RunningDaemon, 'stop' | 'reload' | 'checkWell'>>;

interface StartedRouter extends OneRouter {
  /** As it was last taken, by a reload too. */
  readonly config: RouterConfig;
}

export interface AutoRouterOptions {
  readonly config: RouterConfig;
  readonly dataplane: AutoDataplaneConfig;
  readonly reread: () => RouterConfig;
  readonly start: (options: {
    readonly config: ChosenConfig;
    readonly reread: () => ChosenConfig;
    readonly auto: AutoOptions;
  }) => Promise<StartedRouter>;
  /** That of the data plane which the configuration asks for. */
  readonly footprint: (config: RouterConfig) => Pick<DataPlaneFootprint, 'remove'>;
}

/**
 * The router with `dataplane.kind: auto`. Until it is decided the kernel's data plane is there and carries nothing. Where HAProxy is
 * chosen, everything of it is removed and the router begins again with HAProxy, in this process; no client was served until then.
 */
export class AutoRouter implements OneRouter {
  readonly #options: AutoRouterOptions;
  #router: StartedRouter | undefined;
  #turning: Promise<void> = Promise.resolve();

  constructor(options: AutoRouterOptions) {
    this.#options = options;
  }

  /** @throws ChoiceError */
  async start(): Promise<void> {
    const { config, dataplane } = this.#options;
    const known = knownChoice(config, dataplane);
    if (known !== undefined) writeChoice(choicePath(config), known);
    await this.#begin(config, known);
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

  async #begin(
    config: RouterConfig,
    choice: DataPlaneChoice | undefined,
    problems: readonly string[] = [],
  ): Promise<void> {
    const { reread, start } = this.#options;
    let counts = choice;
    this.#router = await start({
      config: withChoice(config, choice),
      reread: () => withChoice(reread(), counts),
      auto: {
        ...{ choice, problems },
        decided: (made) => {
          counts = made;
          if (made.kind === 'kernel') writeChoice(choicePath(config), made);
          // A rejection ends the process, as that of a start does: the next start finds the choice made, or makes it again.
          else this.#turning = this.#turn(made);
        },
      },
    });
  }

  /**
   * What the kernel has goes before the choice is kept: a start in between finds nothing decided, and nothing half done. What cannot be
   * done on the way is said: HAProxy serves beside what is left, and another start would find the same.
   */
  async #turn(choice: DataPlaneChoice): Promise<void> {
    const { dataplane, footprint } = this.#options;
    const router = this.#router;
    await router?.stop('SIGTERM');
    // Of the data plane only a start takes another configuration.
    const config = { ...(router?.config ?? this.#options.config), dataplane };
    const problems: string[] = [];
    try {
      const { left } = await footprint(withChoice(config, undefined)).remove(false);
      problems.push(...left.map((what) => `left of the kernel's data plane: ${what}`));
    } catch (error) {
      problems.push(`the kernel's data plane is not removed from this host: ${textOf(error)}`);
    }
    try {
      writeChoice(choicePath(config), choice);
    } catch (error) {
      problems.push(`the choice of the data plane cannot be kept: ${textOf(error)}`);
    }
    await this.#begin(config, choice, problems);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
