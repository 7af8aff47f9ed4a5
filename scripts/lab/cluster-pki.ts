/**
 * The certificates of a control plane in kubeadm's shape and places, made by openssl(1).
 * Keys are ECDSA P-256, which is kubeadm's `encryptionAlgorithm: ECDSA-P256`: 300 handshakes cost little.
 */
import { createHash, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { runCommand } from './run-command.ts';

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** What openssl is to put into a certificate; nothing comes from the machine's own openssl.cnf. */
interface CertificateRequest {
  readonly folder: string;
  /** `apiserver` makes apiserver.key and apiserver.crt. */
  readonly file: string;
  /** `/O=system:masters/CN=kubernetes-admin` */
  readonly subject: string;
  readonly days: number;
  readonly extensions: readonly string[];
  /** Signed by `ca` in this folder; by itself when absent. */
  readonly authorityFolder?: string;
}

async function makeCertificate(request: CertificateRequest): Promise<void> {
  const { folder, file, subject, days, extensions, authorityFolder } = request;
  const configFile = `${folder}/.${file}.cnf`;
  writeFileSync(configFile, '[req]\ndistinguished_name = name\n[name]\n');
  try {
    await runCommand([
      'openssl',
      ...['req', '-x509', '-config', configFile, ...newKey, '-sha256', '-days', String(days)],
      ...['-subj', subject, '-keyout', `${folder}/${file}.key`, '-out', `${folder}/${file}.crt`],
      ...['-set_serial', `0x${randomBytes(8).toString('hex')}`],
      ...extensions.flatMap((extension) => ['-addext', extension]),
      ...(authorityFolder === undefined
        ? []
        : ['-CA', `${authorityFolder}/ca.crt`, '-CAkey', `${authorityFolder}/ca.key`]),
    ]);
  } finally {
    rmSync(configFile, { force: true });
  }
}

/** Makes ca.crt and ca.key, and the service account keys sa.key and sa.pub, where they are missing, as kubeadm does. */
export async function createAuthority(folder: string): Promise<void> {
  if (!existsSync(`${folder}/ca.crt`)) {
    await makeCertificate({
      folder,
      file: 'ca',
      subject: '/CN=kubernetes',
      days: 3650,
      extensions: [
        'basicConstraints=critical,CA:TRUE',
        'keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign',
        'subjectAltName=DNS:kubernetes',
      ],
    });
  }
  if (existsSync(`${folder}/sa.key`)) return;
  // Of a curve, as API servers take them too: kubeadm's RSA costs a processor a second in each lab.
  await runCommand([
    'openssl',
    'ecparam',
    '-name',
    'prime256v1',
    '-genkey',
    '-noout',
    '-out',
    `${folder}/sa.key`,
  ]);
  await runCommand(['openssl', 'ec', '-in', `${folder}/sa.key`, '-pubout', '-out', `${folder}/sa.pub`]);
}

/** The names of a serving certificate that differ from master to master and cluster to cluster. */
export interface ServingNames {
  readonly nodeName: string;
  readonly nodeAddress: string;
  /** The first address of the Service network. */
  readonly serviceAddress: string;
  /** The address of --control-plane-endpoint; kubeadm puts it in since the endpoint names it. */
  readonly endpointAddress: string;
  /** More addresses, which kubeadm takes from its configuration. */
  readonly certSANs?: readonly string[];
}

/** Makes apiserver.crt and apiserver.key with exactly kubeadm's names: no `localhost`, no 127.0.0.1. */
export async function issueServingCertificate(
  folder: string,
  names: ServingNames,
  authorityFolder: string = folder,
): Promise<void> {
  const dnsNames = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    names.nodeName,
  ];
  const addresses = [
    names.serviceAddress,
    names.nodeAddress,
    names.endpointAddress,
    ...(names.certSANs ?? []),
  ];
  await makeCertificate({
    folder,
    file: 'apiserver',
    subject: '/CN=kube-apiserver',
    days: 365,
    authorityFolder,
    extensions: [
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature,keyEncipherment',
      'extendedKeyUsage=serverAuth',
      `subjectAltName=${[...dnsNames.map((name) => `DNS:${name}`), ...addresses.map((ip) => `IP:${ip}`)].join(',')}`,
    ],
  });
}

/** Makes admin.crt and admin.key, the client certificate that kubeadm puts into admin.conf. */
export async function issueAdminCertificate(folder: string, authorityFolder: string = folder): Promise<void> {
  await issueClientCertificate(folder, 'admin', '/O=system:masters/CN=kubernetes-admin', authorityFolder);
}

/** Makes `file`.crt and `file`.key for a caller of the API. @param subject its group (O) and its name (CN) */
export async function issueClientCertificate(
  folder: string,
  file: string,
  subject: string,
  authorityFolder: string = folder,
): Promise<void> {
  await makeCertificate({
    folder,
    file,
    subject,
    days: 365,
    authorityFolder,
    extensions: [
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature,keyEncipherment',
      'extendedKeyUsage=clientAuth',
    ],
  });
}

/** `sha256:HEX` of a CA certificate's SubjectPublicKeyInfo, as `kubeadm join --discovery-token-ca-cert-hash` takes it. */
export function publicKeyHash(pem: string): string {
  const spki = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** The content of a file of a PKI folder as text. */
export function readPem(folder: string, file: string): string {
  return readFileSync(`${folder}/${file}`, 'utf8');
}
