import type { Logger } from '@bgp-lb/daemon';
import type { RouteSocket } from '@bgp-lb/linux';
import type { RouterPasswords } from './bgp/advertiser.ts';
import type { SpeakerConfig, VipConfig } from './config/speaker-config.ts';
import type { HostFacts } from './host-facts.ts';

/** What the speaker is started with. */
export interface SpeakerOptions {
  readonly config: SpeakerConfig;
  readonly configFile: string;
  /** Reads the configuration again. @throws ConfigError */
  readonly reread: () => SpeakerConfig;
  /** What the BFD thread runs. */
  readonly program: URL | string;
  readonly logger: Logger;
  readonly version: string;
  /** Ends the process; used when a file mount has to be made again. */
  readonly exit: (code: number) => void;
}

/** What all parts of a running speaker have in common. */
export interface SpeakerContext extends SpeakerOptions {
  readonly routes: RouteSocket;
  /** TCP-MD5 passwords by router address, as of the start. */
  readonly passwords: RouterPasswords;
  readonly facts: HostFacts;
  /** VIPs that were on `lo` before this process. */
  readonly found: readonly VipConfig[];
  readonly releaseLock: () => void;
}
