import { isDeepStrictEqual } from 'node:util';
import { readRegularFile, UsageError } from '@bgp-lb/daemon';
import { parseAllDocuments } from 'yaml';

type Mapping = Readonly<Record<string, unknown>>;

/** Octets of a kubeadm configuration that are read at most. */
const MAX_SIZE = 256 * 1024;

const KUBEADM_API_VERSION = 'kubeadm.k8s.io/v1beta4';

/** Kinds that `kubeadm init` and `kubeadm join` read, with their apiVersion. */
const KINDS: Readonly<Record<string, string>> = {
  InitConfiguration: KUBEADM_API_VERSION,
  ClusterConfiguration: KUBEADM_API_VERSION,
  JoinConfiguration: KUBEADM_API_VERSION,
  KubeletConfiguration: 'kubelet.config.k8s.io/v1beta1',
  KubeProxyConfiguration: 'kubeproxy.config.k8s.io/v1alpha1',
};

/** Where what we want is a proposal: what the operator says counts. */
const PROPOSED: ReadonlySet<string> = new Set(['JoinConfiguration.timeouts.discovery']);

/** Where what must be comes from, for errors. */
const SOURCES: Readonly<Record<string, string>> = {
  'InitConfiguration.bootstrapTokens': '--token-file',
  'InitConfiguration.certificateKey': '--certificate-key-file',
  'InitConfiguration.localAPIEndpoint.advertiseAddress': 'apiServer.address of the speaker',
  'InitConfiguration.localAPIEndpoint.bindPort': 'machinePort of the speaker',
  'ClusterConfiguration.kubernetesVersion': '--kubernetes-version',
  'ClusterConfiguration.controlPlaneEndpoint': 'endpoint, or the first VIP, of the speaker',
  'ClusterConfiguration.networking.podSubnet': '--pod-subnet',
  'ClusterConfiguration.networking.serviceSubnet': '--service-subnet',
  'JoinConfiguration.discovery.bootstrapToken.token': '--token-file',
  'JoinConfiguration.discovery.bootstrapToken.apiServerEndpoint':
    'endpoint, or the first VIP, of the speaker',
  'JoinConfiguration.discovery.bootstrapToken.caCertHashes': '--ca-cert',
  'JoinConfiguration.controlPlane.certificateKey': '--certificate-key-file',
  'JoinConfiguration.controlPlane.localAPIEndpoint.advertiseAddress': 'apiServer.address of the speaker',
  'JoinConfiguration.controlPlane.localAPIEndpoint.bindPort': 'machinePort of the speaker',
};

/** The operator's own kubeadm configuration (`--kubeadm-config`), into which what must be ours is put. */
export class OwnKubeadmConfig {
  readonly #file: string;
  readonly #documents = new Map<string, Mapping>();
  readonly #faults: string[] = [];

  /** @throws UsageError for a file that is no kubeadm configuration */
  constructor(file: string, text: string) {
    this.#file = file;
    for (const document of parseAllDocuments(text)) {
      const [error] = document.errors;
      if (error !== undefined) throw new UsageError(`${file}: ${error.message}`);
      const value: unknown = document.toJS();
      if (value === null) continue;
      this.#add(value);
    }
  }

  /** @throws UsageError for one that cannot be read or used */
  static read(file: string): OwnKubeadmConfig {
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(readRegularFile(file, MAX_SIZE));
    } catch (error) {
      throw new UsageError(
        `--kubeadm-config ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    return new OwnKubeadmConfig(file, text);
  }

  /** A value of the operator's; undefined where there is none. */
  valueAt(kind: string, ...keys: readonly string[]): unknown {
    let value: unknown = this.#documents.get(kind);
    for (const key of keys) value = isMapping(value) ? value[key] : undefined;
    return value;
  }

  /** Their document of the kind, with ours in it. What contradicts ours is a fault, which `check` tells. */
  merged(kind: string, ours: Mapping): Record<string, unknown> {
    const theirs = this.#documents.get(kind) ?? {};
    return { ...asMapping(this.#merge(kind, theirs, { apiVersion: KINDS[kind], kind, ...ours })) };
  }

  /** The other documents that kubeadm reads with those of ours. */
  others(): readonly Mapping[] {
    return ['KubeletConfiguration', 'KubeProxyConfiguration'].flatMap((kind): readonly Mapping[] => {
      const document = this.#documents.get(kind);
      return document === undefined ? [] : [document];
    });
  }

  /** @throws UsageError with all that contradicts what must be ours */
  check(): void {
    if (this.#faults.length > 0) throw new UsageError(this.#faults.join('\n'));
  }

  #add(value: unknown): void {
    if (!isMapping(value)) throw new UsageError(`${this.#file}: a document is not a mapping of keys`);
    const { kind, apiVersion } = value;
    const wanted = typeof kind === 'string' ? KINDS[kind] : undefined;
    if (typeof kind !== 'string' || wanted === undefined) {
      throw new UsageError(
        `${this.#file}: kind ${JSON.stringify(kind)} is none that kubeadm reads here; allowed: ${Object.keys(KINDS).join(', ')}`,
      );
    }
    if (apiVersion !== wanted) {
      throw new UsageError(
        `${this.#file}: ${kind}.apiVersion is ${JSON.stringify(apiVersion)}; allowed: ${wanted} (kubeadm config migrate makes it)`,
      );
    }
    if (this.#documents.has(kind))
      throw new UsageError(`${this.#file}: ${kind} is there twice; allowed: once`);
    this.#documents.set(kind, value);
  }

  #merge(path: string, theirs: unknown, ours: unknown): unknown {
    if (ours === undefined) return theirs;
    if (theirs === undefined || isDeepStrictEqual(theirs, ours)) return ours;
    if (isMapping(theirs) && isMapping(ours)) {
      const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
      return Object.fromEntries(
        [...keys].map((key) => [key, this.#merge(`${path}.${key}`, theirs[key], ours[key])] as const),
      );
    }
    if (Array.isArray(theirs) && Array.isArray(ours)) {
      if (path.endsWith('.certSANs')) return [...new Set<unknown>([...ours, ...theirs])];
      if (path.endsWith('.extraArgs')) return withArguments(theirs, ours);
    }
    if (PROPOSED.has(path)) return theirs;
    const source = SOURCES[path];
    const isSecret = /token|certificateKey/i.test(path);
    const given = isSecret
      ? 'is another one'
      : `is ${JSON.stringify(theirs)} and has to be ${JSON.stringify(ours)}`;
    this.#faults.push(
      `${this.#file}: ${path} ${given}${source === undefined ? '' : ` (${source})`}; allowed: the same, or to leave it out`,
    );
    return ours;
  }
}

/** Their arguments of a program, and those of ours that they do not set. */
function withArguments(theirs: readonly unknown[], ours: readonly unknown[]): readonly unknown[] {
  const names = new Set(theirs.map((one) => (isMapping(one) ? one['name'] : undefined)));
  return [...theirs, ...ours.filter((one) => isMapping(one) && !names.has(one['name']))];
}

function asMapping(value: unknown): Mapping {
  return isMapping(value) ? value : {};
}

function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
