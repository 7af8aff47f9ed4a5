/**
 * The real etcd and kube-apiserver in place of the stand-in, when KUBEBUILDER_ASSETS names a folder that has both.
 * Flags, files and names are those of kubeadm's static pods, except that etcd is spoken to without TLS:
 * its network is the lab's own.
 */
import { existsSync } from 'node:fs';
import { serviceAddress } from './addresses.ts';
import type { Host } from './host.ts';
import type { HostProcess } from './host-process.ts';

const etcdClientPort = 2379;
const etcdPeerPort = 2380;

/** The folder of KUBEBUILDER_ASSETS when it has both programs. */
export function controlPlaneAssets(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folder = env['KUBEBUILDER_ASSETS'];
  if (folder === undefined || folder === '') return undefined;
  const missing = ['kube-apiserver', 'etcd'].filter((name) => !existsSync(`${folder}/${name}`));
  if (missing.length > 0) throw new Error(`KUBEBUILDER_ASSETS=${folder} has no ${missing.join(' and no ')}`);
  return folder;
}

/** A master's part of the etcd cluster. */
export interface EtcdMember {
  readonly name: string;
  readonly address: string;
  readonly dataFolder: string;
}

const peerUrl = (address: string): string => `http://${address}:${etcdPeerPort}`;

/** Arguments of etcd. `others` are the members that exist already: none for the first one. */
export function etcdArguments(member: EtcdMember, others: Readonly<Record<string, string>>): string[] {
  const cluster = { ...others, [member.name]: peerUrl(member.address) };
  return [
    `--name=${member.name}`,
    `--data-dir=${member.dataFolder}`,
    `--listen-client-urls=http://127.0.0.1:${etcdClientPort},http://${member.address}:${etcdClientPort}`,
    `--advertise-client-urls=http://${member.address}:${etcdClientPort}`,
    `--listen-peer-urls=${peerUrl(member.address)}`,
    `--initial-advertise-peer-urls=${peerUrl(member.address)}`,
    `--initial-cluster=${Object.entries(cluster)
      .map(([name, url]) => `${name}=${url}`)
      .join(',')}`,
    `--initial-cluster-state=${Object.keys(others).length === 0 ? 'new' : 'existing'}`,
    '--snapshot-count=10000',
  ];
}

/** What differs from one kube-apiserver to another. */
export interface KubeApiServerSettings {
  readonly address: string;
  readonly port: number;
  readonly pkiFolder: string;
  /** Milliseconds. */
  readonly shutdownDelay: number;
}

/** Arguments of kube-apiserver, as kubeadm's manifest has them. Anonymous access is on, which is its default. */
export function kubeApiServerArguments(settings: KubeApiServerSettings): string[] {
  const { address, port, pkiFolder, shutdownDelay } = settings;
  return [
    `--advertise-address=${address}`,
    '--allow-privileged=true',
    '--authorization-mode=Node,RBAC',
    `--client-ca-file=${pkiFolder}/ca.crt`,
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    `--etcd-servers=http://127.0.0.1:${etcdClientPort}`,
    `--secure-port=${port}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${pkiFolder}/sa.pub`,
    `--service-account-signing-key-file=${pkiFolder}/sa.key`,
    `--service-cluster-ip-range=${serviceAddress.replace(/\.\d+$/, '.0')}/12`,
    `--shutdown-delay-duration=${shutdownDelay}ms`,
    `--tls-cert-file=${pkiFolder}/apiserver.crt`,
    `--tls-private-key-file=${pkiFolder}/apiserver.key`,
  ];
}

/** Starts etcd on a master; `memberAddress` is a master whose etcd runs, undefined for the first one. */
export async function startEtcd(
  host: Host,
  assets: string,
  memberAddress: string | undefined,
): Promise<HostProcess> {
  const member = { name: host.name, address: host.address, dataFolder: host.path('var/lib/etcd') };
  const isKnown = existsSync(`${member.dataFolder}/member`);
  const others =
    memberAddress === undefined || isKnown ? {} : await addMember(host, memberAddress, peerUrl(host.address));
  return host.spawn('etcd', [`${assets}/etcd`, ...etcdArguments(member, others)]);
}

/** Adds a member through etcd's JSON gateway, as `etcdctl member add` does; gives the others' peer URLs by name. */
async function addMember(host: Host, via: string, newPeerUrl: string): Promise<Record<string, string>> {
  const program = `
    const answer = await fetch('http://${via}:${etcdClientPort}/v3/cluster/member/add',
      { method: 'POST', body: JSON.stringify({ peerURLs: ['${newPeerUrl}'] }) });
    if (!answer.ok) throw new Error(answer.status + ' ' + await answer.text());
    console.log(await answer.text());`;
  const text = await host.exec([process.execPath, '--input-type=module', '-e', program]);
  const { members } = JSON.parse(text) as { members: { name?: string; peerURLs: string[] }[] };
  return Object.fromEntries(
    members.flatMap(({ name, peerURLs: [url] }) =>
      // The new member has no name until it has started.
      name === undefined || name === '' || url === undefined ? [] : [[name, url]],
    ),
  );
}
