/** API group of all our kinds. */
export const GROUP = 'bgp-lb.dev';
export const VERSION = 'v1alpha1';
export const API_VERSION: string = `${GROUP}/${VERSION}`;

/** Our kinds, with what URLs call them. */
export const RESOURCES = {
  MachineLoadBalancer: 'machineloadbalancers',
  BGPLoadBalancer: 'bgploadbalancers',
  HAProxyLoadBalancer: 'haproxyloadbalancers',
  ExternalLoadBalancer: 'externalloadbalancers',
  LoadBalancerInstance: 'loadbalancerinstances',
} as const;

export type OwnKind = keyof typeof RESOURCES;
