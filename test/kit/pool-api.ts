/** The API server stand-in of a namespace of a test, with one ConfigMap: what the router takes its members from. */
import { StandInApiServer } from '@bgp-lb/kubernetes/testing';

const PATH = '/api/v1/namespaces/lb/configmaps';
const rights = [{ path: PATH, name: 'pool' }];

let server: StandInApiServer | undefined;

/** What the process is given. */
export interface PoolApiOptions {
  readonly key: string;
  readonly cert: string;
  readonly host: string;
  readonly port: number;
}

/** Starts it, without any object. */
export async function start({ host, port, ...tls }: PoolApiOptions): Promise<void> {
  server = new StandInApiServer(tls);
  await server.listen(port, host);
}

/** Its port is closed, and its watches are cut. */
export async function stop(): Promise<void> {
  await server?.close();
}

/** Lets these tokens follow the ConfigMap, and no others. */
export function allow({ good, bad }: { readonly good: string; readonly bad?: string }): void {
  if (bad !== undefined) server?.allow(bad, undefined);
  server?.allow(good, rights);
}

/** The ConfigMap has this text. */
export function put(text: string): void {
  server?.put(PATH, 'pool', { apiVersion: 'v1', kind: 'ConfigMap', data: { 'pool.yaml': text } });
}

export function setMode(mode: 'good' | 'no-watch'): void {
  server?.setMode(mode);
  if (mode === 'no-watch') server?.endWatches('cut');
}

/** Requests so far with this token, and how many of them were refused for it. */
export function asked(token: string): number {
  return server?.asked.filter((one) => one.token === token).length ?? 0;
}

export function cutWatches(): void {
  server?.endWatches('cut');
}
