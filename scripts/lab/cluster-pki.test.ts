import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createAuthority,
  issueAdminCertificate,
  issueServingCertificate,
  publicKeyHash,
  readPem,
} from './cluster-pki.ts';
import { runCommand } from './run-command.ts';

describe('certificates in the shape of kubeadm', () => {
  let folder: string;
  const certificate = (name: string): X509Certificate =>
    new X509Certificate(readFileSync(`${folder}/${name}`));

  beforeAll(async () => {
    folder = mkdtempSync(`${tmpdir()}/bgplb-pki-`);
    await createAuthority(folder);
    await issueServingCertificate(folder, {
      nodeName: 'm1',
      nodeAddress: '10.0.0.11',
      serviceAddress: '10.96.0.1',
      endpointAddress: '10.100.0.1',
    });
    await issueAdminCertificate(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('names the Service, the node and the endpoint in the serving certificate, and nothing else', () => {
    expect(certificate('apiserver.crt').subjectAltName?.split(', ').sort()).toEqual(
      [
        'DNS:kubernetes',
        'DNS:kubernetes.default',
        'DNS:kubernetes.default.svc',
        'DNS:kubernetes.default.svc.cluster.local',
        'DNS:m1',
        'IP Address:10.0.0.11',
        'IP Address:10.100.0.1',
        'IP Address:10.96.0.1',
      ].sort(),
    );
  });

  it('signs serving and client certificates with a CA that is one, and they are none', () => {
    const ca = certificate('ca.crt');
    expect(ca.ca).toBe(true);
    for (const name of ['apiserver.crt', 'admin.crt']) {
      expect(certificate(name).ca).toBe(false);
      expect(certificate(name).verify(ca.publicKey)).toBe(true);
    }
  });

  it('makes the serving certificate for servers and the admin one for clients', () => {
    expect(certificate('apiserver.crt').keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(certificate('admin.crt').keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  it('keeps a CA that is there already, as kubeadm does', async () => {
    const before = readPem(folder, 'ca.crt');
    await createAuthority(folder);
    expect(readPem(folder, 'ca.crt')).toBe(before);
  });

  it('hashes the CA key as the kubeadm documentation does with openssl', async () => {
    const der = `openssl x509 -pubkey -in ${folder}/ca.crt -noout | openssl pkey -pubin -outform der`;
    const digest = await runCommand(['sh', '-c', `${der} | openssl dgst -sha256 -hex`]);
    expect(publicKeyHash(readPem(folder, 'ca.crt'))).toBe(`sha256:${digest.trim().split(' ').at(-1)}`);
  });
});
