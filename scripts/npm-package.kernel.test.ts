import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  asn,
  ipv4Unicast,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
} from '@bgp-lb/protocol';
import { BgpSpeaker } from '@bgp-lb/protocol/node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packPackage } from './npm-package.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
/** A bound for what compiles, in milliseconds. */
const COMPILING = 180_000;
/** A folder of another project, with the package installed. */
let folder: string;
let installed: string;
let child: ChildProcess | undefined;
let neighbor: BgpSpeaker | undefined;

function run(file: string, ...args: readonly string[]): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  return execFileSync(file, args, { cwd: folder, env, encoding: 'utf8' });
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgplb-npm-'));
  const tarball = packPackage('protocol', join(folder, 'packed'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}\n');
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', tarball);
  installed = join(folder, 'node_modules/@bgp-lb/protocol');
}, COMPILING);

afterAll(async () => {
  child?.kill('SIGKILL');
  await neighbor?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('has compiled files, examples and papers, and nothing of our tests', () => {
  const files = globSync('**/*.*', { cwd: installed }).toSorted();
  const others = files.filter((file) => !/^lib\/.*\.(js|d\.ts)$/.test(file));
  expect(others).toEqual(['README.md', 'examples/listener.ts', 'examples/speaker.ts', 'package.json']);
  expect(globSync('LICENSE', { cwd: installed })).toHaveLength(1);
  expect(files.filter((file) => /\.test\.|kit\/|testing/.test(file))).toEqual([]);
  for (const file of files.filter((name) => name.startsWith('lib/'))) {
    expect(readFileSync(join(installed, file), 'utf8'), file).not.toMatch(
      /(from|import\() ?['"][^'"]*\.ts['"]/,
    );
  }
});

it('says what it needs, and depends on nothing', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: '@bgp-lb/protocol', type: 'module', engines: { node: '>=22.19' } });
  expect(Object.keys(manifest.exports)).toEqual(['.', './node']);
  for (const field of ['private', 'scripts', 'dependencies', 'peerDependencies']) {
    expect(manifest).not.toHaveProperty(field);
  }
});

it('has declarations that a strict compiler takes', { timeout: COMPILING }, () => {
  cpSync(join(installed, 'examples'), folder, { recursive: true });
  symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
  const options = ['--strict', '--noEmit', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  expect(run(process.execPath, tsc, ...options, 'listener.ts', 'speaker.ts')).toBe('');
});

it('has the sockets of @bgp-lb/linux beside it, for MD5 and GTSM', { timeout: COMPILING }, () => {
  // Unpacked, not installed: its one dependency is native, and what the registry has of it is not to be asked for here.
  const linux = join(folder, 'node_modules/@bgp-lb/linux');
  mkdirSync(linux);
  run('tar', '-xzf', packPackage('linux', join(folder, 'packed')), '-C', linux, '--strip-components=1');
  symlinkSync(join(root, 'node_modules/koffi'), join(folder, 'node_modules/koffi'));
  const program = `
    import { BgpSpeaker } from '@bgp-lb/protocol/node';
    import { asn, parseRouterId } from '@bgp-lb/protocol';
    import { linuxSockets } from '@bgp-lb/linux';
    const speaker = new BgpSpeaker({ asn: asn(1), routerId: parseRouterId('1.1.1.1'), sockets: linuxSockets });
    await speaker.listen({ address: '127.0.0.1', port: 0 });
    console.log(speaker.listeners.length);
    await speaker.close();`;
  expect(run(process.execPath, '--input-type=module', '--eval', program)).toBe('1\n');
});

it('is a BGP listener in twenty lines, in a folder that knows nothing of this repository', async () => {
  cpSync(join(installed, 'examples'), folder, { recursive: true });
  child = spawn(process.execPath, ['listener.ts', '127.0.0.0/8', '127.0.0.1', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const printed = (pattern: RegExp): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(output);
        if (match !== null) resolve(match[1]);
      };
      child?.stdout?.on('data', look);
      child?.once('exit', (code) => reject(new Error(`the listener ended with ${code}: ${output}`)));
      look();
    });
  const port = await printed(/^listening on port (\d+)$/m);
  neighbor = new BgpSpeaker({ asn: asn(65020), routerId: parseRouterId('192.0.2.20') });
  const peer = neighbor.addPeer({
    name: 'listener',
    address: '127.0.0.1',
    port: Number(port),
    remoteAsn: [asn(65010)],
    socket: { localAddress: '127.0.0.2' },
  });
  const attributes = pathAttributes({
    origin: 0,
    asPath: [{ type: 2, asns: [asn(65020)] }],
    nextHop: parseIpAddress('192.0.2.20'),
  });
  peer.setRoutes(ipv4Unicast, [{ prefix: parsePrefix('203.0.113.0/24'), attributes }]);
  await printed(/^127\.0\.0\.2 announces 203\.0\.113\.0\/24$/m);
  peer.setRoutes(ipv4Unicast, []);
  await printed(/^127\.0\.0\.2 withdraws 203\.0\.113\.0\/24$/m);
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
});
