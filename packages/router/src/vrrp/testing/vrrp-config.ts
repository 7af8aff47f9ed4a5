import type { VrrpConfig } from '../../config/router-config.ts';
import { type VirtualRouterSettings, virtualRouterSettings } from '../virtual-router-settings.ts';

/** The keys of `vrrp` of a load balancer that has one peer. */
export function vrrpConfig(over: Partial<VrrpConfig> = {}): VrrpConfig {
  return {
    interface: 'eth0',
    peers: ['10.0.0.3'],
    priority: 240,
    advertInterval: 200,
    missedAdverts: 3,
    preemptDelay: 5000,
    trackInterfaces: [],
    folder: '/var/lib/bgp-lb/keepalived',
    runFolder: '/run/bgp-lb-keepalived',
    ...over,
  };
}

/** The same as its files follow from it, on 10.0.0.2. */
export function vrrpSettings(
  over: Partial<VrrpConfig> = {},
  kind: 'kernel' | 'haproxy' = 'haproxy',
  vips: readonly string[] = ['10.0.0.100'],
): VirtualRouterSettings {
  const own = [
    { address: '10.0.0.2', prefixLength: 24 },
    { address: 'fd00::2', prefixLength: 64 },
  ];
  const settings = virtualRouterSettings(vrrpConfig(over), kind, vips, own);
  if (typeof settings === 'string') throw new Error(settings);
  return settings;
}
