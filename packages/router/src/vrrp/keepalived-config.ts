import type { KeepalivedPaths } from './keepalived-paths.ts';
import type { VirtualRouterSettings } from './virtual-router-settings.ts';

/** The first line of what is ours: a file without it is another's. */
export const MARK = '# Written by bgp-lb-router, which writes it again: changes by others are lost.';
/** The instance that has the VIPs. */
export const VIRTUAL_ROUTER = 'bgp-lb';
/** The instance by which a host says that it is able to serve: no other has its VRID, and it is silent while it is not. */
const BEACON = 'bgp-lb-fit';

/** Minutes after the last sign of the router at which the other load balancers are preferred. */
const ROUTER_GONE = 0.5;
/** Less than any priority that another may have: keepalived takes 1 for less than that. */
const LOWEST_OFFSET = -253;

/** What there is on `lo` of the owner where others answer for the VIPs: keepalived 2.2 takes no instance without an address. */
export function tokensOf({
  ownAddress,
  vrid,
  beaconVrid,
}: Pick<VirtualRouterSettings, 'ownAddress' | 'vrid' | 'beaconVrid'>): {
  readonly owner: string;
  readonly beacon: string;
} {
  const isIpv6 = ownAddress.includes(':');
  const token = (net: number, number: number): string =>
    isIpv6 ? `fe80::77:${net}:${number.toString(16)}` : `169.254.${net}.${number}`;
  return { owner: token(77, vrid), beacon: token(78, beaconVrid) };
}

/**
 * keepalived.conf, for keepalived 2.2. Pure.
 * @param user who runs keepalived, and therefore its script
 */
export function keepalivedConfig(
  settings: VirtualRouterSettings,
  paths: KeepalivedPaths,
  user: string,
): string {
  const { vrid, beaconVrid, vips, owned, interface: name, preemptDelay } = settings;
  const tokens = tokensOf(settings);
  const [first, ...others] = owned === 'token' ? [] : vips;
  return `${[
    MARK,
    ...block('global_defs', [
      'router_id bgp-lb',
      'vrrp_version 3',
      // Before the FIFO: keepalived 2.2.7 otherwise ends with the next reload, since it finds no user for it.
      'enable_script_security',
      `script_user ${user}`,
      `vrrp_notify_fifo ${paths.fifo}`,
      'fifo_write_vrrp_states_on_reload',
      'vrrp_garp_master_refresh 30',
      // Two that could not hear each other both have announced the VIPs: the one that stays learns of it by this, and announces them again.
      'vrrp_higher_prio_send_advert true',
      'reload_check_config',
    ]),
    ...['fault', 'unfit'].flatMap((what) =>
      block(`track_file ${what}`, [
        `file ${what === 'fault' ? paths.faultFile : paths.unfitFile}`,
        'weight 0',
      ]),
    ),
    ...block('track_file offset', [`file ${paths.offsetFile}`, 'weight 1']),
    '# Fails when the router has given no sign for half a minute.',
    ...block('vrrp_script router', [
      `script "/usr/bin/find ${paths.aliveFile} -mmin +${ROUTER_GONE} -exec /bin/false {} +"`,
      'interval 5',
      'timeout 4',
      'fall 2',
      `weight ${LOWEST_OFFSET}`,
    ]),
    ...block(`vrrp_instance ${VIRTUAL_ROUTER}`, [
      ...common(settings, vrid),
      ...(preemptDelay === 0 ? [] : [`preempt_delay ${seconds(preemptDelay)}`]),
      ...block('track_file', ['fault weight 0', 'offset weight 1']),
      ...block('track_script', [`router weight ${LOWEST_OFFSET}`]),
      ...block('virtual_ipaddress', [first === undefined ? onLoopback(tokens.owner) : on(first, name)]),
      ...(others.length === 0
        ? []
        : block(
            'virtual_ipaddress_excluded',
            others.map((address) => on(address, name)),
          )),
    ]),
    ...block(`vrrp_instance ${BEACON}`, [
      ...common(settings, beaconVrid),
      ...block('track_file', ['unfit weight 0']),
      // Without the router it is not known whether this host is able.
      ...block('track_script', ['router weight 0']),
      ...block('virtual_ipaddress', [onLoopback(tokens.beacon)]),
    ]),
  ].join('\n')}\n`;
}

function common(
  { interface: name, priority, advertInterval, missedAdverts, ownAddress, peers }: VirtualRouterSettings,
  vrid: number,
): string[] {
  return [
    'state BACKUP',
    `interface ${name}`,
    `virtual_router_id ${vrid}`,
    `priority ${priority}`,
    `advert_int ${seconds(advertInterval)}`,
    `down_timer_adverts ${missedAdverts}`,
    `unicast_src_ip ${ownAddress}`,
    // One a line: of two on a line keepalived takes the first, with a mere warning.
    ...block('unicast_peer', peers),
  ];
}

function block(head: string, lines: readonly string[]): string[] {
  return [`${head} {`, ...lines.map((line) => `    ${line}`), '}'];
}

function on(address: string, name: string): string {
  return `${address}/${address.includes(':') ? 128 : 32} dev ${name}`;
}

/** `scope host`: it is never the source of a packet that leaves. IPv6 addresses of keepalived have no scope to choose. */
function onLoopback(address: string): string {
  return address.includes(':')
    ? `${address}/128 dev lo no_track`
    : `${address}/32 dev lo scope host no_track`;
}

function seconds(ms: number): string {
  return String(ms / 1000);
}
