import { writeFileSync } from 'node:fs';
import { release, version } from 'node:os';
import { ControlClientError, controlRequest, type Finding } from '@bgp-lb/daemon';
import type { RouterConfig } from '../config/router-config.ts';
import { makeFootprint } from '../dataplane/make-footprint.ts';

/** What the running router is asked for. */
const QUESTIONS = ['status', 'neighbors', 'routes', 'fib', 'events'] as const;

/**
 * Writes what a bug report needs into a new file that only its owner reads: one JSON object. Passwords and keys are in files
 * of their own, whose names are all that the configuration has.
 * @throws the error of open(2), `EEXIST` for a file that is there
 */
export async function writeBundle(
  file: string,
  config: RouterConfig,
  findings: readonly Finding[],
): Promise<void> {
  const answers = await Promise.all(
    QUESTIONS.map(async (name) => [name, await answer(config.api.socket, `/api/v1/${name}`)] as const),
  );
  const bundle = {
    writtenAt: new Date().toISOString(),
    host: { kernel: release(), build: version(), node: process.version },
    findings,
    config,
    router: Object.fromEntries(answers),
    ...(await makeFootprint(config).snapshot()),
  };
  writeFileSync(file, `${JSON.stringify(bundle, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
}

async function answer(socket: string, path: string): Promise<unknown> {
  try {
    return await controlRequest(socket, 'GET', path);
  } catch (error) {
    if (error instanceof ControlClientError) return { error: error.message };
    throw error;
  }
}
