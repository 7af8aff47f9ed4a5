import { type Command, type CommandContext, publicKeyHashes, readSecret, UsageError } from '@bgp-lb/daemon';
import { ipVersion, isSameVersion } from '@bgp-lb/protocol';
import { parse } from 'yaml';
import { loadSpeakerConfig } from '../config/load-speaker-config.ts';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { MAX_TEXT_SIZE, readTextFile } from '../read-text-file.ts';
import { type BootstrapSettings, type Delivery, routerScript } from './bootstrap-script.ts';
import { cloudConfig, type UserData } from './cloud-config.ts';
import type { KubeadmSettings } from './kubeadm-config.ts';
import { OwnKubeadmConfig } from './own-kubeadm-config.ts';
import { loadBalancerUserData, masterUserData, type NodeSettings, workerUserData } from './user-data.ts';

const machines = ['lb', 'init', 'join', 'worker'] as const;
type Machine = (typeof machines)[number];

const kubeadmServiceSubnet = '10.96.0.0/12';

const text = (describe: string) => ({ type: 'string', requiresArg: true, describe }) as const;

/** `cloud-init lb|init|join|worker`: prints user-data. @param defaultImage the speaker's image */
export function cloudInitCommand(defaultImage: string): Command {
  return {
    syntax: 'cloud-init <machine>',
    describe: 'Print the user-data by which a machine sets itself up: lb, init, join or worker',
    takesConfig: true,
    positionals: { machine: { choices: machines, describe: 'what the machine becomes' } },
    options: {
      image: { ...text("the speaker's container image"), default: defaultImage },
      'image-archive': text(
        'masters: archive of the image that containerd imports, URL or path on the machine',
      ),
      'image-sha256': text('SHA-256 of the archive'),
      program: text(
        'masters: the single-file executable; lb: archive (tar.gz) for /opt/bgp-lb. URL or path on the machine',
      ),
      'program-sha256': text('SHA-256 of the program'),
      'bgp-password-file': text('file here with the password of the configured passwordFile'),
      'token-file': text('file here with the bootstrap token (kubeadm token generate)'),
      'certificate-key-file': text(
        'masters: file here with the certificate key (kubeadm certs certificate-key)',
      ),
      'ca-cert': text(
        "file here with the cluster's CA certificate, by which joiners check whom they join, and the lb whom it sends clients to",
      ),
      'ca-key': text('init: file here with the key of --ca-cert, for a CA that is made beforehand'),
      'kubernetes-version': text('init: for kubeadm, as in v1.36.0'),
      'pod-subnet': text('init: for kubeadm'),
      'service-subnet': text("init: for kubeadm; needed where the masters' own addresses are IPv6"),
      'kubeadm-config': text(
        "a kubeadm configuration of your own, into which the machine's is merged; what contradicts it is named",
      ),
      'router-config': text('lb: the router.yaml to put on the machine'),
    },
    run(context) {
      const machine = machines.find((one) => one === context.args['machine']);
      if (machine === undefined) throw new UsageError(`which machine? allowed: ${machines.join(', ')}`);
      context.write(
        cloudConfig(machine === 'lb' ? loadBalancer(context) : node(context, machine, defaultImage)),
      );
      return 0;
    },
  };
}

function node(context: CommandContext, machine: Exclude<Machine, 'lb'>, defaultImage: string): UserData {
  const config = loadSpeakerConfig(context);
  const document: unknown = parse(readTextFile(context.configFile));
  const isMaster = machine !== 'worker';
  const settings: NodeSettings = {
    config,
    document: typeof document === 'object' && document !== null ? { ...document } : {},
    bootstrap: bootstrapSettings(context, config, machine, defaultImage),
    kubeadm: kubeadmSettings(context, config, machine),
    password: passwordFor(
      context,
      config.routers.some(({ passwordFile }) => passwordFile !== undefined) && isMaster,
    ),
    authority: authorityOf(context, machine),
  };
  return isMaster ? masterUserData(settings) : workerUserData(settings);
}

function bootstrapSettings(
  context: CommandContext,
  { bootstrap }: SpeakerConfig,
  role: BootstrapSettings['role'],
  defaultImage: string,
): BootstrapSettings {
  return {
    role,
    image: argument(context, 'image') ?? defaultImage,
    program: delivery(context, 'program', 'program-sha256'),
    imageArchive: delivery(context, 'image-archive', 'image-sha256'),
    marker: bootstrap.markers[0] ?? '',
    hasAuthority: argument(context, 'ca-key') !== undefined,
  };
}

function kubeadmSettings(
  context: CommandContext,
  config: SpeakerConfig,
  machine: Exclude<Machine, 'lb'>,
): KubeadmSettings {
  const certificate = argument(context, 'ca-cert');
  const ownFile = argument(context, 'kubeadm-config');
  const own = ownFile === undefined ? undefined : OwnKubeadmConfig.read(ownFile);
  const hashes = own?.valueAt('JoinConfiguration', 'discovery', 'bootstrapToken', 'caCertHashes');
  if (certificate === undefined && hashes === undefined) {
    context.say(
      'NOTE: without --ca-cert joiners cannot check whom they join: whoever knows the token can answer for the cluster',
    );
  }
  return {
    token: secretLike(context, 'token-file', /^[a-z0-9]{6}\.[a-z0-9]{16}$/, 'abcdef.0123456789abcdef'),
    certificateKey:
      machine === 'worker'
        ? undefined
        : secretLike(context, 'certificate-key-file', /^[0-9a-f]{64}$/, '64 hexadecimal digits'),
    caCertHash:
      certificate === undefined
        ? undefined
        : `sha256:${publicKeyHashes(fileArgument(context, 'ca-cert'))[0] ?? ''}`,
    kubernetesVersion: argument(context, 'kubernetes-version'),
    podSubnet: argument(context, 'pod-subnet'),
    serviceSubnet: machine === 'init' ? serviceSubnet(context, config, own) : undefined,
    own,
  };
}

/** kube-apiserver ends where the first network of Services is not of the family of its own address, and kubeadm's default is IPv4. */
function serviceSubnet(
  context: CommandContext,
  { apiServer, routers }: SpeakerConfig,
  own: OwnKubeadmConfig | undefined,
): string | undefined {
  const theirs = own?.valueAt('ClusterConfiguration', 'networking', 'serviceSubnet');
  const subnet = argument(context, 'service-subnet') ?? (typeof theirs === 'string' ? theirs : undefined);
  // Where no address is configured it is one that leads to the routers: of one family, unless they have both.
  const [key, addresses] =
    apiServer.address === undefined
      ? ['routers[].address', routers.map((one) => one.address)]
      : ['apiServer.address', [apiServer.address]];
  const [first = ''] = (subnet ?? kubeadmServiceSubnet).split(',');
  const [address = ''] = addresses;
  if (addresses.some((one) => isSameVersion(one, first))) return subnet;
  const value = subnet ?? `is not given, and kubeadm's default is ${kubeadmServiceSubnet}`;
  const family = ipVersion(address) === 6 ? 'IPv6' : 'IPv4';
  throw new UsageError(
    `--service-subnet ${value}: of another family than ${key} ${address}; allowed: an ${family} network, alone or first`,
  );
}

function authorityOf(context: CommandContext, machine: Machine): NodeSettings['authority'] {
  const key = argument(context, 'ca-key');
  if (key === undefined) return undefined;
  const certificate = argument(context, 'ca-cert');
  if (machine !== 'init' || certificate === undefined) {
    throw new UsageError('--ca-key is for the machine init, with --ca-cert');
  }
  return { certificate: fileArgument(context, 'ca-cert'), key: fileArgument(context, 'ca-key') };
}

function loadBalancer(context: CommandContext): UserData {
  if (argument(context, 'router-config') === undefined)
    throw new UsageError('the machine lb needs --router-config');
  const program = delivery(context, 'program', 'program-sha256');
  if (program === undefined) throw new UsageError('the machine lb needs --program and --program-sha256');
  const routerConfig = fileArgument(context, 'router-config');
  const passwordFiles = passwordFilesIn(parse(routerConfig));
  return loadBalancerUserData({
    routerConfig,
    passwordFiles,
    password: passwordFor(context, passwordFiles.length > 0),
    authority: authorityOfLoadBalancer(context, parse(routerConfig)),
    script: routerScript(program),
  });
}

/** The CA certificate and where the router looks for it (`healthCheck.caFile`). */
function authorityOfLoadBalancer(
  context: CommandContext,
  document: unknown,
): Parameters<typeof loadBalancerUserData>[0]['authority'] {
  const certificate = argument(context, 'ca-cert');
  if (certificate === undefined) {
    context.say(
      "NOTE: without --ca-cert the router takes any TLS server for an API server until the cluster's ca.crt is put where healthCheck.caFile says",
    );
    return undefined;
  }
  const pem = fileArgument(context, 'ca-cert');
  if (publicKeyHashes(pem).length === 0) throw new UsageError(`--ca-cert ${certificate} has no certificate`);
  const section: unknown =
    typeof document === 'object' && document !== null ? Reflect.get(document, 'healthCheck') : undefined;
  const path: unknown =
    typeof section === 'object' && section !== null ? Reflect.get(section, 'caFile') : undefined;
  return { path: typeof path === 'string' ? path : DEFAULT_CA_FILE, certificate: pem };
}

/** Default of the router's `healthCheck.caFile`. */
const DEFAULT_CA_FILE = '/etc/bgp-lb/ca.crt';

/** The `passwordFile`s of a router's neighbors, without repetition. */
function passwordFilesIn(document: unknown): readonly string[] {
  const neighbors: unknown =
    typeof document === 'object' && document !== null ? Reflect.get(document, 'neighbors') : undefined;
  const files = (Array.isArray(neighbors) ? neighbors : []).flatMap((neighbor: unknown) => {
    const file: unknown =
      typeof neighbor === 'object' && neighbor !== null ? Reflect.get(neighbor, 'passwordFile') : undefined;
    return typeof file === 'string' ? [file] : [];
  });
  return [...new Set(files)];
}

function passwordFor(context: CommandContext, isNeeded: boolean): string | undefined {
  const path = argument(context, 'bgp-password-file');
  if (path !== undefined) return readSecret(path);
  if (isNeeded) throw new UsageError('the configuration names a passwordFile: --bgp-password-file is needed');
  return undefined;
}

function delivery(context: CommandContext, name: string, hashName: string): Delivery | undefined {
  const source = argument(context, name);
  const sha256 = argument(context, hashName);
  if (source === undefined && sha256 === undefined) return undefined;
  if (source === undefined || sha256 === undefined) {
    throw new UsageError(`--${name} and --${hashName} belong together`);
  }
  if (!/^https?:\/\//.test(source) && !source.startsWith('/')) {
    throw new UsageError(
      `--${name} ${source} is read on the machine, from no folder that is known here; allowed: an absolute path there, or a URL`,
    );
  }
  if (!/^[0-9a-f]{64}$/.test(sha256)) {
    throw new UsageError(`--${hashName} ${sha256} is not a SHA-256; allowed: 64 hexadecimal digits`);
  }
  return { source, sha256 };
}

function secretLike(context: CommandContext, name: string, pattern: RegExp, allowed: string): string {
  const path = argument(context, name);
  if (path === undefined) throw new UsageError(`--${name} is needed`);
  const secret = readSecret(path);
  if (!pattern.test(secret))
    throw new UsageError(`--${name} ${path} holds something else; allowed: ${allowed}`);
  return secret;
}

/** The text of the file that an option names. */
function fileArgument(context: CommandContext, name: string): string {
  try {
    return readTextFile(argument(context, name) ?? '');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--${name} ${reason}; allowed: a file of at most ${MAX_TEXT_SIZE} octets`);
  }
}

function argument({ args }: CommandContext, name: string): string | undefined {
  const value = args[name];
  if (Array.isArray(value)) throw new UsageError(`--${name} is given more than once`);
  return value === undefined ? undefined : String(value);
}
