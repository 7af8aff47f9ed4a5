/** Network namespaces by their names under /run/netns, as ip-netns(8) keeps them. */
import { statSync } from 'node:fs';
import { namespaceFolder, processesIn, signalProcessesIn } from './namespace-processes.ts';
import { runCommand, tryCommand } from './run-command.ts';
import { waitUntil } from './wait-until.ts';

/** True when a namespace of this name exists. */
export function namespaceExists(name: string): boolean {
  return statSync(`${namespaceFolder}/${name}`, { throwIfNoEntry: false }) !== undefined;
}

/** Creates a namespace; rejects when the name is taken. */
export async function createNamespace(name: string): Promise<void> {
  await runCommand(['ip', 'netns', 'add', name]);
}

/** Removes a namespace with all interfaces in it; one that is gone already is no error. */
export async function deleteNamespace(name: string): Promise<void> {
  const result = await tryCommand(['ip', 'netns', 'delete', name]);
  if (result.code !== 0 && namespaceExists(name)) {
    throw new Error(`cannot remove the network namespace ${name}: ${result.stderr.trim()}`);
  }
}

/** Runs lines of ip(8) in a namespace, in order, as one process; rejects at the first that fails. */
export async function ipBatch(namespace: string, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await runCommand(['ip', '-n', namespace, '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

/** The argument list that runs a program in a namespace: ip(8) becomes the program, so the pid stays the same. */
export function inNamespace(namespace: string, argv: readonly string[]): string[] {
  return ['ip', 'netns', 'exec', namespace, ...argv];
}

/** Kills (SIGKILL) every process in the namespaces, also those that they fork meanwhile, and waits for the last. */
export async function killProcessesIn(namespaces: readonly string[]): Promise<void> {
  await waitUntil(() => signalProcessesIn(namespaces, 'SIGKILL') === 0, {
    what: `no process left in ${namespaces.join(', ')}`,
    timeoutMs: 10_000,
    everyMs: 5,
    detail: () => `still there: ${processesIn(namespaces).join(', ')}`,
  });
}
