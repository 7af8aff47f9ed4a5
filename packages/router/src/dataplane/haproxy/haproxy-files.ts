import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { readRegularFile } from '@bgp-lb/daemon';
import { startProgram } from '@bgp-lb/linux';
import type { HaproxyPaths } from './haproxy-settings.ts';

/** What HAProxy has on disk. */
export interface HaproxyTexts {
  readonly config: string;
  readonly state: string;
  readonly ca: string | undefined;
}

/** Octets of a file that is compared with what it is to be: more than 64 VIPs with 128 members each. */
const MAX_SIZE = 16 * 1024 * 1024;
/** Longer than HAProxy takes to read 64 VIPs with 128 members each on a busy machine (ms). */
const CHECK_LIMIT = 20_000;

/** The files that HAProxy starts with. Each is replaced as a whole. */
export class HaproxyFiles {
  readonly #paths: HaproxyPaths;
  readonly #program: string;

  /** @param program `haproxy`, by name or path */
  constructor(paths: HaproxyPaths, program: string) {
    this.#paths = paths;
    this.#program = program;
  }

  /**
   * Puts them in place, the configuration last and only when HAProxy takes it: what was there before stays otherwise.
   * @throws Error with HAProxy's words
   */
  async write({ config, state, ca }: HaproxyTexts): Promise<void> {
    const { configFile, caFile } = this.#paths;
    const folder = dirname(configFile);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o750);
    if (ca !== undefined) replace(caFile, ca);
    this.writeState(state);
    if (readText(configFile) === config) return;
    const next = `${configFile}.new`;
    writeReadable(next, config);
    await this.#check(next);
    renameSync(next, configFile);
  }

  writeState(state: string): void {
    replace(this.#paths.stateFile, state);
  }

  /** The configuration as it is on disk. */
  get config(): string | undefined {
    return readText(this.#paths.configFile);
  }

  async #check(file: string): Promise<void> {
    const environment = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
    const child = await startProgram(this.#program, ['-c', '-f', file], environment, undefined).catch(
      (error: unknown) => {
        const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
        throw isAbsent
          ? new Error(`${this.#program} is not installed: on Debian, apt-get install haproxy`)
          : error;
      },
    );
    const timer = setTimeout(() => child.kill(), CHECK_LIMIT);
    const [{ code }, , errors] = await Promise.all([child.ended, text(child.output), text(child.errors)]);
    clearTimeout(timer);
    if (code === 0) return;
    rmSync(file, { force: true });
    const alert =
      errors.split('\n').find((line) => line.includes('[ALERT]')) ?? `haproxy -c ended with ${code}`;
    throw new Error(`HAProxy refuses its configuration: ${alert.slice(0, 300)}`);
  }
}

/** For our group, in which HAProxy runs, whatever the umask of the unit is. */
function writeReadable(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o640);
}

function replace(path: string, text: string): void {
  if (readText(path) === text) return;
  writeReadable(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_SIZE).toString();
  } catch {
    return undefined;
  }
}
