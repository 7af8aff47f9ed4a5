import { openApiWarnings } from '@bgp-lb/daemon';
import { isSameVersion, parseIpAddress, parsePrefix, prefixContains } from '@bgp-lb/protocol';
import { familyName } from './family-faults.ts';
import { onLinkInterfaces } from './on-link-interfaces.ts';
import type { RouterConfig } from './router-config.ts';

/** What is allowed and yet seldom wanted, one sentence each. */
export function configWarnings(config: RouterConfig): string[] {
  const { vips, neighbors, api } = config;
  const upstreams = neighbors.flatMap((neighbor) => (neighbor.role === 'upstream' ? [neighbor] : []));
  const keepsAndDrops = upstreams
    .filter(({ bfd, gracefulRestart }) => bfd !== false && gracefulRestart === true)
    .map(
      ({ name }) =>
        `neighbor ${name}: graceful restart and BFD together: when this process ends, BFD may drop what graceful restart keeps (FRR keeps it; BIRD needs "bfd graceful")`,
    );
  const told = upstreams.flatMap(({ address, otherNextHop }) => [address, otherNextHop ?? address]);
  const untold =
    upstreams.length === 0 ? [] : vips.filter((vip) => !told.some((one) => isSameVersion(vip.address, one)));
  return [
    ...keepsAndDrops,
    ...openApiWarnings(api.listen),
    ...unansweredVips(config),
    ...untold.map(
      ({ address }) =>
        `VIP ${address}: no upstream hears of it: none has an ${familyName(address, 'own')} session, or otherNextHop`,
    ),
  ];
}

/** Who is on the masters' link asks for a VIP of its prefix by ARP or NDP, and gets no answer. */
function unansweredVips(config: RouterConfig): string[] {
  const { vips, neighbors, dataplane } = config;
  if (dataplane.kind !== 'kernel' || onLinkInterfaces(config).length > 0) return [];
  return vips.flatMap(({ address }) => {
    const around = neighbors.find(
      (one) =>
        one.role === 'master' &&
        one.range !== undefined &&
        prefixContains(parsePrefix(one.range), parseIpAddress(address)),
    );
    if (around?.role !== 'master') return [];
    return [
      `VIP ${address}: lies in the range ${around.range} of ${around.name}, and dataplane.proxyInterfaces is empty: hosts of that subnet look for it on their link, where nothing answers`,
    ];
  });
}
