import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate that is its own CA, and its key: PEM. @param names subjectAltName as openssl writes it: `IP:127.0.0.1,DNS:kubernetes` */
export function servingCertificate(names: string): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-certificate-'));
  try {
    const file = (name: string): string => join(folder, name);
    const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '10'];
    const subject = ['-subj', '/CN=kube-apiserver', '-addext', `subjectAltName=${names}`];
    execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', file('key'), '-out', file('cert')], {
      stdio: 'ignore',
    });
    return { key: readFileSync(file('key'), 'utf8'), cert: readFileSync(file('cert'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
