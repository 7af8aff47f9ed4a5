import { FULL_WEIGHT } from '../../pool/member-view.ts';
import { backendOf } from './haproxy-settings.ts';
import type { WantedServer } from './server-difference.ts';

/** Columns of version 1, as `show servers state` has them. HAProxy reads them by their place. */
const columns = [
  ...['be_id', 'be_name', 'srv_id', 'srv_name', 'srv_addr', 'srv_op_state', 'srv_admin_state'],
  ...['srv_uweight', 'srv_iweight', 'srv_time_since_last_change', 'srv_check_status', 'srv_check_result'],
  ...['srv_check_health', 'srv_check_state', 'srv_agent_state', 'bk_f_forced_id', 'srv_f_forced_id'],
  ...['srv_fqdn', 'srv_port', 'srvrecord', 'srv_use_ssl', 'srv_check_port', 'srv_check_addr'],
  ...['srv_agent_addr', 'srv_agent_port'],
];

/** SRV_ADMF_FDRAIN of HAProxy's server-t.h. */
const FORCED_DRAIN = 8;
/** CHK_ST_CONFIGURED and CHK_ST_ENABLED of check-t.h. */
const CHECKED = 6;

/**
 * The file that HAProxy reads when it starts: each member is down until it has passed its check. Without it HAProxy takes every
 * server of its configuration for up, and sends it connections before the first check.
 * @param servers by the VIP's address
 */
export function coldState(servers: ReadonlyMap<string, readonly WantedServer[]>): string {
  const lines = [...servers].flatMap(([vip, members]) =>
    members.map((server, index) => coldLine(vip, server, index)),
  );
  return `${['1', `# ${columns.join(' ')}`, ...lines].join('\n')}\n`;
}

/**
 * The state that a new worker begins with: that of the old one, and members that this does not have are down until their first check.
 * @param running answer to `show servers state`
 * @param cold see `coldState`
 */
export function warmState(running: string, cold: string): string {
  const [, , ...lines] = cold.trimEnd().split('\n');
  const has = new Set(running.split('\n').map(placeOf));
  return `${[running, ...lines.filter((line) => !has.has(placeOf(line)))].join('\n')}\n`;
}

/** Backend and server. */
function placeOf(line: string): string {
  const [, backend, , server] = line.split(' ');
  return `${backend}/${server}`;
}

function coldLine(vip: string, server: WantedServer, index: number): string {
  const { member, port, weight, isDrained } = server;
  const values: Record<string, string | number> = {
    be_id: 1,
    be_name: backendOf(vip),
    srv_id: index + 1,
    srv_name: member,
    srv_addr: member,
    srv_admin_state: isDrained ? FORCED_DRAIN : 0,
    srv_uweight: weight,
    // That of the `server` line: HAProxy ignores a weight that was set for a line with another.
    srv_iweight: FULL_WEIGHT,
    srv_check_state: CHECKED,
    // HCHK_STATUS_L4CON and CHK_RES_FAILED: what it would say of a member that it found no way to.
    srv_check_status: 8,
    srv_check_result: 1,
    srv_fqdn: '-',
    srv_port: port,
    srvrecord: '-',
    srv_check_addr: '-',
    srv_agent_addr: '-',
  };
  // Everything else is 0: the state SRV_ST_STOPPED, and no check in a row that passed.
  return columns.map((column) => values[column] ?? 0).join(' ');
}
