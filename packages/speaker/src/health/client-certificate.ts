import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { ClientCertificate } from '@bgp-lb/daemon';
import { readTextFile } from '../read-text-file.ts';

export interface ClientCertificateFiles {
  /** PEM. */
  readonly certFile: string;
  /** PEM; may be the same file, as the kubelet keeps both in one. */
  readonly keyFile: string;
}

/**
 * The client certificate in two files, which are read again when they change, as the kubelet renews its own. Files that cannot be
 * used are told once and leave the last good pair in use: a credential that is only a help to the probe does not fail it.
 */
export class ClientCertificateReader {
  readonly #files: ClientCertificateFiles;
  readonly #warn: (message: string) => void;
  #seen: string | undefined;
  #current: ClientCertificate | undefined;

  constructor(files: ClientCertificateFiles, warn: (message: string) => void) {
    this.#files = files;
    this.#warn = warn;
  }

  /** The pair to use now; `undefined` before there was a good one. */
  read(): ClientCertificate | undefined {
    const { certFile, keyFile } = this.#files;
    const seen = `${version(certFile)} ${version(keyFile)}`;
    if (seen === this.#seen) return this.#current;
    this.#seen = seen;
    try {
      const pair = { cert: readTextFile(certFile), key: readTextFile(keyFile) };
      // Throws for a pair that does not belong together, as between the two renames of a renewal.
      createSecureContext(pair);
      this.#current = pair;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#warn(
        `apiServer.clientCertificate (${certFile}, ${keyFile}) cannot be used: ${reason}; the probe goes on ${this.#current === undefined ? 'without one' : 'with the last good one'}`,
      );
    }
    return this.#current;
  }
}

/** Changes whenever the file does. */
function version(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? 'absent' : `${stat.ino}/${stat.mtimeNs}/${stat.size}`;
}
