import type { CrossFieldFault } from '@bgp-lb/daemon';
import { ipVersion } from '@bgp-lb/protocol';
import type { RouterConfig, VrrpConfig } from './router-config.ts';

/** keepalived splits lines at spaces, and takes quotes, `!`, `#`, `$`, `@` and braces for more than letters. */
const NO_WORD = /[\p{Cc}\s"'!#$@{}\\]/u;
const isIpv6 = (address: string): boolean => ipVersion(address) === 6;

/** What VRRP cannot be with the rest of the configuration. Pure. */
export function vrrpFaults({ vrrp, vips, dataplane }: RouterConfig): CrossFieldFault[] {
  if (vrrp === undefined) return [];
  const fault = (
    key: string | number,
    message: string,
    value: unknown,
    allowed: string,
  ): CrossFieldFault => ({
    path: ['vrrp', ...String(key).split('.')].map((one) => (/^\d+$/.test(one) ? Number(one) : one)),
    message,
    value,
    allowed,
  });
  const isVip = (address: string): boolean => vips.some((vip) => vip.address === address);
  const peers = vrrp.peers.flatMap((peer, i): CrossFieldFault[] => {
    const key = `peers.${i}`;
    if (vrrp.peers.indexOf(peer) < i) return [fault(key, 'is there twice', peer, 'each load balancer once')];
    if (isVip(peer)) return [fault(key, 'is a VIP', peer, 'an address of that load balancer alone')];
    if (peer === vrrp.address) {
      return [fault(key, 'is this host itself (vrrp.address)', peer, 'the other load balancers')];
    }
    if (/^fe[89ab].:/i.test(peer)) {
      return [fault(key, 'is link-local', peer, 'another address of that load balancer')];
    }
    return isIpv6(peer) === isIpv6(vrrp.peers[0] ?? peer)
      ? []
      : [fault(key, 'is of another family than the first', peer, 'peers of one family')];
  });
  const { address } = vrrp;
  const ofPeers = isIpv6(vrrp.peers[0] ?? '');
  const family = ofPeers ? 'IPv6' : 'IPv4';
  const own =
    address === undefined || (isIpv6(address) === ofPeers && !isVip(address))
      ? []
      : [
          fault(
            'address',
            `is a VIP, or not ${family} as the peers are`,
            address,
            `an ${family} address of this host`,
          ),
        ];
  const vip = vips.some((one) => isIpv6(one.address) === ofPeers)
    ? []
    : [fault('peers', `are ${family}, and no VIP is`, vrrp.peers.join(), "peers of the VIPs' family")];
  return [...peers, ...own, ...vip, ...plainFaults(vrrp, fault), ...kernelFaults(vrrp, dataplane)];
}

function plainFaults(
  vrrp: VrrpConfig,
  fault: (key: string, message: string, value: unknown, allowed: string) => CrossFieldFault,
): CrossFieldFault[] {
  const { advertInterval, trackInterfaces, folder, runFolder } = vrrp;
  const words = Object.entries({ folder, runFolder, interface: vrrp.interface }).flatMap(([key, value]) => {
    const [bad] = NO_WORD.exec(value) ?? [];
    return bad === undefined
      ? []
      : [
          fault(
            key,
            `has ${JSON.stringify(bad)}, which keepalived.conf cannot take`,
            value,
            'other characters',
          ),
        ];
  });
  return [
    ...words,
    ...(advertInterval % 10 === 0
      ? []
      : [
          fault(
            'advertInterval',
            'is no multiple of 10 ms',
            `${advertInterval}ms`,
            'steps of 10 ms (VRRPv3)',
          ),
        ]),
    ...trackInterfaces.flatMap((name, i) =>
      trackInterfaces.indexOf(name) < i
        ? [fault(`trackInterfaces.${i}`, 'is there twice', name, 'each interface once')]
        : [],
    ),
  ];
}

/** With the kernel as data plane our own responder answers for the VIPs, on the link of VRRP, and only while this host has them. */
function kernelFaults(vrrp: VrrpConfig, dataplane: RouterConfig['dataplane']): CrossFieldFault[] {
  if (dataplane.kind !== 'kernel') return [];
  const { proxyMode, proxyInterfaces } = dataplane;
  const other = proxyInterfaces.find((name) => name !== vrrp.interface);
  return [
    ...(proxyMode === 'macvlan'
      ? [
          {
            path: ['dataplane', 'proxyMode'],
            message:
              'goes on answering while the router does not run, although VRRP may have passed the VIPs on',
            value: proxyMode,
            allowed: 'responder with vrrp',
          },
        ]
      : []),
    ...(other === undefined
      ? []
      : [
          {
            path: ['dataplane', 'proxyInterfaces'],
            message: `VRRP passes the VIPs on ${vrrp.interface} alone`,
            value: other,
            allowed: `nothing beside ${vrrp.interface}: it is answered on without being named`,
          },
        ]),
  ];
}
