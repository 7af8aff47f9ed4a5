import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

/** A CA, and serving certificates that differ in what a check looks at. */
export interface Certificates {
  readonly ca: string;
  readonly good: KeyPair;
  /** Of the same CA, for another name. */
  readonly otherName: KeyPair;
  /** For the right name, of a CA of its own. */
  readonly otherCa: KeyPair;
}

/** Made by openssl(1), with keys that are cheap to use. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  const make = (file: string, names: string, authority: string | undefined): KeyPair => {
    const isAuthority = authority === undefined;
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '10'],
        ...['-subj', `/CN=${file}`, '-keyout', `${file}.key`, '-out', `${file}.crt`],
        ...[
          '-addext',
          `subjectAltName=${names}`,
          '-addext',
          `basicConstraints=critical,CA:${isAuthority ? 'TRUE' : 'FALSE'}`,
        ],
        ...(isAuthority ? [] : ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`]),
      ],
      { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const read = (ending: string): string => readFileSync(join(folder, `${file}.${ending}`), 'utf8');
    return { key: read('key'), cert: read('crt') };
  };
  try {
    const ca = make('ca', 'DNS:ca', undefined);
    make('other-ca', 'DNS:ca', undefined);
    return {
      ca: ca.cert,
      good: make('good', 'DNS:kubernetes', 'ca'),
      otherName: make('other-name', 'DNS:another', 'ca'),
      otherCa: make('foreign', 'DNS:kubernetes', 'other-ca'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
