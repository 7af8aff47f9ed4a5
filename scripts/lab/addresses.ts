/**
 * The lab's addresses and AS numbers.
 *
 *   10.0.0.0/24  masters .11 to .26, load balancers .10 and .9, upstream router .1 (everyone's gateway)
 *   10.0.1.0/24  load balancers .10 and .9, upstream router .1
 *   10.0.2.0/24  client .2, upstream router .1
 *   10.100.0.1   the VIP, in no subnet
 */

export const vipAddress = '10.100.0.1';
export const localAsn = 64512;
export const upstreamAsn = 65001;
/** kubeadm's default for the address of the Service `kubernetes`: the first of 10.96.0.0/12. */
export const serviceAddress = '10.96.0.1';
export const maxMasters = 16;

/** The subnets, each a bridge of the switch by the same name. */
export const subnets = {
  masters: { prefix: '10.0.0', length: 24 },
  uplink: { prefix: '10.0.1', length: 24 },
  clients: { prefix: '10.0.2', length: 24 },
} as const;

/** A subnet of the lab. */
export type SubnetName = keyof typeof subnets;

/** The address of a host number in a subnet, with the subnet's length: `10.0.0.11/24`. */
export function subnetAddress(subnet: SubnetName, host: number): string {
  return `${subnets[subnet].prefix}.${host}/${subnets[subnet].length}`;
}

/** The host number of master n (1 to 16). */
export function masterNumber(n: number): number {
  return 10 + n;
}

/** The host number of load balancer n (1 or 2). */
export function loadBalancerNumber(n: number): number {
  return 11 - n;
}
