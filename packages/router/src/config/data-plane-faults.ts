import type { CrossFieldFault } from '@bgp-lb/daemon';
import { haproxyFaults } from './haproxy-faults.ts';
import { repeated } from './repeated.ts';
import type { KernelDataplaneConfig, RouterConfig } from './router-config.ts';

/** What cannot be had of a data plane. Pure. */
export function dataPlaneFaults(config: RouterConfig): CrossFieldFault[] {
  const { dataplane } = config;
  switch (dataplane.kind) {
    case 'kernel':
      return kernelFaults(dataplane);
    case 'haproxy':
      return haproxyFaults(config, dataplane);
    case 'auto': {
      const { kernel, haproxy } = dataplane;
      return [
        ...(config.vrrp === undefined ? [] : [vrrpFault]),
        ...within('kernel', kernelFaults({ kind: 'kernel', ...kernel })),
        ...within('haproxy', haproxyFaults(config, { kind: 'haproxy', ...haproxy })),
      ];
    }
  }
}

/** Who has the VIPs while it is decided would be another one than after it. */
const vrrpFault: CrossFieldFault = {
  path: ['dataplane', 'kind'],
  message: 'cannot be decided by itself with vrrp: what keepalived is told depends on it',
  value: 'auto',
  allowed: 'kernel or haproxy',
};

/** Faults of the settings of one kind, where those of both kinds are given. */
function within(kind: string, faults: readonly CrossFieldFault[]): CrossFieldFault[] {
  return faults.map((fault) => {
    const [first, ...rest] = fault.path;
    return first === 'dataplane' ? { ...fault, path: [first, kind, ...rest] } : fault;
  });
}

function kernelFaults({
  table,
  markBase,
  protocol,
  proxyInterfaces,
  proxyMode,
}: KernelDataplaneConfig): CrossFieldFault[] {
  const faults: CrossFieldFault[] = [];
  if (table >= markBase && table < markBase + 1024) {
    const path = ['dataplane', 'table'];
    const message = 'is one of the tables of the health checks';
    faults.push({
      path,
      message,
      value: table,
      allowed: `a table outside ${markBase} to ${markBase + 1023}`,
    });
  }
  const twice = repeated(proxyInterfaces, (i) => ['dataplane', 'proxyInterfaces', i], 'each interface once');
  faults.push(...twice);
  if (proxyMode === 'macvlan' && proxyInterfaces.length === 0) {
    const path = ['dataplane', 'proxyMode'];
    const message = 'needs an interface to answer on';
    faults.push({
      path,
      message,
      value: proxyMode,
      allowed: 'macvlan with dataplane.proxyInterfaces, or responder',
    });
  }
  // 186 to 192 are the routing protocols of rtnetlink.h that sweep their own number at start.
  const taken = [11, 12, 16, 42, 186, 187, 188, 189, 192];
  if (taken.includes(protocol)) {
    const path = ['dataplane', 'protocol'];
    const message = 'is the number of another routing daemon';
    faults.push({ path, message, value: protocol, allowed: `a number but ${taken.join(', ')}` });
  }
  return faults;
}
