import { isIP } from 'node:net';
import type { CrossFieldFault } from '@bgp-lb/daemon';
import { isSameVersion } from '@bgp-lb/protocol';
import type { RouterConfig } from './router-config.ts';

type Vip = RouterConfig['vips'][number];

/** What is wrong with where the members of VIPs come from. Pure. */
export function memberFaults(config: RouterConfig): CrossFieldFault[] {
  const { vips, kubernetes } = config;
  return [
    ...vips.flatMap((vip, i) => [
      ...sourceFaults(vip, i),
      ...staticFaults(vip, i, vips),
      ...(vip.members.configMap !== undefined && kubernetes === undefined ? [apiFault(i)] : []),
    ]),
    ...(kubernetes === undefined ? [] : accessFaults(kubernetes)),
  ];
}

/** Whether a VIP has a source that is no BGP neighbor. */
export function hasList({ members }: Vip): boolean {
  return members.static.length > 0 || members.configMap !== undefined;
}

function sourceFaults(vip: Vip, i: number): CrossFieldFault[] {
  if (vip.members.bgp || hasList(vip)) return [];
  const allowed = 'bgp: true, or static or configMap beside it';
  return [{ path: ['vips', i, 'members'], message: 'has no source', value: 'bgp: false', allowed }];
}

function staticFaults(
  { address: vip, members }: Vip,
  i: number,
  vips: RouterConfig['vips'],
): CrossFieldFault[] {
  return members.static.flatMap(({ address: value }, j): CrossFieldFault[] => {
    const path = ['vips', i, 'members', 'static', j, 'address'];
    if (members.static.findIndex((one) => one.address === value) < j) {
      return [{ path, message: 'is there twice', value, allowed: 'each member once' }];
    }
    if (isIP(value) === 0) return [];
    if (vips.some((one) => one.address === value)) {
      return [{ path, message: 'is a VIP', value, allowed: 'an address of one machine' }];
    }
    if (isSameVersion(value, vip)) return [];
    const message = `is of another address family than the VIP ${vip}`;
    return [{ path, message, value, allowed: 'an address of the family of the VIP, or a host name' }];
  });
}

function apiFault(i: number): CrossFieldFault {
  const message = 'needs the Kubernetes API, and nothing says how it is reached';
  return {
    path: ['vips', i, 'members', 'configMap'],
    message,
    value: 'configMap',
    allowed: 'with `kubernetes`',
  };
}

function accessFaults({
  kubeconfig,
  caFile,
  tokenFile,
  servers,
}: NonNullable<RouterConfig['kubernetes']>): CrossFieldFault[] {
  const allowed = 'kubeconfig, or caFile, tokenFile and servers';
  const fault = (message: string, value: string): CrossFieldFault[] => [
    { path: ['kubernetes'], message, value, allowed },
  ];
  if (kubeconfig !== undefined) {
    const beside = caFile ?? tokenFile;
    return beside === undefined
      ? []
      : fault('has a kubeconfig, which says CA and credentials, and one of these besides', beside);
  }
  if (caFile === undefined || tokenFile === undefined)
    return fault('has neither a kubeconfig nor caFile and tokenFile', String(caFile ?? tokenFile));
  return servers.length === 0 ? fault('has a token and no servers', tokenFile) : [];
}
