import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { speakerCommandLine } from '../cli.ts';

/** What cloud-init would do with user-data, read back from its text. */
export interface ReadUserData {
  readonly write_files: readonly {
    readonly path: string;
    readonly content: string;
    readonly permissions: string;
    readonly owner: string;
  }[];
  readonly runcmd: readonly (readonly string[])[];
}

/** Runs `cloud-init` with files of a test in a folder of its own. */
export class CloudInitRun {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'bgp-lb-cloud-init-'));

  constructor(speakerConfig: string) {
    this.file('speaker.yaml', speakerConfig);
    this.file('password', 'secret\n');
    this.file('token', 'abcdef.0123456789abcdef\n');
    this.file('key', `${'0123456789abcdef'.repeat(4)}\n`);
  }

  /** Writes a file. @returns its path */
  file(name: string, content: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  /** The user-data of a machine; throws with what the command said when it is refused. */
  async print(machine: string, ...options: readonly string[]): Promise<string> {
    const path = (name: string): string => join(this.folder, name);
    const given = [
      ...['--config', path('speaker.yaml'), '--bgp-password-file', path('password')],
      ...['--token-file', path('token'), '--certificate-key-file', path('key')],
    ];
    const written: string[] = [];
    const said: string[] = [];
    const code = await speakerCommandLine('', ['cloud-init', machine, ...given, ...options], {
      stdout: { write: (text: string) => written.push(text) },
      stderr: { write: (text: string) => said.push(text) },
    });
    if (code !== 0) throw new Error(`exit code ${code}: ${said.join('')}`);
    return written.join('');
  }

  /** The same, read back. */
  async read(machine: string, ...options: readonly string[]): Promise<ReadUserData> {
    // The text is ours: its shape is what cloudConfig writes, and cloud-init's own schema is asked in a test.
    return parse(await this.print(machine, ...options)) as ReadUserData;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The content of a file of user-data. Throws when it is not there. */
export function contentOf({ write_files }: ReadUserData, path: string): string {
  const found = write_files.find((file) => file.path === path);
  if (found === undefined) throw new Error(`${path} is not in the user-data`);
  return found.content;
}
