/** What kernel tests use inside their network namespace: see NamespaceProcess. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as linux from '../index.ts';

export { NetlinkSocket } from '../netlink-socket.ts';
export { dumpNexthops } from '../nexthop.ts';
export { dumpRoutes } from '../route.ts';
export { linux };

/** The module's type, for NetworkNamespace.start. */
export type Subject = typeof import('./subject.ts');

/** What one run leaves for the next. */
export const kept: { route?: linux.RouteSocket } = {};

/** The index of an interface. */
export function linkIndex(name: string): number {
  const route = new linux.RouteSocket();
  try {
    const link = route.links().find((one) => one.name === name);
    if (link === undefined) throw new Error(`no interface ${name}`);
    return link.index;
  } finally {
    route.close();
  }
}

/** What was thrown, as plain fields; undefined when nothing was. */
export function thrownBy(run: () => unknown): Record<string, unknown> | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return fieldsOf(error);
  }
}

/** The same for a promise. */
export async function rejectionOf(promise: Promise<unknown>): Promise<Record<string, unknown> | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return fieldsOf(error);
  }
}

function fieldsOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { thrown: String(error) };
  return { ...error, name: error.name, message: error.message };
}

/** Looks again and again until there is a value, for at most so many ms. */
export async function until<T>(look: () => T | undefined | false, limit: number): Promise<T> {
  const end = performance.now() + limit;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`not seen within ${limit} ms: ${look}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** How many descriptors this process has open. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

let scripts: string | undefined;

/** An executable shell script with this body; removed when the process ends by itself. */
export function scriptFile(body: string): string {
  if (scripts === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-linux-'));
    scripts = folder;
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  const file = join(scripts, `script-${readdirSync(scripts).length}`);
  writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o700 });
  return file;
}
