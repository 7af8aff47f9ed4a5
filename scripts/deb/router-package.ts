/** What the Debian package `bgp-lb-router` is made of. */
import {
  networkdDropIn,
  type RouterProgram,
  routerDrainUnit,
  routerSysctls,
  routerUnit,
} from '@bgp-lb/speaker/router-host';
import type { DebianPackage } from './debian-package.ts';
import {
  commandScript,
  commonDepends,
  maintainerScripts,
  programFiles,
  routeProtocols,
  text,
} from './program-files.ts';

const HOME = '/usr/lib/bgp-lb';
const USER = 'bgp-lb';

const program: RouterProgram = { command: `${HOME}/node ${HOME}/bgp-lb-router.mjs`, user: USER };

const sysusers = `u ${USER} - "bgp-lb router" /var/lib/bgp-lb -
`;

/** Its files are root's, and the router may read them. Others may not: keys of BGP sessions are beside the configuration. */
const tmpfiles = `d /etc/bgp-lb 0750 root ${USER} -
z /etc/bgp-lb/router.yaml 0640 root ${USER} -
z /etc/bgp-lb/bgp-password 0640 root ${USER} -
`;

/**
 * The package. Node.js is in it: the one that npm brought, which the tests have run with. It is no single-file executable, as the
 * speaker's is for hosts without a package: here koffi's native part lies beside the program, root's and read-only, and nothing has
 * to be unpacked into a folder that the router may write to.
 * @param root of the checkout, with `dist` made
 * @param version of the package
 */
export function routerPackage(root: string, version: string): DebianPackage {
  return {
    name: 'bgp-lb-router',
    version,
    depends: commonDepends,
    recommends: ['iproute2'],
    section: 'net',
    summary: 'BGP-based load balancer for the Kubernetes control plane: router',
    description: [
      'Learns from BGP which masters serve the virtual address of a control',
      'plane, checks each by a request through it, and forwards by resilient',
      'next-hop groups of the kernel. Upstream routers hear of the address while',
      'a master serves it.',
    ],
    files: [
      ...programFiles(root, 'bgp-lb-router', HOME, ['bgp-lb-router-bfd.mjs']),
      text('/usr/sbin/bgp-lb-router', commandScript(HOME, 'bgp-lb-router'), 0o755),
      text('/usr/lib/systemd/system/bgp-lb-router.service', routerUnit(program)),
      text('/usr/lib/systemd/system/bgp-lb-router-drain.service', routerDrainUnit(program)),
      text('/usr/lib/systemd/networkd.conf.d/90-bgp-lb-router.conf', networkdDropIn),
      text('/usr/lib/sysctl.d/90-bgp-lb-router.conf', routerSysctls),
      text('/usr/lib/sysusers.d/bgp-lb-router.conf', sysusers),
      text('/usr/lib/tmpfiles.d/bgp-lb-router.conf', tmpfiles),
      text('/etc/iproute2/rt_protos.d/bgp-lb.conf', routeProtocols),
    ],
    folders: [{ path: '/etc/bgp-lb', mode: 0o750 }],
    conffiles: ['/etc/iproute2/rt_protos.d/bgp-lb.conf'],
    scripts: maintainerScripts(root, 'router'),
  };
}
