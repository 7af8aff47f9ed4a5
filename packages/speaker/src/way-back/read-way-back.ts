import {
  type Firewall,
  NetlinkError,
  packetFate,
  type RouteSocket,
  RouteTable,
  type Rule,
  readSysctl,
  SysctlError,
} from '@bgp-lb/linux';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { linkTowards, sourceTowards } from '../host-facts.ts';
import { HOLD_TABLE } from '../kernel/connection-hold.ts';
import { NFT_TABLE } from '../kernel/nft-table.ts';
import type { WayBack } from './check-way-back.ts';

export interface WayBackQuestion {
  readonly config: Pick<SpeakerConfig, 'vips'> & {
    readonly routers: readonly { readonly address: string }[];
  };
  readonly routes: Pick<RouteSocket, 'links' | 'routes' | 'rules' | 'routeTo' | 'routeOf' | 'addresses'>;
  readonly firewall: Firewall;
  /** What rp_filter has dropped between two readings. */
  readonly dropped: WayBack['dropped'];
}

/** Of the networks for documentation: a client behind a gateway. */
const FAR = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;
/** One of those that clients take. */
const CLIENT_PORT = 50_000;

/** For each version of IP that VIPs are of. @throws NetlinkError, SysctlError where the kernel cannot be asked */
export function readWayBack(question: WayBackQuestion): readonly WayBack[] {
  return ([4, 6] as const).flatMap((version) => {
    const vips = question.config.vips.filter(({ address }) => address.includes(':') === (version === 6));
    return vips.length === 0 ? [] : [readVersion(version, vips, question)];
  });
}

type Vips = SpeakerConfig['vips'];

function readVersion(
  version: 4 | 6,
  vips: Vips,
  { config, routes, firewall, dropped }: WayBackQuestion,
): WayBack {
  const towards = new Set(config.routers.map(({ address }) => linkTowards(routes, address)));
  const links = routes.links().filter(({ isUp, isLoopback }) => isUp && !isLoopback);
  const nameOf = new Map(links.map(({ index, name }) => [index, name]));
  const all = version === 4 ? rpFilterOf('all') : 0;
  const answer = answerOf(version, vips, routes, nameOf);
  return {
    version,
    links: links.flatMap(({ index, name, mtu }) => {
      const own = version === 4 ? rpFilterOf(name) : 0;
      if (own === undefined || all === undefined) return [];
      return [{ name, mtu, isTowardsRouters: towards.has(index), rpFilter: Math.max(all, own) }];
    }),
    routes: routes
      .routes({ table: RouteTable.Main, version })
      .filter(({ type, destination }) => type === 'unicast' && !/^(fe80|ff)/.test(destination))
      .flatMap(({ destination, interfaceIndex = 0, hops = [] }) =>
        [interfaceIndex, ...hops.map((hop) => hop.interfaceIndex)].flatMap((index = 0) => {
          const interfaceName = nameOf.get(index);
          return interfaceName === undefined ? [] : [{ destination, interfaceName }];
        }),
      ),
    answer,
    ownSource: vips.map(({ address }) => address).find((vip) => vip === sourceTowards(routes, FAR[version])),
    sourceRules: routes.rules(version).flatMap((rule) => sourceRule(rule, vips)),
    dropped: version === 4 ? dropped : undefined,
    firewall: filteredAnswers(version, vips, firewall, answer),
  };
}

/** Undefined for an interface that is gone since it was listed, as a pod's may be at any time. */
function rpFilterOf(name: string): number | undefined {
  try {
    return Number(readSysctl(`net/ipv4/conf/${name}/rp_filter`));
  } catch (error) {
    if (error instanceof SysctlError && error.errno === 'ENOENT') return undefined;
    throw error;
  }
}

/** The kernel says it for an address that it has: of a VIP that is bound. */
function answerOf(
  version: 4 | 6,
  vips: Vips,
  routes: WayBackQuestion['routes'],
  nameOf: ReadonlyMap<number, string>,
): WayBack['answer'] {
  const own = new Set(routes.addresses().map(({ address }) => address));
  const source = vips.find(({ address }) => own.has(address))?.address;
  if (source === undefined) return undefined;
  try {
    const found = routes.routeOf({ source, destination: FAR[version], destinationPort: CLIENT_PORT });
    const index = found?.interfaceIndex ?? found?.hops?.[0]?.interfaceIndex ?? 0;
    if (found === undefined || found.type !== 'unicast') return found?.type ?? 'none was named';
    return { interfaceName: nameOf.get(index) ?? `interface ${index}`, table: found.table };
  } catch (error) {
    if (error instanceof NetlinkError && error.isAnswer) return error.errno;
    throw error;
  }
}

function filteredAnswers(
  version: 4 | 6,
  vips: Vips,
  firewall: Firewall,
  answer: WayBack['answer'],
): WayBack['firewall'] {
  const own = [NFT_TABLE, HOLD_TABLE];
  const chains = firewall.chains.filter(({ table }) => !own.includes(table.split(' ')[1] ?? ''));
  const fates = vips.flatMap(({ address, machinePort }) => {
    const packet = {
      ...{ version, source: address, sourcePort: machinePort, isAnswer: true },
      ...(typeof answer === 'object' ? { output: answer.interfaceName } : {}),
    };
    return (['output', 'postrouting'] as const).map((hook) => packetFate(chains, hook, packet));
  });
  const by = (isDropped: 'yes' | 'maybe'): readonly string[] => [
    ...new Set(fates.filter((fate) => fate.isDropped === isDropped).flatMap((fate) => fate.by)),
  ];
  return { drops: by('yes'), mayDrop: by('maybe') };
}

/** A rule for one of the VIPs alone: one for a subnet that a VIP is in is its host's own affair, and answers go by it as well. */
function sourceRule({ priority, source, table }: Rule, vips: Vips): readonly string[] {
  const vip = vips.find(({ address }) => source === `${address}/${address.includes(':') ? 128 : 32}`);
  if (vip === undefined || table === RouteTable.Main) return [];
  return [`${priority}: from ${vip.address} lookup ${table}`];
}
