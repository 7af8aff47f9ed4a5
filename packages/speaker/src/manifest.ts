import { dirname } from 'node:path';
import type { SpeakerConfig } from './config/speaker-config.ts';

export interface ManifestOptions {
  readonly config: SpeakerConfig;
  /** Path of the configuration file on the host. */
  readonly configFile: string;
  readonly image: string;
}

interface Mount {
  readonly path: string;
  readonly type: 'File' | 'Directory' | 'DirectoryOrCreate';
  readonly readOnly: boolean;
}

/** Seconds beyond the drain timeout that the kubelet waits before it kills. */
const GRACE = 10;

/**
 * The static pod that runs the speaker. It gets NET_ADMIN and nothing else, sees ca.crt, markers, its state and its
 * configuration, and no credential but those that it is told to use. Written as a file into the kubelet's manifest folder by rename: the kubelet reads
 * half-copied files.
 */
export function staticPod({ config, configFile, image }: ManifestOptions): object {
  const mounts = mountsOf(config, configFile);
  const named = mounts.map((mount, index) => ({ name: `host-${index}`, ...mount }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'bgp-lb-speaker',
      namespace: 'kube-system',
      labels: { 'app.kubernetes.io/name': 'bgp-lb-speaker', tier: 'control-plane' },
    },
    spec: {
      hostNetwork: true,
      priorityClassName: 'system-node-critical',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: gracePeriod(config),
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'speaker',
          image,
          imagePullPolicy: 'IfNotPresent',
          args: ['run', '--config', configFile],
          securityContext: {
            runAsUser: 0,
            runAsGroup: 0,
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
          },
          resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '192Mi' } },
          livenessProbe: {
            ...httpProbe(config, '/healthz'),
            periodSeconds: 10,
            timeoutSeconds: 5,
            failureThreshold: 6,
          },
          readinessProbe: {
            ...httpProbe(config, '/readyz'),
            periodSeconds: 5,
            timeoutSeconds: 5,
            failureThreshold: 3,
          },
          volumeMounts: named.map(({ name, path, readOnly }) => ({
            name,
            mountPath: path,
            ...(readOnly ? { readOnly } : {}),
          })),
        },
      ],
      volumes: named.map(({ name, path, type }) => ({ name, hostPath: { path, type } })),
    },
  };
}

function gracePeriod({ stopMode, drain }: SpeakerConfig): number {
  return stopMode === 'drain' ? Math.ceil(drain.timeout / 1000) + GRACE : GRACE;
}

function httpProbe({ api }: SpeakerConfig, path: string): object {
  const { host, port } = api.listen;
  const isAny = host === '0.0.0.0' || host === '::';
  return { httpGet: { host: isAny ? '127.0.0.1' : host, port, path, scheme: 'HTTP' } };
}

/**
 * ca.crt and other single files are mounted as `File`: their folders hold keys, and `FileOrCreate` would leave an empty
 * ca.crt that breaks kubeadm. Folders that the speaker writes to are mounted whole, once each.
 */
function mountsOf(config: SpeakerConfig, configFile: string): readonly Mount[] {
  const { bootstrap, apiServer, routers, drain, api, role } = config;
  const written = [
    bootstrap.stateDir,
    ...bootstrap.markers.map((marker) => dirname(marker)),
    dirname(api.socket),
  ];
  const folders: Mount[] = outermost(written).map((path) => ({
    path,
    type: 'DirectoryOrCreate',
    readOnly: false,
  }));
  const isInside = (path: string): boolean =>
    folders.some((folder) => path === folder.path || path.startsWith(`${folder.path}/`));
  const read: Mount[] = [
    { path: configFile, type: 'File', readOnly: true },
    { path: apiServer.caFile, type: 'File', readOnly: true },
    { path: bootstrap.machineIdFile, type: 'File', readOnly: true },
    ...routers.flatMap(({ passwordFile, nextPasswordFile }) =>
      [passwordFile, nextPasswordFile].flatMap((path): Mount[] =>
        path === undefined ? [] : [{ path, type: 'File', readOnly: true }],
      ),
    ),
    // Folders: the files are replaced when they are renewed.
    ...clientCertificateFolders(apiServer),
    // A folder, which may come later than the pod: the credentials are made when the cluster is there.
    ...(drain.annotation === undefined
      ? []
      : [
          {
            path: dirname(drain.annotation.kubeconfig),
            type: 'DirectoryOrCreate',
            readOnly: true,
          } satisfies Mount,
        ]),
    // A folder: the file itself comes and goes.
    ...(isInside(drain.file)
      ? []
      : [{ path: dirname(drain.file), type: 'DirectoryOrCreate', readOnly: true } satisfies Mount]),
    ...(role === 'cluster-api'
      ? [{ path: '/run/kubeadm', type: 'DirectoryOrCreate', readOnly: true } satisfies Mount]
      : []),
  ];
  const seen = new Set<string>();
  return [...read.filter(({ path }) => !isInside(path)), ...folders].filter(({ path }) => {
    const isNew = !seen.has(path);
    seen.add(path);
    return isNew;
  });
}

function clientCertificateFolders({ clientCertificate }: SpeakerConfig['apiServer']): readonly Mount[] {
  if (clientCertificate === undefined) return [];
  const { certFile, keyFile } = clientCertificate;
  return [certFile, keyFile].map((file) => ({ path: dirname(file), type: 'Directory', readOnly: true }));
}

/** Paths without those that are inside another one. */
function outermost(paths: readonly string[]): readonly string[] {
  const unique = [...new Set(paths)];
  return unique.filter((path) => !unique.some((other) => other !== path && path.startsWith(`${other}/`)));
}
