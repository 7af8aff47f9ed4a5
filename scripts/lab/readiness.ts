/** What a kube-apiserver answers on `/readyz`, as text and status. */

/** How the API server stand-in behaves. */
const apiServerModes = [
  'ready',
  'not-ready', // 500 with the failing checks
  'forbidden', // 403, as before RBAC exists
  'unauthorized', // 401, as with anonymous access switched off
  'slow', // /readyz takes 1 to 3 s, as on a machine that is busy; streams do not
  'hang', // TCP and TLS answer, requests never do
  'closed', // the port is closed; open connections stay
] as const;

/** A mode of the API server stand-in. */
export type ApiServerMode = (typeof apiServerModes)[number];

/** The checks that a kube-apiserver lists, in its order, shortened to those that matter here. */
const checks = [
  'ping',
  'log',
  'etcd',
  'etcd-readiness',
  'informer-sync',
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/rbac/bootstrap-roles',
  'shutdown',
] as const;

/** Status and body of `/readyz`. Names of failing checks that are not in the list are added to it. */
export function readinessAnswer(
  failing: readonly string[],
  isVerbose: boolean,
): { status: number; body: string } {
  if (failing.length === 0 && !isVerbose) return { status: 200, body: 'ok' };
  const names = [...new Set<string>([...checks, ...failing])];
  const lines = names.map((name) =>
    failing.includes(name) ? `[-]${name} failed: reason withheld` : `[+]${name} ok`,
  );
  const verdict = failing.length === 0 ? 'readyz check passed' : 'readyz check failed';
  return { status: failing.length === 0 ? 200 : 500, body: `${[...lines, verdict].join('\n')}\n` };
}

/** A Kubernetes `Status` object of a refused or failed request. */
export function failureStatus(code: number, reason: string, message: string): string {
  return JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, code });
}
