import { render } from '@bgp-lb/daemon';
import type { SpeakerConfig } from '../config/speaker-config.ts';

/** What kubeadm needs beyond the speaker's configuration. */
export interface KubeadmSettings {
  /** Bootstrap token: `abcdef.0123456789abcdef`. */
  readonly token: string;
  /** 64 hexadecimal digits that encrypt the certificates which masters share. */
  readonly certificateKey: string | undefined;
  /** `sha256:HEX` of the CA's key; without one, joiners believe whoever knows the token. */
  readonly caCertHash: string | undefined;
  readonly kubernetesVersion: string | undefined;
  readonly podSubnet: string | undefined;
  readonly serviceSubnet: string | undefined;
}

/** Read by kubeadm from 1.31 on, none of which minds that the speaker's manifest is in the folder before it runs. */
const API_VERSION = 'kubeadm.k8s.io/v1beta4';

/** The API server serves on for so long after its `/readyz` turned red; kubeadm's default leaves it half a second. */
const SHUTDOWN_DELAY = '15s';

/** The configuration of `kubeadm init`. */
export function initConfiguration(config: SpeakerConfig, settings: KubeadmSettings): string {
  const { token, certificateKey, kubernetesVersion, podSubnet, serviceSubnet } = settings;
  return documents(
    {
      apiVersion: API_VERSION,
      kind: 'InitConfiguration',
      bootstrapTokens: [{ token, ttl: '24h0m0s' }],
      certificateKey,
      localAPIEndpoint: localEndpoint(config),
    },
    {
      apiVersion: API_VERSION,
      kind: 'ClusterConfiguration',
      kubernetesVersion,
      controlPlaneEndpoint: endpointOf(config),
      networking: without({ podSubnet, serviceSubnet }),
      apiServer: {
        certSANs: [
          ...config.vips.map(({ address }) => address),
          ...(config.endpoint === undefined ? [] : [config.endpoint]),
        ],
        extraArgs: [{ name: 'shutdown-delay-duration', value: SHUTDOWN_DELAY }],
      },
    },
  );
}

/** The configuration of `kubeadm join`, as a control plane member where there is a certificate key. */
export function joinConfiguration(
  config: SpeakerConfig,
  settings: KubeadmSettings,
  kind: 'control-plane' | 'worker',
): string {
  const { token, certificateKey, caCertHash } = settings;
  const trust =
    caCertHash === undefined ? { unsafeSkipCAVerification: true } : { caCertHashes: [caCertHash] };
  return documents({
    apiVersion: API_VERSION,
    kind: 'JoinConfiguration',
    discovery: { bootstrapToken: { token, apiServerEndpoint: endpointOf(config), ...trust } },
    controlPlane:
      kind === 'worker' ? undefined : without({ certificateKey, localAPIEndpoint: localEndpoint(config) }),
    // A worker waits by this; a master has waited before.
    timeouts: { discovery: kind === 'worker' ? '1h0m0s' : '5m0s' },
  });
}

/** `--control-plane-endpoint`: the name or the first VIP, with its port. */
function endpointOf({ endpoint, vips }: SpeakerConfig): string {
  const [first] = vips;
  const host = endpoint ?? first?.address ?? '';
  return `${host.includes(':') ? `[${host}]` : host}:${first?.port ?? 6443}`;
}

function localEndpoint({ vips, apiServer }: SpeakerConfig): object {
  return without({ advertiseAddress: apiServer.address, bindPort: vips[0]?.machinePort ?? 6443 });
}

function documents(...all: readonly Record<string, unknown>[]): string {
  return all.map((one) => render(without(one), 'yaml')).join('---\n');
}

function without(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
