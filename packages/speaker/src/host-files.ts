import { existsSync, mkdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { readTextFile } from './read-text-file.ts';

/** Where the speaker has files on a host besides its configuration and its state. */
export const hostFiles = {
  sysctls: '/etc/sysctl.d/90-bgp-lb-speaker.conf',
  drainUnit: '/etc/systemd/system/bgp-lb-drain.service',
  manifest: '/etc/kubernetes/manifests/bgp-lb-speaker.yaml',
} as const;

/**
 * What must hold from the boot on, before the pod runs: no link answers ARP for an address of `lo`, nor asks with one as the
 * sender. The effective value is the larger one of `all` and the link.
 */
export const speakerSysctls = `# No link answers ARP for an address of lo, nor asks with one as the sender.
net.ipv4.conf.all.arp_ignore = 1
net.ipv4.conf.all.arp_announce = 2
`;

/** The same as a file of ours in /etc, for hosts without the package. */
export const sysctlFile: string = `# Written by bgp-lb-speaker prepare, removed by bgp-lb-speaker uninstall.
${speakerSysctls}`;

/** Writes a file whole: a reader sees the old one or the new one. @returns false when it was so already */
export function placeFile(path: string, content: string, mode = 0o644): boolean {
  if (existsSync(path) && readTextFile(path) === content) return false;
  mkdirSync(dirname(path), { recursive: true });
  // Hidden: the kubelet reads whatever else it finds in its folder.
  const next = `${dirname(path)}/.${path.slice(path.lastIndexOf('/') + 1)}.new`;
  writeFileSync(next, content, { mode });
  renameSync(next, path);
  return true;
}

/** Removes a file or a folder. @returns whether there was one */
export function removePath(path: string): boolean {
  if (!existsSync(path)) return false;
  rmSync(path, { recursive: true, force: true });
  return true;
}

/** Whether this process is in the host's own network namespace, that of process 1. */
export function isHostNetwork(): boolean {
  try {
    return readlinkSync('/proc/self/ns/net') === readlinkSync('/proc/1/ns/net');
  } catch {
    return false;
  }
}
