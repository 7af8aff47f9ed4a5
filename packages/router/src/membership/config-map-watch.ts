import { ConfigError, formatDiagnostic } from '@bgp-lb/daemon';
import { type ApiClient, type KubernetesObject, Reflector } from '@bgp-lb/kubernetes';
import type { Clock } from '@bgp-lb/protocol/node';
import type { PoolList } from '../config/members-schema.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { POOL_KEY, parsePool } from './parse-pool.ts';
import type { SourceEvent } from './source-status.ts';

/** Milliseconds between the lists beside the watch. */
const POLL_INTERVAL = 30_000;
/** Faults of one list that are told. */
const MOST_FAULTS = 5;

export interface ConfigMapWatchOptions {
  readonly namespace: string;
  readonly name: string;
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly kept: KeptAnswers;
  readonly tell: (event: SourceEvent) => void;
  readonly changed: () => void;
}

/** Follows the list of one ConfigMap. The last good one stays, whatever follows, over restarts too. */
export class ConfigMapWatch {
  /** `bgp-lb-system/prod` */
  readonly key: string;
  readonly #options: ConfigMapWatchOptions;
  readonly #reflector: Reflector;
  #list: PoolList | undefined;
  #isFromDisk = false;
  #isThere = false;
  /** What is wrong with what the object says. */
  #fault = '';
  #wasFailing = false;

  constructor(options: ConfigMapWatchOptions) {
    const { namespace, name, client, clock } = options;
    this.#options = options;
    this.key = `${namespace}/${name}`;
    this.#list = this.#keptList();
    this.#reflector = new Reflector({
      client,
      clock,
      selection: {
        path: `/api/v1/namespaces/${namespace}/configmaps`,
        // One object, which is all that the credentials need to be good for.
        fieldSelector: `metadata.name=${name}`,
      },
      pollInterval: POLL_INTERVAL,
      handlers: {
        set: (object) => this.#set(object),
        gone: () => this.#gone(),
        status: () => this.#heard(),
        failed: (error) => this.#tell(true, `it could not be followed: ${String(error)}`),
      },
    });
  }

  /** The last good one; `undefined` before the first. */
  get list(): PoolList | undefined {
    return this.#list;
  }

  /** Why the list may be old; empty while it is not. */
  get problem(): string {
    return this.#fault || (this.#reflector.status().error ?? '');
  }

  get heardMs(): number | undefined {
    return this.#reflector.status().succeededMs;
  }

  get isFromDisk(): boolean {
    return this.#isFromDisk;
  }

  start(): void {
    this.#reflector.start();
  }

  close(): void {
    this.#reflector.close();
  }

  #set({ data }: KubernetesObject): void {
    this.#isThere = true;
    const text = typeof data === 'object' && data !== null && POOL_KEY in data ? data[POOL_KEY] : undefined;
    if (typeof text !== 'string') {
      this.#refuse(`it has no key ${POOL_KEY}`);
      return;
    }
    try {
      this.#list = parsePool(text, `configMap ${this.key}`);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#refuse(faultText(error));
      return;
    }
    [this.#isFromDisk, this.#fault] = [false, ''];
    this.#options.kept.set(this.key, text);
    const { generation, members } = this.#list;
    const which = generation === undefined ? '' : `generation ${generation}, `;
    this.#tell(false, `${which}${members.length} members: ${members.map(({ name }) => name).join(', ')}`);
    this.#options.changed();
  }

  #gone(): void {
    this.#isThere = false;
    this.#refuse('there is no such ConfigMap');
  }

  /** Each fault is told once. */
  #refuse(fault: string): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    const stays = this.#list === undefined ? 'there is no list yet' : 'the last good list stays';
    this.#tell(true, `${stays}: ${fault}`);
  }

  #heard(): void {
    const { isSynced, error } = this.#reflector.status();
    const isFailing = error !== undefined;
    // That it fails is told once, not with each attempt.
    if (isFailing && !this.#wasFailing) this.#tell(true, `the API does not answer: ${error}`);
    if (!isFailing && this.#wasFailing) this.#tell(false, 'the API answers again');
    this.#wasFailing = isFailing;
    if (!isFailing && isSynced && !this.#isThere) this.#refuse('there is no such ConfigMap');
  }

  #tell(isBad: boolean, text: string): void {
    this.#options.tell({ kind: 'configMap', name: this.key, isBad, text });
  }

  #keptList(): PoolList | undefined {
    const text = this.#options.kept.get(this.key);
    if (text === undefined) return undefined;
    try {
      const list = parsePool(text, 'the last good list');
      this.#isFromDisk = true;
      return list;
    } catch (error) {
      this.#tell(
        true,
        `the list that was kept is not used: ${error instanceof Error ? error.message : error}`,
      );
      return undefined;
    }
  }
}

/** Places and reasons of the first faults, without the lines of the source, on one line. */
function faultText({ diagnostics }: ConfigError): string {
  const shown = diagnostics.slice(0, MOST_FAULTS).map(({ sourceLine: _, ...one }) => formatDiagnostic(one));
  const more = diagnostics.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
