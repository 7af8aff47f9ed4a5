import { render } from '@bgp-lb/daemon';
import { describe, expect, it } from 'vitest';
import { speakerSchema } from './config/schema.ts';
import { staticPod } from './manifest.ts';

function manifest(changes: object = {}): string {
  const config = speakerSchema.parse({
    role: 'join',
    asn: 64512,
    vips: [{ address: '10.0.0.100' }],
    routers: [{ address: '10.0.0.10', asn: 64512, passwordFile: '/etc/bgp-lb/bgp-password' }],
    ...changes,
  });
  return render(
    staticPod({ config, configFile: '/etc/bgp-lb/speaker.yaml', image: 'example.net/speaker:1' }),
    'yaml',
  );
}

/** The volume of a path, as written. */
function volume(text: string, path: string): string {
  return new RegExp(`path: ${path}\\n\\s+type: (\\S+)`).exec(text)?.[1] ?? 'none';
}

describe('the static pod', () => {
  it('runs as root with NET_ADMIN and nothing else', () => {
    const text = manifest();
    for (const line of [
      'hostNetwork: true',
      'priorityClassName: system-node-critical',
      'automountServiceAccountToken: false',
      'runAsUser: 0',
      'allowPrivilegeEscalation: false',
      'readOnlyRootFilesystem: true',
      'type: RuntimeDefault',
      'imagePullPolicy: IfNotPresent',
      'image: example.net/speaker:1',
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/drop:\n\s+- ALL\n\s+add:\n\s+- NET_ADMIN\n/);
    expect(text).not.toMatch(/privileged|hostPID|sysctls/);
  });

  it('sees ca.crt as a single file, and no folder with keys or credentials', () => {
    const text = manifest();
    expect(volume(text, '/etc/kubernetes/pki/ca.crt')).toBe('File');
    const paths = [...text.matchAll(/ path: (\S+)\n\s+type:/g)].map((match) => match[1]);
    expect(paths.sort()).toEqual([
      '/etc/bgp-lb/bgp-password',
      '/etc/bgp-lb/speaker.yaml',
      '/etc/kubernetes/pki/ca.crt',
      '/etc/machine-id',
      '/run/bgp-lb',
      '/run/cluster-api',
      '/var/lib/bgp-lb',
    ]);
  });

  it('sees the folder of the kubeconfig of the drain annotation, which may come later', () => {
    const annotation = { kubeconfig: '/var/lib/bgp-lb-api/kubeconfig', node: 'master-1' };
    expect(volume(manifest({ drain: { annotation } }), '/var/lib/bgp-lb-api')).toBe('DirectoryOrCreate');
    const inside = manifest({
      drain: { annotation: { ...annotation, kubeconfig: '/var/lib/bgp-lb/kubeconfig' } },
    });
    expect(inside.match(/ path: \/var\/lib\/bgp-lb\n/g)).toHaveLength(1);
    // Its own folder is still there to be written.
    expect(inside).not.toMatch(/mountPath: \/var\/lib\/bgp-lb\n\s+readOnly/);
  });

  it('gets both passwords while they are changed', () => {
    const router = { address: '10.0.0.10', asn: 64512 };
    const text = manifest({
      routers: [{ ...router, passwordFile: '/etc/secret/old', nextPasswordFile: '/etc/secret/new' }],
    });
    expect(volume(text, '/etc/secret/old')).toBe('File');
    expect(volume(text, '/etc/secret/new')).toBe('File');
  });

  it('gets folders for what comes and goes', () => {
    for (const folder of ['/var/lib/bgp-lb', '/run/cluster-api', '/run/bgp-lb']) {
      expect(volume(manifest(), folder)).toBe('DirectoryOrCreate');
    }
  });

  it('sees the kubeadm configuration only where it decides the role', () => {
    expect(volume(manifest(), '/run/kubeadm')).toBe('none');
    expect(volume(manifest({ role: 'cluster-api' }), '/run/kubeadm')).toBe('DirectoryOrCreate');
  });

  it('gets the folder of a client certificate, whose files are replaced by renewal', () => {
    const pem = '/var/lib/kubelet/pki/kubelet-client-current.pem';
    const text = manifest({ apiServer: { clientCertificate: { certFile: pem, keyFile: pem } } });
    expect(volume(text, '/var/lib/kubelet/pki')).toBe('Directory');
  });

  it('is given the time to drain where a stop drains', () => {
    expect(manifest()).toContain('terminationGracePeriodSeconds: 10');
    expect(manifest({ stopMode: 'drain' })).toContain('terminationGracePeriodSeconds: 70');
  });

  it('is probed on its own port', () => {
    expect(manifest({ api: { listen: '0.0.0.0:9999' } })).toMatch(/host: 127\.0\.0\.1\n\s+port: 9999/);
  });
});
