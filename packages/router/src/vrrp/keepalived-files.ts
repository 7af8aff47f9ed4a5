import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { MAX_STATE_SIZE, readRegularFile } from '@bgp-lb/daemon';
import { startProgram } from '@bgp-lb/linux';
import type { KeepalivedPaths } from './keepalived-paths.ts';

/** Longer than keepalived takes to read its file on a busy machine (ms). */
const CHECK_LIMIT = 20_000;

/** Octets of each number that is tracked: those of `-10`. */
const TRACKED_WIDTH = 3;

/** What keepalived tracks. */
export interface TrackedValues {
  readonly gaveUp: boolean;
  readonly unfit: boolean;
  /** Added to the priority. */
  readonly offset: number;
}

/** The files that keepalived starts with, and those that it tracks. */
export class KeepalivedFiles {
  readonly #paths: KeepalivedPaths;
  readonly #program: string;

  /** @param program `keepalived`, by name or path */
  constructor(paths: KeepalivedPaths, program: string) {
    this.#paths = paths;
    this.#program = program;
  }

  /** The configuration as it is on disk. */
  get config(): string | undefined {
    return readText(this.#paths.configFile);
  }

  /**
   * Puts the configuration in place when keepalived takes it without a word: what was there before stays otherwise. A warning counts,
   * since a peer that is left out makes two owners.
   * @throws Error with keepalived's words
   */
  async write(config: string): Promise<void> {
    const { configFile } = this.#paths;
    this.#makeFolder();
    const next = `${configFile}.new`;
    writeFileSync(next, config);
    chmodSync(next, 0o640);
    await this.#check(next);
    // Before the file is there: a router that ends in between reloads once too often, not once too little.
    writeFileSync(this.#paths.reloadDueFile, '');
    renameSync(next, configFile);
  }

  /** A configuration was written, by this or an earlier life of the router, and keepalived was not told of it. */
  get isReloadDue(): boolean {
    return existsSync(this.#paths.reloadDueFile);
  }

  /** keepalived has the configuration that is there, or will read it when it starts. */
  setReloaded(): void {
    rmSync(this.#paths.reloadDueFile, { force: true });
  }

  /** Takes a configuration away that keepalived must not start with. */
  removeConfig(): void {
    rmSync(this.#paths.configFile, { force: true });
  }

  /** In place, not by another file: keepalived watches these. */
  track({ gaveUp, unfit, offset }: TrackedValues): void {
    this.#makeFolder();
    const { faultFile, unfitFile, offsetFile } = this.#paths;
    put(faultFile, gaveUp ? '1' : '0');
    put(unfitFile, unfit ? '1' : '0');
    put(offsetFile, String(offset));
  }

  /** Says that the router lives. */
  touch(): void {
    const now = new Date();
    try {
      utimesSync(this.#paths.aliveFile, now, now);
    } catch {
      this.#makeFolder();
      writeFileSync(this.#paths.aliveFile, '');
    }
  }

  #makeFolder(): void {
    mkdirSync(dirname(this.#paths.configFile), { recursive: true, mode: 0o750 });
  }

  async #check(file: string): Promise<void> {
    const environment = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
    const child = await startProgram(
      this.#program,
      // Not the files of the one that runs.
      ['-t', '-l', '-f', file],
      environment,
      undefined,
    ).catch((error: unknown) => {
      const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      throw isAbsent
        ? new Error(`${this.#program} is not installed: on Debian, apt-get install keepalived`)
        : error;
    });
    const timer = setTimeout(() => child.kill(), CHECK_LIMIT);
    const [{ code }, output, errors] = await Promise.all([
      child.ended,
      text(child.output),
      text(child.errors),
    ]);
    clearTimeout(timer);
    const said = `${errors}\n${output}`.trim();
    if (code === 0 && said === '') return;
    rmSync(file, { force: true });
    const [first = ''] = said.split('\n');
    const words =
      first === '' ? `keepalived -t ended with ${code}` : first.replaceAll(file, this.#paths.configFile);
    throw new Error(`keepalived refuses its configuration: ${words.slice(0, 300)}`);
  }
}

/**
 * Over what is there, which is never shorter: keepalived takes an empty file for 0, and a full disk, which cannot take a new block, takes the
 * octets of an old one.
 */
function put(path: string, value: string): void {
  const line = `${value.padStart(TRACKED_WIDTH)}\n`;
  if (readText(path)?.startsWith(line) === true) return;
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o640);
  try {
    writeSync(fd, line, 0);
  } finally {
    closeSync(fd);
  }
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_STATE_SIZE).toString();
  } catch {
    return undefined;
  }
}
