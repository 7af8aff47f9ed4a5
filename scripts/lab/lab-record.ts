/**
 * The list of labs on this machine: one file per lab under /run/bgp-lb-lab, written before anything is created,
 * so that whatever a crash leaves can be found and removed. Nothing that is not in a record is ever touched.
 *
 * A process that removes a lab first renames its record, which only one process can do.
 */
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { deleteNamespace, killProcessesIn, namespaceExists } from './network-namespace.ts';
import { isProcessAlive, type ProcessIdentity, processIdentity } from './process-identity.ts';
import { waitUntil } from './wait-until.ts';

/** Where the records are. */
const recordFolder = '/run/bgp-lb-lab';

/** What a lab owns. */
export interface LabRecord {
  readonly id: string;
  readonly owner: ProcessIdentity;
  /** The process that removes the lab when the owner dies; absent until it runs. */
  readonly guardian?: ProcessIdentity;
  /** True once the owner has let go of it: it stays until it is removed by name. */
  readonly isKept: boolean;
  /** The hosts' files. */
  readonly folder: string;
  readonly namespaces: readonly string[];
}

/** A lab of this name exists already, or something that is not a lab's has a name that it needs. */
class LabBusyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LabBusyError';
  }
}

const liveFile = (id: string): string => `${recordFolder}/${id}.json`;
const removingFile = (id: string, by: ProcessIdentity): string =>
  `${recordFolder}/${id}.removed-by-${by.pid}-${by.startTime}`;

function thisProcess(): ProcessIdentity {
  const identity = processIdentity(process.pid);
  if (identity === undefined) throw new Error('the lab needs /proc');
  return identity;
}

function parseRecord(file: string): LabRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as LabRecord;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`cannot read the lab record ${file}`, { cause: error });
  }
}

function writeTemporary(record: LabRecord): string {
  mkdirSync(recordFolder, { recursive: true });
  const file = `${recordFolder}/.${record.id}.${process.pid}`;
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`);
  return file;
}

/** The record of a lab; undefined when there is no such lab. */
export function readRecord(id: string): LabRecord | undefined {
  return parseRecord(liveFile(id));
}

/** Replaces the record of a lab that the caller owns. */
export function updateRecord(record: LabRecord): void {
  renameSync(writeTemporary(record), liveFile(record.id));
}

/** Writes the record of a new lab; throws LabBusyError when one of this name, or one of its namespaces, exists. */
export function claimRecord(record: LabRecord): void {
  const taken = record.namespaces.filter(namespaceExists);
  if (taken.length > 0) {
    throw new LabBusyError(
      `network namespaces with the names of lab ${record.id} exist: ${taken.join(', ')}`,
    );
  }
  const temporary = writeTemporary(record);
  try {
    linkSync(temporary, liveFile(record.id));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    const holder = readRecord(record.id)?.owner.pid;
    throw new LabBusyError(`lab ${record.id} is running, owned by process ${holder ?? 'unknown'}`);
  } finally {
    rmSync(temporary, { force: true });
  }
}

async function removeAllOf(record: LabRecord, recordFile: string): Promise<void> {
  await killProcessesIn(record.namespaces);
  await Promise.all(record.namespaces.map(deleteNamespace));
  await rm(record.folder, { recursive: true, force: true, maxRetries: 3 });
  rmSync(recordFile, { force: true });
}

/** Takes a record for removal by renaming it; undefined when another process was faster. */
function takeFile(file: string, id: string): string | undefined {
  const taken = removingFile(id, thisProcess());
  try {
    renameSync(file, taken);
    return taken;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Removes a lab: its processes, namespaces, files and record. Waits when another process is removing it. */
export async function removeLab(id: string): Promise<void> {
  const taken = takeFile(liveFile(id), id);
  const record = taken === undefined ? undefined : parseRecord(taken);
  if (taken !== undefined && record !== undefined) await removeAllOf(record, taken);
  await waitUntil(() => !removals().some((removal) => removal.id === id && isOther(removal.by)), {
    what: `removal of lab ${id} by another process`,
    timeoutMs: 20_000,
  });
}

const isOther = (by: ProcessIdentity): boolean => by.pid !== process.pid && isProcessAlive(by);

interface Removal {
  readonly file: string;
  readonly id: string;
  readonly by: ProcessIdentity;
}

function removals(): Removal[] {
  return listFolder().flatMap((name) => {
    const [, id, pid, startTime] = /^(.+)\.removed-by-(\d+)-(\d+)$/.exec(name) ?? [];
    if (id === undefined || pid === undefined || startTime === undefined) return [];
    return [{ file: `${recordFolder}/${name}`, id, by: { pid: Number(pid), startTime } }];
  });
}

function listFolder(): string[] {
  try {
    return readdirSync(recordFolder);
  } catch {
    return [];
  }
}

/** The labs that have a record. */
export function listLabs(): LabRecord[] {
  return listFolder().flatMap((name) => {
    const record = /^[^.].*\.json$/.test(name) ? parseRecord(`${recordFolder}/${name}`) : undefined;
    return record === undefined ? [] : [record];
  });
}

/** Removes every lab whose owner is dead, except kept ones, and ends removals that were broken off. */
export async function removeStaleLabs(): Promise<string[]> {
  const removed: string[] = [];
  for (const { id, owner, isKept } of listLabs()) {
    if (isKept || isProcessAlive(owner)) continue;
    await removeLab(id);
    removed.push(id);
  }
  for (const { file, id, by } of removals()) {
    if (isProcessAlive(by)) continue;
    const taken = takeFile(file, id);
    const record = taken === undefined ? undefined : parseRecord(taken);
    if (taken === undefined || record === undefined) continue;
    await removeAllOf(record, taken);
    removed.push(id);
  }
  return removed;
}
