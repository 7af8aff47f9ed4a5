/**
 * The one importer of @kubernetes/client-node, of which only the reader of kubeconfigs is used (ADR 15): it is loaded where a
 * kubeconfig is configured, and is a file of its own in the bundles.
 */
import type { Agent, RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { type ApiAccess, readFile, readToken } from './api-access.ts';
import { type Credential, certificateCredential, tokenCredential } from './credential.ts';
import { isJsonObject } from './kubernetes-object.ts';

/** Octets of a kubeconfig. */
const LONGEST = 1 << 20;

/** Reads the current context of a kubeconfig: for each request, since tokens and certificates are renewed. @throws Error that names the file */
export async function kubeconfigAccess(file: string): Promise<ApiAccess> {
  const text = readFile(file, LONGEST).toString('utf8');
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch (error) {
    throw new Error(`${file} is no kubeconfig: ${error instanceof Error ? error.message : String(error)}`);
  }
  config.makePathsAbsolute(dirname(file));
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`${file} has no current context with a cluster`);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers = headersOf(options);
  const tokenFile = tokenFileOf(parse(text), config.getCurrentUser()?.name);
  if (tokenFile !== undefined)
    headers['authorization'] = `Bearer ${readToken(resolve(dirname(file), tokenFile))}`;
  const { ca, cert, key, rejectUnauthorized } = options;
  return {
    servers: [{ url: cluster.server, serverName: options.servername }],
    tls: {
      ca: pem(ca),
      cert: pem(cert),
      key: pem(key),
      rejectUnauthorized,
      agent:
        cluster.proxyUrl === undefined || cluster.proxyUrl === null ? undefined : (options.agent as Agent),
    },
    headers,
    credential: credentialOf(headers['authorization'], pem(cert)),
  };
}

/** The standard key `tokenFile` of a user (kubeconfig v1), which client-node 2.0.1 does not know. */
function tokenFileOf(config: unknown, user: string | undefined): string | undefined {
  const users = isJsonObject(config) ? config['users'] : undefined;
  if (!Array.isArray(users)) return undefined;
  const found: unknown = users.find((one) => isJsonObject(one) && one['name'] === user);
  const settings = isJsonObject(found) ? found['user'] : undefined;
  const file = isJsonObject(settings) ? settings['tokenFile'] : undefined;
  return typeof file === 'string' ? file : undefined;
}

function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) made[name.toLowerCase()] = String(value);
  if (typeof auth === 'string') made['authorization'] = `Basic ${Buffer.from(auth).toString('base64')}`;
  return made;
}

function credentialOf(authorization: string | undefined, cert: string | Buffer | undefined): Credential {
  const token = authorization?.match(/^Bearer (.+)$/)?.[1];
  if (token !== undefined) return tokenCredential(token);
  return cert === undefined ? { kind: 'none' } : certificateCredential(cert);
}

/** client-node gives one PEM text of each kind. */
function pem(value: RequestOptions['ca'] | RequestOptions['key']): string | Buffer | undefined {
  return typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
}
