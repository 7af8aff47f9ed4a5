/** What HAProxy's run-time API answers, as far as we look at it. */
import { ANCHOR } from './haproxy-settings.ts';

/** What an operator, or we, want of a server: `maint` out of use, `drain` no new connections, `ready` by its check. */
type AdminState = 'ready' | 'drain' | 'maint';

/** A server of a backend as HAProxy has it. */
export interface RunningServer {
  readonly backend: string;
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly admin: AdminState;
  /** 0 to 256. */
  readonly weight: number;
  /** HAProxy checks it at the moment. */
  readonly isChecked: boolean;
  /** HAProxy would send new connections to it if it were `ready`. */
  readonly isUp: boolean;
  /** HAProxy's word: `UP`, `DOWN 1/2`, `NOLB`, `DRAIN`, `MAINT`, `no check`. */
  readonly status: string;
  /** Of its last check: `L7OK`, `L4CON`, `L7OKC`; empty before the first. */
  readonly check: string;
  /** Of its last check in words: `Layer7 check passed`. */
  readonly detail: string;
  readonly sessions: number;
}

/** Bits of `srv_admin_state`, SRV_ADMF_ in HAProxy's server-t.h: forced, inherited, by the configuration, by DNS. */
const MAINTENANCE = 0x01 | 0x02 | 0x04 | 0x20;
const DRAIN = 0x08 | 0x10;
/** CHK_ST_ENABLED of check-t.h. */
const CHECK_ENABLED = 4;
/** SRV_ST_STARTING and SRV_ST_RUNNING: `srv_op_state` of a server that may be used. */
const usableStates: readonly string[] = ['1', '2'];

/** What a server has on each line, by the names of the columns. */
type Row = ReadonlyMap<string, string>;

/**
 * The servers of all backends, from both of HAProxy's lists of them: one has what is wanted of them, the other how they are.
 * @param state answer to `show servers state`
 * @param stat answer to `show stat -1 4 -1`
 * @throws RangeError for what is no such answer
 */
export function readServers(state: string, stat: string): RunningServer[] {
  const stats = new Map(statRows(stat).map((row) => [`${cell(row, 'pxname')}/${cell(row, 'svname')}`, row]));
  return stateRows(state).flatMap((row) => {
    const [backend, name] = [cell(row, 'be_name'), cell(row, 'srv_name')];
    const shown = stats.get(`${backend}/${name}`);
    // It came or went between the two answers: the next look has it in both.
    if (name === ANCHOR || shown === undefined) return [];
    const admin = number(row, 'srv_admin_state');
    return {
      backend,
      name,
      address: cell(row, 'srv_addr'),
      port: number(row, 'srv_port'),
      admin: admin & MAINTENANCE ? 'maint' : admin & DRAIN ? 'drain' : 'ready',
      weight: number(row, 'srv_uweight'),
      isChecked: (number(row, 'srv_check_state') & CHECK_ENABLED) !== 0,
      isUp: usableStates.includes(cell(row, 'srv_op_state')),
      status: cell(shown, 'status'),
      // A check that runs has an asterisk.
      check: cell(shown, 'check_status').replace(/^\* /, ''),
      detail: cell(shown, 'check_desc'),
      sessions: number(shown, 'scur'),
    } satisfies RunningServer;
  });
}

/** Each backend of ours has a server that is never used. @param state answer to `show servers state` */
export function readBackends(state: string): ReadonlySet<string> {
  return new Set(stateRows(state).map((row) => cell(row, 'be_name')));
}

/** Sessions of each server of a worker, `BACKEND/NAME`. @param stat answer to `show stat -1 4 -1` */
export function readSessions(stat: string): ReadonlyMap<string, number> {
  return new Map(
    statRows(stat).map((row) => [`${cell(row, 'pxname')}/${cell(row, 'svname')}`, number(row, 'scur')]),
  );
}

/**
 * The ids of the sessions that a worker has to each server, `BACKEND/NAME`.
 * @param sessions answer to `show sess`
 */
export function readSessionIds(sessions: string): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>();
  for (const [, id = '', backend, server] of sessions.matchAll(/^(0x[0-9a-f]+): .* be=(\S+) srv=(\S+) /gm)) {
    const key = `${backend}/${server}`;
    const known = ids.get(key);
    if (known === undefined) ids.set(key, [id]);
    else known.push(id);
  }
  return ids;
}

/** Which process answers, and with which configuration. */
export interface RunningProcess {
  readonly pid: number;
  /** `undefined` for a configuration that is not ours. */
  readonly description: string | undefined;
  readonly version: string;
}

/** @param info answer to `show info` */
export function readProcess(info: string): RunningProcess {
  const fields = new Map(
    info.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trim()] as const;
    }),
  );
  const pid = Number(fields.get('Pid'));
  if (!Number.isInteger(pid) || pid <= 0) throw new RangeError('no "Pid" in the answer to show info');
  return { pid, description: fields.get('description'), version: fields.get('Version') ?? 'unknown' };
}

/** The worker processes of a master. */
export interface Workers {
  readonly current: number | undefined;
  /** How often the master has begun again, also without success. */
  readonly reloads: number;
  /** Of configurations before, which end with their last connection. */
  readonly old: readonly number[];
}

/** @param processes answer of the master to `show proc` */
export function readWorkers(processes: string): Workers {
  const old: number[] = [];
  let current: number | undefined;
  let reloads = 0;
  let section = '';
  for (const line of processes.split('\n')) {
    if (line.startsWith('# ')) section = line.slice(2).trim();
    const [pid = '', type, count] = line.trim().split(/\s+/);
    if (type === 'master') reloads = Number(count);
    if (type !== 'worker' || !/^\d+$/.test(pid)) continue;
    if (section === 'workers') current = Number(pid);
    if (section === 'old workers') old.push(Number(pid));
  }
  return { current, reloads, old };
}

function stateRows(text: string): Row[] {
  const [version, header, ...lines] = text.split('\n');
  if (version !== '1' || !header?.startsWith('# ')) {
    throw new RangeError('not version 1 of the answer to show servers state');
  }
  const names = header.slice(2).split(' ');
  return lines.filter((line) => line !== '').map((line) => rowOf(names, line.split(' ')));
}

function statRows(text: string): Row[] {
  const [names, ...lines] = csvRows(text);
  const first = names?.[0];
  if (names === undefined || !first?.startsWith('# ')) throw new RangeError('not the answer to show stat');
  const columns = [first.slice(2), ...names.slice(1)];
  return lines.map((values) => rowOf(columns, values));
}

/** With quotes: what a member's answer says is in it, and may have commas, quotes and line breaks. */
function csvRows(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|$)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    if (row.length > 1) rows.push(row);
    row = [];
  }
  return rows;
}

function rowOf(names: readonly string[], values: readonly string[]): Row {
  return new Map(names.map((name, index) => [name, values[index] ?? '']));
}

function cell(row: Row, name: string): string {
  const value = row.get(name);
  if (value === undefined) throw new RangeError(`no column ${name} in an answer of HAProxy`);
  return value;
}

function number(row: Row, name: string): number {
  return Number(cell(row, name));
}
