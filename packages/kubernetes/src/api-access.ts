import type { Agent } from 'node:https';
import { readRegularFile } from '@bgp-lb/daemon';
import { type Credential, tokenCredential } from './credential.ts';

/** One address of the API. */
export interface ApiServer {
  /** `https://HOST:PORT`. */
  readonly url: string;
  /** Name that its certificate must have, where that is not the host of the URL. */
  readonly serverName?: string | undefined;
}

/** What TLS needs, as in node:tls. */
interface ApiTls {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
  /** For a proxy; default: a connection of its own for each request. */
  readonly agent?: Agent | undefined;
}

/** How the API is reached, as its files say now. */
export interface ApiAccess {
  readonly servers: readonly ApiServer[];
  readonly tls: ApiTls;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: Credential;
}

export interface TokenAccess {
  readonly servers: readonly string[];
  readonly caFile: string;
  readonly tokenFile: string;
}

/** Octets of a file of certificates. */
const LONGEST_CA = 1 << 20;
/** Octets of a token, which is sent as a header. */
const LONGEST_TOKEN = 16_384;

/** Reads a CA and a token. Both are read each time, since others renew them. @throws Error that names the file */
export function tokenAccess({ servers, caFile, tokenFile }: TokenAccess): ApiAccess {
  const token = readToken(tokenFile);
  return {
    servers: servers.map((url) => ({ url })),
    tls: { ca: readFile(caFile, LONGEST_CA) },
    headers: { authorization: `Bearer ${token}` },
    credential: tokenCredential(token),
  };
}

/** The token in a file, without white space around it. @throws Error that names the file, and never shows the token */
export function readToken(file: string): string {
  const token = readFile(file, LONGEST_TOKEN).toString('utf8').trim();
  if (token === '') throw new Error(`${file} is empty; expected a token`);
  if (!/^[!-~]+$/.test(token)) throw new Error(`${file} has characters that no token has`);
  return token;
}

/** @throws Error that names the file */
export function readFile(path: string, limit: number): Buffer {
  try {
    return readRegularFile(path, limit);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${path} cannot be read: ${reason}`, { cause: error });
  }
}
