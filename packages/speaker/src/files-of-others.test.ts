import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { speakerCommandLine } from './cli.ts';
import { ClientCertificateReader } from './health/client-certificate.ts';
import { placeFile } from './host-files.ts';
import { keepManifest, restoreManifest } from './kept-manifest.ts';
import { MAX_TEXT_SIZE, readTextFile } from './read-text-file.ts';
import { TestCa } from './testing/certificates.ts';
import { CloudInitRun } from './testing/cloud-init-run.ts';

let run: CloudInitRun;
let certificate: string;
beforeEach(() => {
  run = new CloudInitRun(`
apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: join
asn: 64512
vips: [{ address: 10.100.0.1 }]
routers: [{ address: 10.9.0.1, asn: 64512 }]
`);
  new TestCa(run.folder);
  certificate = join(run.folder, 'ca.crt');
});
afterEach(() => run.remove());

/** What may be where a file is expected, and what is said of it. Reading any of them as it comes would not end, or fill the memory. */
const troubles: readonly (readonly [what: string, make: (path: string) => void, said: string])[] = [
  ['a pipe without a writer', (path) => execFileSync('mkfifo', [path]), 'it is neither a file nor a link'],
  ['a folder', (path) => mkdirSync(path), 'it is a folder'],
  ['a device without end', (path) => execFileSync('ln', ['-s', '/dev/zero', path]), 'it is neither a file'],
  [
    'a file that is too long',
    (path) => writeFileSync(path, Buffer.alloc(MAX_TEXT_SIZE + 1, 'a')),
    `it has more than ${MAX_TEXT_SIZE} octets`,
  ],
];

describe.each(troubles)('%s in place of a file', (_, make, said) => {
  let path: string;
  beforeEach(() => {
    path = join(run.folder, 'trouble');
    make(path);
  });

  it('is named, with the file', () => {
    expect(() => readTextFile(path)).toThrow(`${path} cannot be read: ${said}`);
  });

  it.each([
    ['--ca-cert', 'join', () => ['--ca-cert', path]],
    ['--ca-cert', 'lb', () => lb(['--ca-cert', path])],
    ['--ca-key', 'init', () => ['--ca-cert', certificate, '--ca-key', path]],
    ['--router-config', 'lb', () => lb([], path)],
    ['--kubeadm-config', 'init', () => ['--ca-cert', certificate, '--kubeadm-config', path]],
  ])('is no %s of a machine %s', async (option, machine, options) => {
    const refusal = run.print(machine, ...options());
    await expect(refusal).rejects.toThrow('exit code 2');
    await expect(refusal).rejects.toThrow(`${option} ${path} cannot be read: ${said}`);
  });

  it('is no ca.crt by which wait checks servers', async () => {
    writeFileSync(
      join(run.folder, 'speaker.yaml'),
      `
apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: join
asn: 64512
vips: [{ address: 10.100.0.1 }]
routers: [{ address: 10.9.0.1, asn: 64512 }]
apiServer: { caFile: ${path} }
bootstrap: { stateDir: ${run.folder}/state }
`,
    );
    let written = '';
    const stream = { write: (text: string) => (written += text) };
    const args = ['wait', '--timeout', '1s', '--config', join(run.folder, 'speaker.yaml')];
    expect(await speakerCommandLine('', args, { stdout: stream, stderr: stream })).toBe(1);
    expect(written).toContain(`${path} cannot be read: ${said}`);
  });

  it('is no client certificate', () => {
    const told: string[] = [];
    const reader = new ClientCertificateReader({ certFile: path, keyFile: path }, (text) => told.push(text));
    expect(reader.read()).toBeUndefined();
    expect(told).toEqual([expect.stringContaining(said)]);
  });

  it('is no manifest to be put back, nor one to be compared with', () => {
    const stateDir = join(run.folder, 'kept');
    keepManifest(stateDir, 'a pod\n');
    execFileSync('rm', [join(stateDir, 'manifest.yaml')]);
    make(join(stateDir, 'manifest.yaml'));
    const manifest = join(run.folder, 'kubelet/pod.yaml');
    expect(() => restoreManifest(stateDir, manifest)).toThrow(said);
    expect(existsSync(manifest)).toBe(false);
    expect(() => placeFile(path, 'a pod\n')).toThrow(said);
  });
});

/** Arguments of a load balancer. */
function lb(more: readonly string[], routerConfig?: string): readonly string[] {
  const config = routerConfig ?? run.file('router.yaml', 'apiVersion: bgp-lb.dev/v1alpha1\nkind: Router\n');
  const program = ['--program', '/opt/program.tar.gz', '--program-sha256', '0'.repeat(64)];
  return ['--router-config', config, ...program, ...more];
}
