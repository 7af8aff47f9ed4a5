import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tokenAccess } from './api-access.ts';
import { openKubeconfig } from './open-kubeconfig.ts';
import { servingCertificate } from './testing/serving-certificate.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-kubeconfig-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function kubeconfig(user: string, cluster = ''): string {
  return file(
    'kubeconfig',
    `
current-context: a
contexts: [{ name: a, context: { cluster: a, user: a } }]
clusters: [{ name: a, cluster: { server: "https://10.0.0.1:6443", certificate-authority: ca.crt${cluster} } }]
users: [{ name: b, user: { token: wrong } }, { name: a, user: ${user} }]
`,
  );
}

describe('a kubeconfig', () => {
  it('gives server, CA beside it, and a token, also from a file that is read each time', async () => {
    file('ca.crt', 'the CA');
    file('token', 'first\n');
    const path = kubeconfig('{ tokenFile: token }', ', tls-server-name: kubernetes');
    const access = await openKubeconfig(path);
    expect(access.servers).toEqual([{ url: 'https://10.0.0.1:6443', serverName: 'kubernetes' }]);
    expect(String(access.tls.ca)).toBe('the CA');
    expect(access.headers).toEqual({ authorization: 'Bearer first' });
    file('token', 'second');
    expect((await openKubeconfig(path)).headers).toEqual({ authorization: 'Bearer second' });
    kubeconfig('{ token: third }');
    expect((await openKubeconfig(path)).headers).toEqual({ authorization: 'Bearer third' });
  });

  it('gives a client certificate, and when it ends', async () => {
    file('ca.crt', 'the CA');
    const { key, cert } = servingCertificate('DNS:x');
    const data = (text: string): string => Buffer.from(text).toString('base64');
    const user = `{ client-certificate-data: ${data(cert)}, client-key-data: ${data(key)} }`;
    const { credential, headers, tls } = await openKubeconfig(kubeconfig(user));
    expect(credential.kind).toBe('certificate');
    expect(credential.expiresAt).toBeGreaterThan(Date.now() / 1_000);
    expect([headers, String(tls.cert), String(tls.key)]).toEqual([{}, cert, key]);
  });

  it('that cannot be used is an error that names the file', async () => {
    await expect(openKubeconfig(join(folder, 'absent'))).rejects.toThrow(/absent cannot be read.*ENOENT/);
    await expect(openKubeconfig(file('kubeconfig', '{}'))).rejects.toThrow(
      /kubeconfig has no current context/,
    );
    await expect(openKubeconfig(file('kubeconfig', ''))).rejects.toThrow(/kubeconfig is no kubeconfig/);
    await expect(
      openKubeconfig(file('kubeconfig', 'a: [')).catch((error: Error) => error.message),
    ).resolves.toMatch(/kubeconfig is no kubeconfig/);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(openKubeconfig(join(folder, 'pipe'))).rejects.toThrow(/pipe cannot be read/);
    await expect(openKubeconfig(file('kubeconfig', '#'.repeat(2 << 20)))).rejects.toThrow(
      /more than 1048576/,
    );
  });
});

describe('a token in a file', () => {
  it('is an error that never shows it when it is none', () => {
    const paths = { servers: [], caFile: file('ca.crt', 'x'), tokenFile: join(folder, 'token') };
    expect(() => tokenAccess(paths)).toThrow(/token cannot be read/);
    for (const text of ['', ' \n', 'sec\nret', 'sec\u0000ret', 'x'.repeat(20_000)]) {
      file('token', text);
      expect(() => tokenAccess(paths)).toThrow(/token (is empty|has characters|cannot be read)/);
      expect(() => tokenAccess(paths)).not.toThrow(/sec/);
    }
  });
});

describe('the Kubernetes client', () => {
  it('is a file of its own, which the daemons import only when they read a kubeconfig', () => {
    const bundle = (name: string): string =>
      readFileSync(new URL(`../../../dist/${name}.mjs`, import.meta.url), 'utf8');
    // A class of @kubernetes/client-node. The files are too long to be printed by a matcher that fails.
    const client = 'KubeConfig';
    expect(bundle('bgp-lb-kubernetes').includes(client)).toBe(true);
    for (const name of ['bgp-lb-router', 'bgp-lb-speaker']) expect(bundle(name).includes(client)).toBe(false);
    const main = bundle('bgp-lb-speaker');
    expect(main.match(/.{10}bgp-lb-kubernetes\.mjs/g)).toEqual(['import("./bgp-lb-kubernetes.mjs']);
  });
});
