import type { RouterConfig } from './router-config.ts';

/** The configuration that the router goes by. Only a reload replaces it. */
export class CurrentConfig {
  #config: RouterConfig;

  /** @param config what the daemon was started with */
  constructor(config: RouterConfig) {
    this.#config = config;
  }

  /** As it was last taken. */
  get config(): RouterConfig {
    return this.#config;
  }

  replace(next: RouterConfig): void {
    this.#config = next;
  }
}
