/** What the Debian package `bgp-lb-speaker` is made of: the speaker's parts of a master's host. The daemon itself is a static pod. */
import { DRAIN_UNIT, drainUnit } from '@bgp-lb/speaker/drain-unit';
import { speakerSysctls } from '@bgp-lb/speaker/host-files';
import { routesUnit } from '@bgp-lb/speaker/routes-unit';
import { daemonPackage, text } from './daemon-package.ts';
import type { DebianPackage } from './debian-package.ts';

const HOME = '/usr/lib/bgp-lb-speaker';

const program = [`${HOME}/node`, `${HOME}/bgp-lb-speaker.mjs`] as const;

/** The defaults of the configuration; a site that has others writes a drop-in. */
const configuration = { file: '/etc/bgp-lb/speaker.yaml', drainTimeout: 60_000 } as const;

/** The package. @param root of the checkout, with `dist` made. @throws Error that says what makes a file that is missing */
export function speakerPackage(root: string, version: string): DebianPackage {
  const unit = drainUnit({ program, socket: undefined, timeout: configuration.drainTimeout });
  return daemonPackage({
    name: 'bgp-lb-speaker',
    version,
    root,
    home: HOME,
    programs: ['bgp-lb-speaker-bfd.mjs', 'bgp-lb-kubernetes.mjs'],
    summary: 'BGP-based load balancer for the Kubernetes control plane: host parts',
    description: [
      "The commands of a master's host around kubeadm (prepare, wait, manifest,",
      'drain, doctor, uninstall), and units that drain the master before the host',
      'shuts down and put routes to the virtual address there at boot. The speaker',
      'itself runs as a static pod.',
    ],
    files: [
      text(`/usr/lib/systemd/system/${DRAIN_UNIT}`, unit),
      text('/usr/lib/systemd/system/bgp-lb-vip-route.service', routesUnit(program, configuration.file)),
      text('/usr/lib/sysctl.d/90-bgp-lb-speaker.conf', speakerSysctls),
    ],
    protocolsFile: 'bgp-lb-speaker.conf',
    scriptFolder: 'speaker',
  });
}
