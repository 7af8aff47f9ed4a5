import { render } from '@bgp-lb/daemon';
import { API_VERSION, KIND, type SpeakerConfig } from '../config/speaker-config.ts';
import { hostFiles, sysctlFile } from '../host-files.ts';
import { drainUnit } from '../host-units/drain-unit.ts';
import { type BootstrapSettings, bootstrapScript, machineFiles } from './bootstrap-script.ts';
import type { CloudFile, UserData } from './cloud-config.ts';
import { initConfiguration, joinConfiguration, type KubeadmSettings } from './kubeadm-config.ts';
import {
  networkdDropIn,
  type RouterProgram,
  routerDrainUnit,
  routerSysctls,
  routerUnit,
} from './router-host.ts';
import { bootstrapUnit, routeUnit } from './units.ts';

/** A machine of the control plane, or a worker. */
export interface NodeSettings {
  readonly config: SpeakerConfig;
  /** The configuration as it was written, with `role` replaced: what is not in it stays a default of the machine's release. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly bootstrap: BootstrapSettings;
  readonly kubeadm: KubeadmSettings;
  /** The BGP password, for the configured `passwordFile`s. */
  readonly password: string | undefined;
  /** The cluster's CA, for the first master: kubeadm takes what it finds. PEM. */
  readonly authority: { readonly certificate: string; readonly key: string } | undefined;
}

/** Where the archive of the program is unpacked. As root: files of user-data are written before there is another user. */
const routerProgram: RouterProgram = {
  command: '/opt/bgp-lb/node /opt/bgp-lb/bgp-lb-router.mjs',
  user: undefined,
};

/** Put before what is the same however it comes to a host. */
const origin = '# Written by bgp-lb-speaker cloud-init.\n';

/** User-data of a master. */
export function masterUserData(settings: NodeSettings): UserData {
  const { config, document, bootstrap, kubeadm, password, authority } = settings;
  const role = bootstrap.role === 'init' ? 'init' : 'join';
  const secrets = config.routers.flatMap(({ passwordFile }) => passwordFile ?? []);
  return {
    files: [
      file(
        machineFiles.speakerConfig,
        render({ apiVersion: API_VERSION, kind: KIND, ...document, role }, 'yaml'),
        '0600',
      ),
      ...[...new Set(secrets)].map((path) => file(path, `${password ?? ''}\n`, '0600')),
      file(
        machineFiles.kubeadmConfig,
        role === 'init'
          ? initConfiguration(config, kubeadm)
          : joinConfiguration(config, kubeadm, 'control-plane'),
        '0600',
      ),
      ...(authority === undefined || role !== 'init'
        ? []
        : [
            file(machineFiles.authority.certificate, authority.certificate, '0644'),
            file(machineFiles.authority.key, authority.key, '0600'),
          ]),
      file(hostFiles.sysctls, sysctlFile, '0644'),
      file(
        hostFiles.drainUnit,
        drainUnit({
          program: [machineFiles.program],
          socket: config.api.socket,
          timeout: config.drain.timeout,
        }),
        '0644',
      ),
      ...nodeFiles(settings),
    ],
    commands: [['sysctl', '--load', hostFiles.sysctls], ...nodeCommands(config, ['bgp-lb-drain.service'])],
  };
}

/** User-data of a worker: a way to the VIP, and kubeadm. */
export function workerUserData(settings: NodeSettings): UserData {
  const { config, kubeadm } = settings;
  return {
    files: [
      file(machineFiles.kubeadmConfig, joinConfiguration(config, kubeadm, 'worker'), '0600'),
      ...nodeFiles(settings),
    ],
    commands: nodeCommands(config, []),
  };
}

/** User-data of a load balancer. */
export function loadBalancerUserData(settings: {
  /** The text of router.yaml. */
  readonly routerConfig: string;
  /** Paths that router.yaml names, and what is in them. */
  readonly passwordFiles: readonly string[];
  readonly password: string | undefined;
  /** The cluster's CA, where the router looks for it. */
  readonly authority: { readonly path: string; readonly certificate: string } | undefined;
  /** Script that puts the program in place; see `routerScript`. */
  readonly script: string;
}): UserData {
  const { routerConfig, passwordFiles, password, authority, script } = settings;
  return {
    files: [
      file(machineFiles.routerConfig, routerConfig, '0600'),
      ...passwordFiles.map((path) => file(path, `${password ?? ''}\n`, '0600')),
      ...(authority === undefined ? [] : [file(authority.path, authority.certificate, '0644')]),
      file('/etc/sysctl.d/90-bgp-lb-router.conf', origin + routerSysctls, '0644'),
      file('/etc/systemd/networkd.conf.d/90-bgp-lb.conf', origin + networkdDropIn, '0644'),
      file(machineFiles.routerUnit, origin + routerUnit(routerProgram), '0644'),
      file(machineFiles.routerDrainUnit, origin + routerDrainUnit(routerProgram), '0644'),
      file(machineFiles.script, script, '0755'),
    ],
    commands: [
      ['sh', machineFiles.script],
      ['sysctl', '--load', '/etc/sysctl.d/90-bgp-lb-router.conf'],
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'try-restart', 'systemd-networkd.service'],
      ['systemctl', 'enable', '--now', '--no-block', 'bgp-lb-router.service', 'bgp-lb-router-drain.service'],
    ],
  };
}

function nodeFiles({ config, bootstrap }: NodeSettings): readonly CloudFile[] {
  return [
    ...(config.routeToVip ? [file(machineFiles.routeUnit, routeUnit(config), '0644')] : []),
    file(machineFiles.script, bootstrapScript(bootstrap), '0755'),
    file(machineFiles.bootstrapUnit, bootstrapUnit, '0644'),
  ];
}

function nodeCommands(
  { routeToVip }: SpeakerConfig,
  units: readonly string[],
): readonly (readonly string[])[] {
  const all = [...(routeToVip ? ['bgp-lb-vip-route.service'] : []), ...units, 'bgp-lb-bootstrap.service'];
  return [
    ['systemctl', 'daemon-reload'],
    // kubeadm takes minutes, or waits for others for hours: cloud-init does not wait for it.
    ['systemctl', 'enable', '--now', '--no-block', ...all],
  ];
}

function file(path: string, content: string, permissions: CloudFile['permissions']): CloudFile {
  return { path, content, permissions };
}
