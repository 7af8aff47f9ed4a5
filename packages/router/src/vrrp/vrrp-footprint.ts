import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import { addressOwners, ProtocolListener, RouteSocket } from '@bgp-lb/linux';
import type { RouterConfig } from '../config/router-config.ts';
import { KEEPALIVED_PLACES } from '../config/vrrp-schema.ts';
import { parseAdvertisement, VRRP_GROUPS, VRRP_PROTOCOL } from './advertisement.ts';
import { type HeardRouter, HeardRouters } from './heard-routers.ts';
import { keepalivedPaths } from './keepalived-paths.ts';
import { keepalivedPid, runsKeepalived } from './keepalived-process.ts';
import { ownedAddresses } from './leftover-addresses.ts';
import { retireKeepalived } from './retire-keepalived.ts';
import { type VirtualRouterSettings, virtualRouterSettings } from './virtual-router-settings.ts';

/** Milliseconds that an owner of a VIP has to answer. */
const ANSWER_TIME = 600;
/** The link is listened to for so long (ms): the usual interval of others is one second. */
const LISTEN = 2_500;

type VrrpRouterConfig = RouterConfig & { readonly vrrp: NonNullable<RouterConfig['vrrp']> };

/**
 * Looks at VRRP without asking the daemon: who answers for each VIP, which virtual routers are on the link, whether keepalived runs.
 * @param isOwner the router that runs says that this host has the VIPs
 */
export async function examineVrrp(
  config: VrrpRouterConfig,
  isOwner: boolean | undefined,
): Promise<readonly Finding[]> {
  const { vrrp, vips } = config;
  const routes = new RouteSocket();
  try {
    const link = routes.links().find(({ name }) => name === vrrp.interface);
    const fix = 'the interface that all load balancers share';
    if (link?.address === undefined) {
      return [fault('vrrp', vrrp.interface, 'there is no such interface, or it has no neighbors', fix)];
    }
    const addresses = routes.addresses();
    const own = addresses.filter(({ index }) => index === link.index);
    const settings = settingsOf(config, own);
    if (typeof settings === 'string') return [fault('vrrp', vrrp.interface, settings, fix)];
    const has = (vip: string): boolean =>
      settings.owned === 'vips' ? own.some(({ address }) => address === vip) : isOwner === true;
    const asked = { index: link.index, address: link.address };
    const owners = vips.map(({ address }) =>
      ownerFinding(address, addressOwners(asked, address, ANSWER_TIME), has(address)),
    );
    const heard = await hear(link.index, settings);
    return [processFinding(config), ...owners, ...instanceFindings(settings, heard)];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return [
      warning('vrrp', vrrp.interface, text, 'run doctor on the host as root: asking needs CAP_NET_RAW'),
    ];
  } finally {
    routes.close();
  }
}

function settingsOf(
  { vrrp, vips, dataplane }: VrrpRouterConfig,
  own: Parameters<typeof virtualRouterSettings>[3],
): VirtualRouterSettings | string {
  return virtualRouterSettings(
    vrrp,
    dataplane.kind,
    vips.map(({ address }) => address),
    own,
  );
}

function processFinding({ vrrp }: VrrpRouterConfig): Finding {
  const { pidFile } = keepalivedPaths(vrrp);
  const pid = keepalivedPid(pidFile);
  return pid === undefined
    ? fault(
        'keepalived',
        pidFile,
        'does not run',
        'systemctl status bgp-lb-keepalived.service; `status` says what it waits for',
      )
    : good('keepalived', pidFile, `runs, process ${pid}`);
}

/** Exactly one host is to answer for a VIP. Pure. */
export function ownerFinding(vip: string, others: readonly string[], isHere: boolean): Finding {
  const all = [...(isHere ? ['this host'] : []), ...others];
  if (all.length === 1) return good('vip owner', vip, `${all[0]} answers for it`);
  const fix = 'bgp-lb-router status on each load balancer: the one that is no MASTER must not have it';
  return all.length === 0
    ? fault('vip owner', vip, 'no host answers for it', 'bgp-lb-router explain on each load balancer')
    : fault('vip owner', vip, `${all.length} hosts answer for it: ${all.join(', ')}`, fix);
}

/** The virtual routers of the link, each with whose it is. Pure. */
export function instanceFindings(
  { vrid, peers, peerBeacons, ownAddress, interface: name }: VirtualRouterSettings,
  heard: readonly HeardRouter[],
): readonly Finding[] {
  return heard
    .filter(({ source }) => source !== ownAddress)
    .map((one) => {
      const place = `${name} VRID ${one.vrid}`;
      const text = `${one.source}, VRRPv${one.version}, priority ${one.priority}`;
      const isPeer = peers.includes(one.source);
      if (isPeer && one.vrid === vrid)
        return good('vrrp instance', place, `${text}: a peer, which has the VIPs`);
      if (isPeer && one.vrid === peerBeacons.get(one.source)) {
        return good('vrrp instance', place, `${text}: a peer that says that it can serve`);
      }
      return one.vrid === vrid
        ? fault(
            'vrrp instance',
            place,
            `${text}: no peer, and it has our VRID`,
            'another vrrp.vrid, or vrrp.peers',
          )
        : good('vrrp instance', place, `${text}: of others`);
    });
}

async function hear(index: number, { ownAddress }: VirtualRouterSettings): Promise<readonly HeardRouter[]> {
  const heard = new HeardRouters();
  const version = ownAddress.includes(':') ? 6 : 4;
  const listener = new ProtocolListener(
    { index, version, protocol: VRRP_PROTOCOL, group: VRRP_GROUPS[version] },
    {
      packet: (packet) => {
        const what = parseAdvertisement(packet);
        if (what !== undefined) heard.hear(what, performance.now());
      },
      lost: () => undefined,
    },
  );
  await new Promise((resolve) => setTimeout(resolve, LISTEN));
  listener.close();
  return heard.all(performance.now());
}

/**
 * Removes what VRRP has made, with the addresses that a keepalived which runs no more has left. Without `vrrp` that is what an earlier
 * configuration has left in the usual places. Only while no router runs. Idempotent.
 * @param isDry nothing is changed, only said
 */
export async function removeVrrp(
  { vrrp, ...config }: RouterConfig,
  isDry: boolean,
): Promise<{ readonly removed: readonly string[]; readonly left: readonly string[] }> {
  const { removed, left } = await retireKeepalived(keepalivedPaths(vrrp ?? KEEPALIVED_PLACES), isDry);
  if (vrrp === undefined) return { removed, left };
  const runs = runsKeepalived();
  const addresses = runs ? [] : removeAddresses({ ...config, vrrp }, isDry);
  const stays =
    runs && !isDry && left.length === 0 ? ['a keepalived that is not of the router, and its addresses'] : [];
  return { removed: [...addresses, ...removed], left: [...left, ...stays] };
}

function removeAddresses(config: VrrpRouterConfig, isDry: boolean): string[] {
  const routes = new RouteSocket();
  try {
    const [links, addresses] = [routes.links(), routes.addresses()];
    const link = links.find(({ name }) => name === config.vrrp.interface);
    const settings = settingsOf(
      config,
      addresses.filter(({ index }) => index === link?.index),
    );
    if (typeof settings === 'string') return [];
    const { owned, beacon } = ownedAddresses(settings, links, addresses);
    const all = [...owned, ...beacon];
    if (!isDry) for (const key of all) routes.deleteAddress(key);
    return all.map(({ address }) => `address ${address}`);
  } finally {
    routes.close();
  }
}
