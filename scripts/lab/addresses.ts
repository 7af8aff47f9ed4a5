/**
 * The lab's addresses and AS numbers. A lab has one address family, or both.
 *
 *   10.0.0.0/24  fd62:6770:6c62::/64    masters .11 to .26, load balancers .10 and .9, upstream router .1 (everyone's gateway)
 *   10.0.1.0/24  fd62:6770:6c62:1::/64  load balancers .10 and .9, upstream router .1
 *   10.0.2.0/24  fd62:6770:6c62:2::/64  client .2, upstream router .1
 *   10.100.0.1   fd62:6770:6c62:64::1   the VIP, in no subnet
 *
 * The IPv6 addresses are unique local ones (RFC 4193) and end in the digits of the IPv4 ones: master 1 is ::11.
 */

export type AddressFamily = 'ipv4' | 'ipv6';

/** The subnets, each a bridge of the switch by the same name. */
export const subnetNames = ['masters', 'uplink', 'clients'] as const;

/** A subnet of the lab. */
export type SubnetName = (typeof subnetNames)[number];

interface FamilyPlan {
  readonly vip: string;
  /** Length of the prefix of one address. */
  readonly fullLength: 32 | 128;
  /** The address of the Service `kubernetes`: the first one of the Service network, which is kubeadm's default 10.96.0.0/12 for IPv4. */
  readonly service: string;
  readonly subnetLength: number;
  /** The part of its addresses before the host number. */
  readonly subnets: Readonly<Record<SubnetName, string>>;
}

const plans: Readonly<Record<AddressFamily, FamilyPlan>> = {
  ipv4: {
    vip: '10.100.0.1',
    fullLength: 32,
    service: '10.96.0.1',
    subnetLength: 24,
    subnets: { masters: '10.0.0.', uplink: '10.0.1.', clients: '10.0.2.' },
  },
  ipv6: {
    vip: 'fd62:6770:6c62:64::1',
    fullLength: 128,
    service: 'fd62:6770:6c62:60::1',
    subnetLength: 64,
    subnets: {
      masters: 'fd62:6770:6c62::',
      uplink: 'fd62:6770:6c62:1::',
      clients: 'fd62:6770:6c62:2::',
    },
  },
};

/** The VIP of a lab of that family. */
export function vipOf(family: AddressFamily): string {
  return plans[family].vip;
}

/** The VIP as the prefix that is advertised: `10.100.0.1/32`. */
export function vipPrefixOf(family: AddressFamily): string {
  return `${plans[family].vip}/${plans[family].fullLength}`;
}

/** The address of the Service `kubernetes`. */
export function serviceOf(family: AddressFamily): string {
  return plans[family].service;
}

/** The address of a host number in a subnet: `10.0.0.11`. */
export function hostAddress(family: AddressFamily, subnet: SubnetName, host: number): string {
  return `${plans[family].subnets[subnet]}${host}`;
}

/** The same with the subnet's length: `10.0.0.11/24`. */
export function interfaceAddress(family: AddressFamily, subnet: SubnetName, host: number): string {
  return `${hostAddress(family, subnet, host)}/${plans[family].subnetLength}`;
}

/** The subnet as a prefix: `10.0.0.0/24`. */
export function subnetRange(family: AddressFamily, subnet: SubnetName): string {
  const { subnets, subnetLength } = plans[family];
  return `${subnets[subnet]}${family === 'ipv4' ? '0' : ''}/${subnetLength}`;
}

/** The VIP of a lab that is not told otherwise. */
export const vipAddress: string = vipOf('ipv4');
/** The address of the Service `kubernetes` of such a lab. */
export const serviceAddress: string = serviceOf('ipv4');
export const localAsn = 64512;
export const upstreamAsn = 65001;
export const maxMasters = 16;

/** The host number of master n (1 to 16). */
export function masterNumber(n: number): number {
  return 10 + n;
}

/** The host number of load balancer n (1 or 2). */
export function loadBalancerNumber(n: number): number {
  return 11 - n;
}

/** The host number of the upstream router in each subnet. */
export const upstreamNumber = 1;
