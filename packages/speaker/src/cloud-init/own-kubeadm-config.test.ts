import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CloudInitRun, contentOf } from '../testing/cloud-init-run.ts';

let run: CloudInitRun;

beforeAll(() => {
  run = new CloudInitRun(`
apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: init
asn: 64512
vips: [{ address: 10.100.0.1, port: 443, machinePort: 6443 }]
routers: [{ address: 10.0.0.10, asn: 64512 }]
`);
});
afterAll(() => run.remove());

const v1beta4 = 'apiVersion: kubeadm.k8s.io/v1beta4';

async function documentsOf(machine: string, own: string, ...options: string[]): Promise<unknown[]> {
  const data = await run.read(machine, '--kubeadm-config', run.file('own.yaml', own), ...options);
  return parseAllDocuments(contentOf(data, '/etc/bgp-lb/kubeadm.yaml')).map((one): unknown => one.toJS());
}

describe('--kubeadm-config', () => {
  it('keeps what people want of kubeadm, and puts what must be ours into it', async () => {
    const own = `
${v1beta4}
kind: InitConfiguration
nodeRegistration: { criSocket: unix:///run/crio/crio.sock, taints: [] }
patches: { directory: /etc/kubernetes/patches }
---
${v1beta4}
kind: ClusterConfiguration
imageRepository: mirror.example/k8s
networking: { serviceSubnet: 10.112.0.0/12, dnsDomain: example.net }
apiServer:
  certSANs: [api.example.net, 10.100.0.1]
  extraArgs: [{ name: audit-log-path, value: /var/log/audit }]
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 42
`;
    const [init, cluster, kubelet] = await documentsOf('init', own, '--pod-subnet', '10.244.0.0/16');
    expect(init).toMatchObject({
      kind: 'InitConfiguration',
      nodeRegistration: { criSocket: 'unix:///run/crio/crio.sock', taints: [] },
      patches: { directory: '/etc/kubernetes/patches' },
      bootstrapTokens: [{ token: 'abcdef.0123456789abcdef' }],
      localAPIEndpoint: { bindPort: 6443 },
    });
    expect(cluster).toMatchObject({
      imageRepository: 'mirror.example/k8s',
      controlPlaneEndpoint: '10.100.0.1:443',
      networking: { podSubnet: '10.244.0.0/16', serviceSubnet: '10.112.0.0/12', dnsDomain: 'example.net' },
      apiServer: {
        certSANs: ['10.100.0.1', 'api.example.net'],
        extraArgs: [{ name: 'audit-log-path' }, { name: 'shutdown-delay-duration', value: '15s' }],
      },
    });
    expect(kubelet).toEqual({
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      maxPods: 42,
    });
  });

  it('of a joiner takes its part only, and the hash of the CA from there', async () => {
    const own = `${v1beta4}
kind: JoinConfiguration
discovery: { bootstrapToken: { caCertHashes: ["sha256:${'0'.repeat(64)}"] } }
timeouts: { discovery: 30m0s }
nodeRegistration: { name: m2 }
---
${v1beta4}
kind: ClusterConfiguration
imageRepository: mirror.example/k8s
`;
    const documents = await documentsOf('join', own);
    expect(documents).toMatchObject([
      {
        kind: 'JoinConfiguration',
        nodeRegistration: { name: 'm2' },
        timeouts: { discovery: '30m0s' },
        discovery: { bootstrapToken: { apiServerEndpoint: '10.100.0.1:443' } },
      },
    ]);
    expect(JSON.stringify(documents)).not.toContain('unsafeSkipCAVerification');
  });

  it('names all that contradicts what must be ours, with where that comes from, and shows no secret', async () => {
    const own = `${v1beta4}
kind: InitConfiguration
certificateKey: ${'f'.repeat(64)}
localAPIEndpoint: { bindPort: 7443 }
---
${v1beta4}
kind: ClusterConfiguration
controlPlaneEndpoint: other.example:6443
kubernetesVersion: v1.35.0
`;
    const refused = documentsOf('init', own, '--kubernetes-version', 'v1.36.0');
    await expect(refused).rejects.toThrow(
      'ClusterConfiguration.controlPlaneEndpoint is "other.example:6443" and has to be "10.100.0.1:443" (endpoint, or the first VIP, of the speaker); allowed: the same, or to leave it out',
    );
    await expect(refused).rejects.toThrow(
      'InitConfiguration.localAPIEndpoint.bindPort is 7443 and has to be 6443',
    );
    await expect(refused).rejects.toThrow(
      'kubernetesVersion is "v1.35.0" and has to be "v1.36.0" (--kubernetes-version)',
    );
    await expect(refused).rejects.toThrow(
      'InitConfiguration.certificateKey is another one (--certificate-key-file)',
    );
    await expect(refused).rejects.not.toThrow('ffff');
  });

  it.each([
    [
      'an older version',
      'apiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\n',
      /kubeadm config migrate/,
    ],
    [
      'another kind',
      'apiVersion: v1\nkind: Pod\n',
      /kind "Pod" is none that kubeadm reads here; allowed: Init/,
    ],
    [
      'a kind twice',
      `${v1beta4}\nkind: InitConfiguration\n---\n${v1beta4}\nkind: InitConfiguration\n`,
      /is there twice/,
    ],
    ['no mapping', '- a\n', /is not a mapping of keys/],
    ['no YAML', 'a: [\n', /own\.yaml: /],
  ])('is refused with %s', async (_, own, message) => {
    await expect(documentsOf('init', own)).rejects.toThrow(message);
  });

  it('is refused where there is no such file', async () => {
    await expect(run.print('init', '--kubeadm-config', '/none')).rejects.toThrow(
      '--kubeadm-config /none cannot be read',
    );
  });
});
