import { render } from '@bgp-lb/daemon';
import { endpointText } from '@bgp-lb/protocol';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { OwnKubeadmConfig } from './own-kubeadm-config.ts';

/** What kubeadm needs beyond the speaker's configuration. */
export interface KubeadmSettings {
  /** Bootstrap token: `abcdef.0123456789abcdef`. */
  readonly token: string;
  /** 64 hexadecimal digits that encrypt the certificates which masters share. */
  readonly certificateKey: string | undefined;
  /** `sha256:HEX` of the CA's key; without one, joiners trust any server that knows the token. */
  readonly caCertHash: string | undefined;
  readonly kubernetesVersion: string | undefined;
  readonly podSubnet: string | undefined;
  readonly serviceSubnet: string | undefined;
  /** What the operator wants besides; read by kubeadm from 1.31 on, none of which minds the speaker's manifest in its folder. */
  readonly own?: OwnKubeadmConfig | undefined;
}

/** The API server serves on for so long after its `/readyz` turned red; kubeadm's default leaves it half a second. */
const SHUTDOWN_DELAY = '15s';

/** The configuration of `kubeadm init`. @throws UsageError where the operator's own contradicts it */
export function initConfiguration(config: SpeakerConfig, settings: KubeadmSettings): string {
  const { token, certificateKey, kubernetesVersion, podSubnet, serviceSubnet } = settings;
  const own = settings.own ?? nothingOwn();
  return documents(
    own,
    own.merged('InitConfiguration', {
      bootstrapTokens: [{ token, ttl: '24h0m0s' }],
      certificateKey,
      localAPIEndpoint: localEndpoint(config),
    }),
    own.merged('ClusterConfiguration', {
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
    }),
    ...own.others(),
  );
}

/**
 * The configuration of `kubeadm join`, as a control plane member where there is a certificate key.
 * @throws UsageError where the operator's own contradicts it
 */
export function joinConfiguration(
  config: SpeakerConfig,
  settings: KubeadmSettings,
  kind: 'control-plane' | 'worker',
): string {
  const { token, certificateKey, caCertHash } = settings;
  const own = settings.own ?? nothingOwn();
  const hasHashes =
    own.valueAt('JoinConfiguration', 'discovery', 'bootstrapToken', 'caCertHashes') !== undefined;
  const trust =
    caCertHash !== undefined
      ? { caCertHashes: [caCertHash] }
      : hasHashes
        ? {}
        : { unsafeSkipCAVerification: true };
  const join = own.merged('JoinConfiguration', {
    discovery: { bootstrapToken: { token, apiServerEndpoint: endpointOf(config), ...trust } },
    controlPlane:
      kind === 'worker' ? undefined : without({ certificateKey, localAPIEndpoint: localEndpoint(config) }),
    // A worker waits by this; a master has waited before.
    timeouts: { discovery: kind === 'worker' ? '1h0m0s' : '5m0s' },
  });
  return documents(own, join);
}

function nothingOwn(): OwnKubeadmConfig {
  return new OwnKubeadmConfig('', '');
}

/** `--control-plane-endpoint`: the name or the first VIP, with its port. */
function endpointOf({ endpoint, vips }: SpeakerConfig): string {
  const [first] = vips;
  const host = endpoint ?? first?.address ?? '';
  return endpointText(host, first?.port ?? 6443);
}

function localEndpoint({ vips, apiServer }: SpeakerConfig): object {
  return without({ advertiseAddress: apiServer.address, bindPort: vips[0]?.machinePort ?? 6443 });
}

function documents(own: OwnKubeadmConfig, ...all: readonly Readonly<Record<string, unknown>>[]): string {
  own.check();
  return all.map((one) => render(without(one), 'yaml')).join('---\n');
}

function without(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
