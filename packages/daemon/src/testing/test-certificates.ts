import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** A key and a certificate, PEM. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'] as const;

function inFolder<T>(work: (folder: string) => T): T {
  const folder = temporaryFolder();
  try {
    return work(folder.path);
  } finally {
    folder.remove();
  }
}

function openssl(folder: string, args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
}

function read(folder: string, name: string): KeyPair {
  return {
    key: readFileSync(join(folder, `${name}.key`), 'utf8'),
    cert: readFileSync(join(folder, `${name}.crt`), 'utf8'),
  };
}

/** A new certificate authority. */
export function makeAuthority(name: string): KeyPair {
  return inFolder((folder) => {
    const out = ['-keyout', 'ca.key', '-out', 'ca.crt', '-days', '10', '-subj', `/CN=${name}`];
    openssl(folder, ['req', '-x509', ...EC, ...out]);
    return read(folder, 'ca');
  });
}

/** What a certificate is for. */
export interface CertificateRequest {
  /** subjectAltName as openssl writes it: `DNS:kubernetes,IP:10.0.0.1`. */
  readonly altNames: string;
  /** Validity from now; -1 is a certificate that ended yesterday. */
  readonly days?: number;
  /** Makes an intermediate authority. */
  readonly isAuthority?: boolean;
}

/** A certificate that an authority signed. */
export function sign(authority: KeyPair, request: CertificateRequest): KeyPair {
  return inFolder((folder) => {
    writeFileSync(join(folder, 'ca.key'), authority.key);
    writeFileSync(join(folder, 'ca.crt'), authority.cert);
    const constraints = request.isAuthority === true ? 'basicConstraints=critical,CA:TRUE\n' : '';
    writeFileSync(join(folder, 'ext'), `${constraints}subjectAltName=${request.altNames}\n`);
    openssl(folder, ['req', ...EC, '-keyout', 'x.key', '-out', 'x.csr', '-subj', '/CN=kube-apiserver']);
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'ext'];
    openssl(folder, [
      'x509',
      '-req',
      '-in',
      'x.csr',
      ...by,
      '-days',
      String(request.days ?? 10),
      '-out',
      'x.crt',
    ]);
    return read(folder, 'x');
  });
}
