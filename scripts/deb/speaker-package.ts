/** What the Debian package `bgp-lb-speaker` is made of: the speaker's parts of a master's host. The daemon itself is a static pod. */
import { drainUnit } from '@bgp-lb/speaker/drain-unit';
import { speakerSysctls } from '@bgp-lb/speaker/host-files';
import { routesUnit } from '@bgp-lb/speaker/routes-unit';
import type { DebianPackage } from './debian-package.ts';
import {
  commandScript,
  commonDepends,
  maintainerScripts,
  programFiles,
  routeProtocols,
  text,
} from './program-files.ts';

const HOME = '/usr/lib/bgp-lb-speaker';

const program = [`${HOME}/node`, `${HOME}/bgp-lb-speaker.mjs`] as const;

/** The defaults of the configuration; whoever has others writes a drop-in. */
const configuration = { file: '/etc/bgp-lb/speaker.yaml', drainTimeout: 60_000 } as const;

/**
 * The package. The program is the bundle with Node.js beside it, as the router's package has it, and no single file: nothing has
 * to be unpacked into the state folder.
 * @param root of the checkout, with `dist` made
 * @param version of the package
 */
export function speakerPackage(root: string, version: string): DebianPackage {
  const programs = ['bgp-lb-speaker-bfd.mjs', 'bgp-lb-speaker-kubernetes.mjs'];
  return {
    name: 'bgp-lb-speaker',
    version,
    depends: commonDepends,
    recommends: ['iproute2'],
    section: 'net',
    summary: 'BGP-based load balancer for the Kubernetes control plane: host parts',
    description: [
      "The commands of a master's host around kubeadm (prepare, wait, manifest,",
      'drain, doctor, uninstall), and units that drain the master before the host',
      'shuts down and put routes to the virtual address there at boot. The speaker',
      'itself runs as a static pod.',
    ],
    files: [
      ...programFiles(root, 'bgp-lb-speaker', HOME, programs),
      text('/usr/sbin/bgp-lb-speaker', commandScript(HOME, 'bgp-lb-speaker'), 0o755),
      text(
        '/usr/lib/systemd/system/bgp-lb-drain.service',
        drainUnit({ program, socket: undefined, timeout: configuration.drainTimeout }),
      ),
      text('/usr/lib/systemd/system/bgp-lb-vip-route.service', routesUnit(program, configuration.file)),
      text('/usr/lib/sysctl.d/90-bgp-lb-speaker.conf', speakerSysctls),
      text('/etc/iproute2/rt_protos.d/bgp-lb-speaker.conf', routeProtocols),
    ],
    folders: [{ path: '/etc/bgp-lb', mode: 0o750 }],
    conffiles: ['/etc/iproute2/rt_protos.d/bgp-lb-speaker.conf'],
    scripts: maintainerScripts(root, 'speaker'),
  };
}
