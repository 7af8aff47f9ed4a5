/** What the Debian package `bgp-lb-router` is made of. */
import {
  networkdDropIn,
  type RouterProgram,
  routerDrainUnit,
  routerSysctls,
  routerUnit,
} from '@bgp-lb/speaker/router-host';
import { daemonPackage, text } from './daemon-package.ts';
import type { DebianPackage } from './debian-package.ts';
import { haproxyPathUnit, haproxyUnit } from './haproxy-units.ts';
import { keepalivedPathUnit, keepalivedUnit } from './keepalived-units.ts';

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

/** The package. @param root of the checkout, with `dist` made. @throws Error that says what makes a file that is missing */
export function routerPackage(root: string, version: string): DebianPackage {
  return daemonPackage({
    name: 'bgp-lb-router',
    version,
    root,
    home: HOME,
    programs: ['bgp-lb-router-bfd.mjs', 'bgp-lb-kubernetes.mjs', 'bgp-lb-router-page.json'],
    depends: ['haproxy (>= 2.6)', 'keepalived (>= 1:2.2)', 'iproute2'],
    summary: 'BGP-based load balancer for the Kubernetes control plane: router',
    description: [
      'Learns from BGP which masters serve the virtual address of a control',
      'plane, checks each by a request through it, and forwards by resilient',
      'next-hop groups of the kernel. Upstream routers hear of the address while',
      'a master serves it. Where direct return does not work it drives HAProxy.',
    ],
    files: [
      text('/usr/lib/systemd/system/bgp-lb-router.service', routerUnit(program)),
      text('/usr/lib/systemd/system/bgp-lb-router-drain.service', routerDrainUnit(program)),
      text('/usr/lib/systemd/system/bgp-lb-haproxy.service', haproxyUnit(USER)),
      text('/usr/lib/systemd/system/bgp-lb-haproxy.path', haproxyPathUnit),
      text('/usr/lib/systemd/system/bgp-lb-keepalived.service', keepalivedUnit(USER)),
      text('/usr/lib/systemd/system/bgp-lb-keepalived.path', keepalivedPathUnit),
      text('/usr/lib/systemd/networkd.conf.d/90-bgp-lb-router.conf', networkdDropIn),
      text('/usr/lib/sysctl.d/90-bgp-lb-router.conf', routerSysctls),
      text('/usr/lib/sysusers.d/bgp-lb-router.conf', sysusers),
      text('/usr/lib/tmpfiles.d/bgp-lb-router.conf', tmpfiles),
    ],
    protocolsFile: 'bgp-lb.conf',
    scriptFolder: 'router',
  });
}
