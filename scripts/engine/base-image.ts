/**
 * The base image of this project's containers where no image registry is at hand: Debian as mmdebstrap(1) makes it, with
 * Node.js and npm as npm packages. It is kept as an archive, since making it takes a minute and it changes rarely.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '../lab/run-command.ts';
import type { ContainerEngine } from './container-engine.ts';

/** The name of the image in the engine. */
export const baseImage = 'bgp-lb/base:bookworm';

const suite = 'bookworm';
const npmVersion = '11.19.1';
/** What the Dockerfiles install is in the base already: installing it once costs less than in one image after the other. */
const packages = ['ca-certificates', 'frr', 'haproxy', 'iproute2', 'keepalived', 'nftables', 'openssl'];
/** After this time the archive is made again, for Debian's security updates. */
const maxAgeDays = 14;
const timeoutMs = 20 * 60_000;

/** Imports the base image into an engine; makes it where no recent archive is at hand. */
export async function importBaseImage(engine: ContainerEngine, say: (text: string) => void): Promise<void> {
  const sources = await machineSources();
  const archive = archiveFile(sources);
  if (!isRecent(archive)) {
    say(`making the base image ${archive}`);
    await makeArchive(archive, sources);
  }
  await engine.run(['docker', 'import', '--change', 'CMD ["sh"]', archive, baseImage], { timeoutMs });
}

/**
 * The mirrors that apt uses on this machine for the same suite, security updates included, as lines of sources.list(5); none on a
 * machine of another release, where mmdebstrap takes those that it knows.
 */
async function machineSources(): Promise<readonly string[]> {
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)';
  const argv = ['apt-get', 'indextargets', '--format', format, 'Created-By: Packages'];
  const targets = (await runCommand(argv)).split('\n').map((line) => line.split(' '));
  return targets.flatMap(([uri, release, component, origin]) =>
    origin === 'Debian' && component === 'main' && release?.split('-')[0] === suite
      ? [`deb ${uri} ${release} main`]
      : [],
  );
}

/** Where the archive is kept: another one for each Debian suite, its mirrors, set of packages, Node.js, npm and kind of processor. */
function archiveFile(sources: readonly string[]): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const content = JSON.stringify([suite, sources, packages, process.version, npmVersion, process.arch]);
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return join(cache, 'bgp-lb', `base-${suite}-${hash}.tar`);
}

function isRecent(file: string): boolean {
  return existsSync(file) && Date.now() - statSync(file).mtimeMs < maxAgeDays * 86_400_000;
}

async function makeArchive(archive: string, sources: readonly string[]): Promise<void> {
  const folder = mkdtempSync(`${tmpdir()}/bgp-lb-base-`);
  try {
    const local = `${folder}/local`;
    mkdirSync(`${local}/bin`, { recursive: true });
    copyFileSync(process.execPath, `${local}/bin/node`);
    await runCommand(
      ['npm', 'install', '--global', '--prefix', local, '--no-fund', '--no-audit', `npm@${npmVersion}`],
      { timeoutMs },
    );
    const file = `${folder}/base.tar`;
    await runCommand(
      [
        'mmdebstrap',
        ...['--quiet', '--mode=root', '--variant=apt', `--include=${packages.join(',')}`],
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=Acquire::Retries "3"',
        `--customize-hook=copy-in ${local}/bin ${local}/lib /usr/local`,
        '--customize-hook=rm -rf "$1"/usr/share/doc/* "$1"/usr/share/man/* "$1"/usr/share/locale/*',
        ...[suite, file, ...sources],
      ],
      { timeoutMs },
    );
    mkdirSync(join(archive, '..'), { recursive: true });
    // By copy and rename: the cache may be on another file system, and another run may be reading.
    const temporary = `${archive}.${process.pid}`;
    copyFileSync(file, temporary);
    renameSync(temporary, archive);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
