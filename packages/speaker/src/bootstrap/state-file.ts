import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_STATE_SIZE, readRegularFile, replaceFile } from '@bgp-lb/daemon';
import { type BootstrapState, bootstrapStateFile, noBootstrap } from './bootstrap-state.ts';

/** What state.json held. */
export interface LoadedState {
  readonly state: BootstrapState;
  /** Why the file was not believed; `undefined` when it was, or when there is none. */
  readonly fault: StateFault | undefined;
}

/**
 * `corrupt`: the file was read and is not what this version writes; it was put aside, for a look at it.
 * `unread`: it could not be read, and may be good: it is left alone, and to be read again.
 */
export type StateFault =
  | { readonly kind: 'corrupt'; readonly reason: string }
  | { readonly kind: 'unread'; readonly reason: string };

/** state.json: the latch on disk. It is replaced whole, so that a reader and a crash see the old or the new one. */
export class StateFile {
  readonly path: string;

  constructor(stateDir: string) {
    this.path = join(stateDir, 'state.json');
  }

  /** Where a state.json that cannot be understood is put. There is room for the last one. */
  get corruptPath(): string {
    return `${this.path}.corrupt`;
  }

  /**
   * Reads the state. Never throws: a file that cannot be read or understood proves nothing, so the bootstrap counts as void,
   * and why is in the state. To end because of it would take the speaker, its status and its reason away.
   */
  load(now: string): LoadedState {
    let text: string;
    try {
      text = readRegularFile(this.path, MAX_STATE_SIZE).toString();
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return { state: noBootstrap, fault: undefined };
      if (codeOf(error) === 'EISDIR') return this.#corrupt('it is a folder', now);
      return this.#faulty('unread', `state.json cannot be read: ${messageOf(error)}`, now);
    }
    try {
      const { version: _, ...state } = bootstrapStateFile.parse(JSON.parse(text));
      return { state, fault: undefined };
    } catch (error) {
      const reason =
        error instanceof SyntaxError ? error.message : 'it is not a state that this version writes';
      return this.#corrupt(reason, now);
    }
  }

  #corrupt(reason: string, now: string): LoadedState {
    try {
      rmSync(this.corruptPath, { recursive: true, force: true });
      renameSync(this.path, this.corruptPath);
    } catch (error) {
      return this.#faulty(
        'corrupt',
        `state.json is not believed (${reason}) and cannot be put aside: ${messageOf(error)}`,
        now,
      );
    }
    return this.#faulty(
      'corrupt',
      `state.json is not believed (${reason}); it is kept as ${this.corruptPath}`,
      now,
    );
  }

  #faulty(kind: StateFault['kind'], reason: string, now: string): LoadedState {
    return { state: { ...noBootstrap, void: { reason, since: now } }, fault: { kind, reason } };
  }

  /**
   * Writes the state and returns when it is on disk.
   * @throws Error when the disk does not take it
   */
  save(state: BootstrapState): void {
    replaceFile(this.path, `${JSON.stringify({ version: 1, ...state }, null, 2)}\n`);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
