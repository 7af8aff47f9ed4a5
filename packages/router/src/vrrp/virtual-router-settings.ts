import { formatIpAddress, parseIpAddress, parsePrefix, prefixContains } from '@bgp-lb/protocol';
import type { DataplaneConfig, VrrpConfig } from '../config/router-config.ts';

/** What the files of keepalived follow from. */
export interface VirtualRouterSettings {
  readonly interface: string;
  /** Of the VIPs. */
  readonly vrid: number;
  /** Of the beacon by which this host says that it is able to serve. */
  readonly beaconVrid: number;
  /** Those of the peers, by address. */
  readonly peerBeacons: ReadonlyMap<string, number>;
  readonly ownAddress: string;
  readonly peers: readonly string[];
  readonly priority: number;
  /** Milliseconds. */
  readonly advertInterval: number;
  readonly missedAdverts: number;
  /** Milliseconds. */
  readonly preemptDelay: number;
  /** The VIPs, those of the peers' family first. */
  readonly vips: readonly string[];
  /** What the owner has on its interfaces: the VIPs, or a token on `lo` where others answer for them. */
  readonly owned: 'vips' | 'token';
}

/** An address of the interface. */
interface OwnAddress {
  readonly address: string;
  readonly prefixLength: number;
}

/** The VRID: as configured, or the last octet of the first VIP of the peers' family. Pure. */
export function vridOf({ vrid, peers }: Pick<VrrpConfig, 'vrid' | 'peers'>, vips: readonly string[]): number {
  if (vrid !== undefined) return vrid;
  const isIpv6 = peers[0]?.includes(':') === true;
  const first = vips.find((address) => address.includes(':') === isIpv6) ?? peers[0] ?? '';
  // An octet of 0 is no VRID.
  return parseIpAddress(first).bytes.at(-1) || 255;
}

/**
 * What follows from the configuration on this host. Pure.
 * @param own addresses that the interface has
 * @returns the settings, or why there are none, in words
 */
export function virtualRouterSettings(
  vrrp: VrrpConfig,
  kind: DataplaneConfig['kind'],
  vips: readonly string[],
  own: readonly OwnAddress[],
): VirtualRouterSettings | string {
  const { peers, priority, advertInterval, missedAdverts, preemptDelay } = vrrp;
  const isIpv6 = peers[0]?.includes(':') === true;
  const candidates = own.filter(
    ({ address }) => address.includes(':') === isIpv6 && !vips.includes(address) && !peers.includes(address),
  );
  const usable = candidates.filter(
    (one) => (vrrp.address ?? one.address) === one.address && peers.every((peer) => sharesSubnet(one, peer)),
  );
  const [first] = usable;
  if (first === undefined) {
    const isAbsent =
      vrrp.address !== undefined && !candidates.some(({ address }) => address === vrrp.address);
    return isAbsent
      ? `${vrrp.interface} does not have ${vrrp.address} (vrrp.address)`
      : `no address of ${vrrp.interface} shares a subnet with ${peers.join(', ')}: VRRP needs one link (where there is none, BGP is the answer)`;
  }
  const all = [...peers, first.address].map((one) => formatIpAddress(parseIpAddress(one))).sort();
  const vrid = vridOf(vrrp, vips);
  // Peers know each other's, since each lists all others.
  const beaconOf = (address: string): number => ((vrid + all.indexOf(address)) % 255) + 1;
  return {
    interface: vrrp.interface,
    vrid,
    beaconVrid: beaconOf(first.address),
    peerBeacons: new Map(peers.map((peer) => [peer, beaconOf(peer)])),
    ownAddress: first.address,
    peers,
    priority,
    advertInterval,
    missedAdverts,
    preemptDelay,
    vips: [...vips].sort((a, b) => rank(a, isIpv6) - rank(b, isIpv6)),
    owned: kind === 'kernel' ? 'token' : 'vips',
  };
}

function rank(address: string, isIpv6: boolean): number {
  return address.includes(':') === isIpv6 ? 0 : 1;
}

function sharesSubnet({ address, prefixLength }: OwnAddress, peer: string): boolean {
  return prefixContains(parsePrefix(`${address}/${prefixLength}`), parseIpAddress(peer));
}
