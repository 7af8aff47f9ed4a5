/**
 * A container engine for this machine that the machine does not notice: Debian's dockerd in PID, mount and network
 * namespaces of its own, made and removed by inside.sh. It never speaks to another engine, and it ends with its owner.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isProcessAlive, type ProcessIdentity, processIdentity } from '../lab/process-identity.ts';
import { type CommandOptions, runCommand } from '../lab/run-command.ts';
import { waitUntil } from '../lab/wait-until.ts';

const insideScript = new URL('./inside.sh', import.meta.url).pathname;
const folderPrefix = 'bgp-lb-engine-';
/** Milliseconds; two busy cores need much of it, and so does the removal of images. */
const startLimit = 120_000;
const stopLimit = 240_000;

/** What `start` leaves for `stop`: process 1 of the engine's namespaces, as this machine numbers it. */
interface EngineRecord {
  readonly init: ProcessIdentity;
  readonly isKept: boolean;
}

/** A running engine. */
export class ContainerEngine {
  /** Its files: socket, logs, images. */
  readonly folder: string;
  readonly #init: ProcessIdentity;

  private constructor(folder: string, init: ProcessIdentity) {
    this.folder = folder;
    this.#init = init;
  }

  /**
   * Starts an engine. It ends when this process does, whatever the reason; with `isKept` it stays until `stop`.
   * @throws Error with what dockerd or slirp4netns said when it does not start
   */
  static async start(options: { readonly isKept?: boolean } = {}): Promise<ContainerEngine> {
    const isKept = options.isKept ?? false;
    const id = randomBytes(4).toString('hex');
    const folder = mkdtempSync(`${tmpdir()}/${folderPrefix}`);
    mkdirSync(`${folder}/client`);
    const plugins = pluginFolder();
    if (plugins !== undefined) symlinkSync(plugins, `${folder}/client/cli-plugins`);
    mkdirSync(`${folder}/bin`);
    // Debian's client has BuildKit in it; another `docker` that is earlier in PATH may be one that needs a plugin.
    if (existsSync('/usr/bin/docker')) symlinkSync('/usr/bin/docker', `${folder}/bin/docker`);
    const stdin = isKept ? await endlessInput(folder) : 'pipe';
    const child = spawn(
      'unshare',
      ['--mount', '--pid', '--fork', '--mount-proc', 'sh', insideScript, folder, id],
      // In a process group of its own: Ctrl-C at the terminal is for the owner, whose end is the engine's.
      { detached: true, stdio: [stdin, 'pipe', 'pipe'] },
    );
    await isReady(child);
    const init = onlyChildOf(child.pid);
    const record: EngineRecord = { init, isKept };
    writeFileSync(`${folder}/engine.json`, JSON.stringify(record));
    for (const stream of [child.stdin, child.stdout, child.stderr]) {
      if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
    }
    child.unref();
    return new ContainerEngine(folder, init);
  }

  /** The engines that were started with `isKept` and run. */
  static kept(): ContainerEngine[] {
    return readdirSync(tmpdir())
      .filter((name) => name.startsWith(folderPrefix))
      .flatMap((name) => {
        const folder = `${tmpdir()}/${name}`;
        const record = readRecord(folder);
        if (record === undefined || !record.isKept || !isProcessAlive(record.init)) return [];
        return [new ContainerEngine(folder, record.init)];
      });
  }

  /** The address of its API, as DOCKER_HOST takes it. */
  get host(): string {
    return `unix://${this.folder}/docker.sock`;
  }

  /** What the programs `docker` and `docker-compose` need to use this engine: the user's plugins, and no context or login. */
  get environment(): Readonly<Record<string, string>> {
    return {
      PATH: `${this.folder}/bin:${process.env['PATH']}`,
      DOCKER_HOST: this.host,
      DOCKER_CONFIG: `${this.folder}/client`,
      // Both are defaults from Docker 23 and Compose 2 on.
      DOCKER_BUILDKIT: '1',
      COMPOSE_DOCKER_CLI_BUILD: '1',
    };
  }

  /** Runs a program that uses this engine; resolves with its output, rejects with a CommandError. */
  run(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
    return runCommand(argv, { ...options, env: { ...process.env, ...this.environment, ...options.env } });
  }

  /** Ends the engine with all its containers, and removes its images and files. */
  async stop(): Promise<void> {
    if (isProcessAlive(this.#init)) process.kill(this.#init.pid, 'SIGTERM');
    await waitUntil(() => !isProcessAlive(this.#init), {
      what: `end of the engine in ${this.folder}`,
      timeoutMs: stopLimit,
    });
  }
}

/** The user's plugins of `docker`, which are programs as those on PATH: Compose 2 is one. */
function pluginFolder(): string | undefined {
  const folder = `${process.env['DOCKER_CONFIG'] ?? `${homedir()}/.docker`}/cli-plugins`;
  return existsSync(folder) ? folder : undefined;
}

/** The reading end of a pipe that never ends, since the reader itself holds the other end as well. */
async function endlessInput(folder: string): Promise<number> {
  await runCommand(['mkfifo', `${folder}/lifeline`]);
  return openSync(`${folder}/lifeline`, 'r+');
}

function isReady(child: ChildProcess): Promise<void> {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.stdin?.destroy();
      reject(new Error(`the engine is not ready after ${startLimit} ms\n${stderr}`));
    }, startLimit);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the engine ended while it started, with status ${code}\n${stderr}`));
    });
    child.stdout?.once('data', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** unshare(1) itself ignores SIGTERM: it is the process it forked that is told. */
function onlyChildOf(pid: number | undefined): ProcessIdentity {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  const identity = processIdentity(Number(child));
  if (identity === undefined) throw new Error('the engine ended while it started');
  return identity;
}

function readRecord(folder: string): EngineRecord | undefined {
  try {
    return JSON.parse(readFileSync(`${folder}/engine.json`, 'utf8')) as EngineRecord;
  } catch {
    return undefined; // being started, or being removed
  }
}
