import { execFileSync } from 'node:child_process';

/** A configuration with everything that its unit has to allow. */
export const routerConfig: string = `apiVersion: bgp-lb.dev/v1alpha1
kind: Router
asn: 64512
vips: [{ address: 10.100.0.1, port: 6443, machinePort: 6443 }]
neighbors:
  - { name: masters, role: master, range: 10.0.0.0/24, asn: 64512, passwordFile: /etc/bgp-lb/bgp-password }
  - { name: m9, role: master, address: 10.0.1.19, asn: 64512, bfd: { transmitInterval: 50ms, receiveInterval: 50ms } }
dataplane: { proxyInterfaces: [eth0] }
`;

export const speakerConfig: string = `apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: join
asn: 64512
vips: [{ address: 10.100.0.2, port: 6443, machinePort: 6443 }]
routers: [{ address: 10.0.0.1, asn: 64512 }]
routeToVip: true
`;

/** What is of the speaker on a host, but for its configuration. */
export const speakerPlaces: readonly string[] = [
  '/usr/lib/bgp-lb-speaker',
  '/usr/sbin/bgp-lb-speaker',
  '/usr/share/doc/bgp-lb-speaker',
  '/usr/lib/sysctl.d/90-bgp-lb-speaker.conf',
  '/etc/sysctl.d/90-bgp-lb-speaker.conf',
  '/etc/iproute2/rt_protos.d/bgp-lb-speaker.conf',
  '/etc/kubernetes/manifests/bgp-lb-speaker.yaml',
  '/var/lib/bgp-lb',
  '/run/bgp-lb',
];

/** The owners of a package's files, and which of them an upgrade leaves as an administrator has changed them. */
export function inspect(file: string): { readonly owners: readonly string[]; readonly conffiles: string } {
  const contents = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' });
  const owners = contents
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/)[1] ?? '');
  const conffiles = execFileSync('dpkg-deb', ['--info', file, 'conffiles'], { encoding: 'utf8' });
  return { owners: [...new Set(owners)], conffiles };
}
