import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type BootstrapState, bootstrapStateFile, noBootstrap } from './bootstrap-state.ts';

/** What state.json held at start. */
export interface LoadedState {
  readonly state: BootstrapState;
  /** Where an unreadable state.json was put, and why it was not believed. */
  readonly corrupt: { readonly keptAs: string; readonly reason: string } | undefined;
}

/** state.json: the latch on disk. It is replaced whole, so that a reader and a crash see the old or the new one. */
export class StateFile {
  readonly path: string;

  constructor(stateDir: string) {
    this.path = join(stateDir, 'state.json');
  }

  /**
   * Reads the state. A file that cannot be understood proves nothing: it is kept aside for whoever wants to look, and the
   * bootstrap counts as void.
   * @throws Error when the file is there but cannot be read or moved
   */
  load(now: string): LoadedState {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch (error) {
      if (isNotFound(error)) return { state: noBootstrap, corrupt: undefined };
      throw error;
    }
    try {
      const { version: _, ...state } = bootstrapStateFile.parse(JSON.parse(text));
      return { state, corrupt: undefined };
    } catch (error) {
      const keptAs = `${this.path}.corrupt`;
      renameSync(this.path, keptAs);
      const reason =
        error instanceof SyntaxError ? error.message : 'it is not a state that this version writes';
      const state = {
        ...noBootstrap,
        void: { reason: `state.json was unreadable and is kept as ${keptAs}`, since: now },
      };
      this.save(state);
      return { state, corrupt: { keptAs, reason } };
    }
  }

  /**
   * Writes the state and returns when it is on disk: new file, fsync, rename, fsync of the folder.
   * @throws Error when the disk does not take it
   */
  save(state: BootstrapState): void {
    const folder = dirname(this.path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const next = `${this.path}.new`;
    const file = openSync(next, 'w', 0o600);
    try {
      writeSync(file, `${JSON.stringify({ version: 1, ...state }, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(next, this.path);
    const directory = openSync(folder, 'r');
    try {
      fsyncSync(directory);
    } finally {
      closeSync(directory);
    }
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
