import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A CA as kubeadm makes one, in files of a folder. */
export class TestCa {
  readonly folder: string;
  readonly #name: string;

  constructor(folder: string = mkdtempSync(join(tmpdir(), 'bgp-lb-ca-')), name = 'kubernetes') {
    this.folder = folder;
    this.#name = name;
    const subject = [
      '-subj',
      `/CN=${name}`,
      '-days',
      '10',
      '-keyout',
      this.path('ca.key'),
      '-out',
      this.path('ca.crt'),
    ];
    openssl('req', '-x509', ...newKey, ...subject);
  }

  path(file: string): string {
    return join(this.folder, file);
  }

  get certificate(): string {
    return readFileSync(this.path('ca.crt'), 'utf8');
  }

  /** A serving certificate with these subjectAltName entries (`DNS:kubernetes`, `IP:10.0.0.1`): paths of key and certificate. */
  serving(names: readonly string[]): { readonly key: string; readonly cert: string } {
    const [key, request, cert, extensions] = ['serving.key', 'serving.csr', 'serving.crt', 'serving.ext'].map(
      (file) => this.path(file),
    );
    if (key === undefined || request === undefined || cert === undefined || extensions === undefined)
      throw new Error('no path');
    writeFileSync(extensions, `subjectAltName=${names.join(',')}\n`);
    openssl('req', ...newKey, '-subj', `/CN=${this.#name}-apiserver`, '-keyout', key, '-out', request);
    const signer = [
      '-CA',
      this.path('ca.crt'),
      '-CAkey',
      this.path('ca.key'),
      '-CAcreateserial',
      '-days',
      '10',
    ];
    openssl('x509', '-req', '-in', request, ...signer, '-extfile', extensions, '-out', cert);
    return { key, cert };
  }
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'ignore' });
}
