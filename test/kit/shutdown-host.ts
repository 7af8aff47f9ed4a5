/**
 * What is on a machine whose shutdown is looked at: it is load balancer and master at once, each by an address of its own, with
 * stand-ins for network, container runtime and kubelet, each of which tells the witness (shutdown-witness-main.ts) that it stops.
 */

/** How the witness names what is announced by the machine. */
export const announced = { router: '10.9.0.10 10.100.0.1/32', speaker: '10.9.0.2 10.100.0.2/32' } as const;

const tell = (what: string): string => `ExecStop=/bin/bash -c 'echo ${what} >/dev/tcp/10.9.0.1/9999'`;

/** Files of the machine by their paths. */
export const shutdownFiles: Readonly<Record<string, string>> = {
  '/etc/bgp-lb/router.yaml': `apiVersion: bgp-lb.dev/v1alpha1
kind: Router
asn: 64512
vips: [{ address: 10.100.0.1, port: 6443, machinePort: 6443 }]
neighbors:
  - { name: m3, role: master, address: 10.9.0.3, asn: 64512, ttlSecurityHops: 0 }
  - { name: upstream, role: upstream, address: 10.9.0.1, asn: 64513, ttlSecurityHops: 0 }
`,
  // /var/lib/bgp-lb and /run/bgp-lb are the router's.
  '/etc/bgp-lb/speaker.yaml': `apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: join
asn: 64513
vips: [{ address: 10.100.0.2, port: 6443, machinePort: 6443 }]
routers: [{ address: 10.9.0.1, asn: 64513, sourceAddress: 10.9.0.2, ttlSecurityHops: 0 }]
apiServer: { address: 10.9.0.2 }
bootstrap: { markers: [/var/lib/bgp-lb-speaker/bootstrapped], stateDir: /var/lib/bgp-lb-speaker }
drain: { file: /run/bgp-lb-speaker/drain }
api: { socket: /run/bgp-lb-speaker/speaker.sock }
`,
  '/var/lib/bgp-lb-speaker/bootstrapped': '',
  '/etc/systemd/system/bgp-lb-drain.service.d/socket.conf':
    '[Service]\nEnvironment=BGP_LB_SOCKET=/run/bgp-lb-speaker/speaker.sock\n',
  // The package's waits 10 s for packets to take another way.
  '/etc/systemd/system/bgp-lb-router-drain.service.d/wait.conf':
    '[Service]\nExecStop=\nExecStop=-/usr/sbin/bgp-lb-router drain --wait 1s\n',
  '/opt/api-server.mjs': `import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
const [key, cert] = ['key', 'crt'].map((name) => readFileSync('/etc/kubernetes/pki/apiserver.' + name));
createServer({ key, cert }, (_, response) => response.end('ok')).listen(6443);
`,
  '/etc/systemd/system/network-stand-in.service': `[Unit]
Before=network.target
Wants=network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/ip address add 10.9.0.10/24 dev eth0
ExecStart=/bin/ip address add 10.9.0.2/24 dev eth0
ExecStart=/bin/ip link set eth0 up
${tell('network')}
`,
  // The pods end with it, as with a runtime that its containers do not outlive: the worst case.
  '/etc/systemd/system/containerd.service': `[Unit]
After=network.target
[Service]
ExecStart=/bin/sh -c '/usr/lib/bgp-lb-speaker/node /opt/api-server.mjs & bgp-lb-speaker run & wait'
${tell('containerd')}
`,
  '/etc/systemd/system/kubelet.service': `[Unit]
Wants=containerd.service network-online.target
After=containerd.service network-online.target
[Service]
ExecStart=/bin/sleep infinity
${tell('kubelet')}
`,
};
