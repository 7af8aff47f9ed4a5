import { chainsThatDrop } from '@bgp-lb/daemon';
import {
  Nftables,
  NftablesError,
  type RouteSocket,
  RouteTable,
  type Rule,
  readSysctl,
  reversePathDrops,
} from '@bgp-lb/linux';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { linkTowards } from '../host-facts.ts';
import type { WayBack } from './check-way-back.ts';

/** @throws NetlinkError, SysctlError where the kernel cannot be asked */
export async function readWayBack({ routers, vips }: SpeakerConfig, routes: RouteSocket): Promise<WayBack> {
  const towards = new Set(routers.map(({ address }) => linkTowards(routes, address)));
  const links = routes.links().filter(({ isUp, isLoopback }) => isUp && !isLoopback);
  const nameOf = new Map(links.map(({ index, name }) => [index, name]));
  const all = rpFilter('all');
  return {
    links: links.map(({ index, name, mtu }) => ({
      name,
      mtu,
      isTowardsRouters: towards.has(index),
      rpFilter: Math.max(all, rpFilter(name)),
    })),
    routes: routes
      .routes({ table: RouteTable.Main, version: 4 })
      .filter(({ type }) => type === 'unicast')
      .flatMap(({ destination, interfaceIndex = 0 }) => {
        const interfaceName = nameOf.get(interfaceIndex);
        return interfaceName === undefined ? [] : [{ destination, interfaceName }];
      }),
    sourceRules: routes.rules(4).flatMap((rule) => sourceRule(rule, vips)),
    dropped: reversePathDrops(),
    outputChains: await outputChains(),
  };
}

function rpFilter(name: string): number {
  return Number(readSysctl(`net/ipv4/conf/${name}/rp_filter`));
}

/** A rule for one of the VIPs alone: one for a subnet that a VIP is in is its host's own affair, and answers go by it as well. */
function sourceRule({ priority, source, table }: Rule, vips: SpeakerConfig['vips']): readonly string[] {
  const vip = vips.find(({ address }) => source === `${address}/32`);
  if (vip === undefined || table === RouteTable.Main) return [];
  return [`${priority}: from ${vip.address} lookup ${table}`];
}

async function outputChains(): Promise<WayBack['outputChains']> {
  try {
    const { chains, rules } = await new Nftables().ruleset();
    return chainsThatDrop(chains, 'output', rules);
  } catch (error) {
    // That nft does not answer is a finding of its own.
    if (error instanceof NftablesError) return [];
    throw error;
  }
}
