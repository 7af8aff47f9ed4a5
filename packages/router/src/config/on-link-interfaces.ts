import type { RouterConfig } from './router-config.ts';

/** Where our own responder answers for the VIPs: as configured, or with VRRP on its link. Other data planes have the VIPs themselves. */
export function onLinkInterfaces({
  dataplane,
  vrrp,
}: Pick<RouterConfig, 'dataplane' | 'vrrp'>): readonly string[] {
  if (dataplane.kind !== 'kernel') return [];
  return vrrp === undefined ? dataplane.proxyInterfaces : [vrrp.interface];
}
