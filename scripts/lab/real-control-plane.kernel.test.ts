import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlPlaneAssets, etcdArguments, kubeApiServerArguments } from './real-control-plane.ts';

describe('the real control plane', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/bgplb-assets-`);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is used only when KUBEBUILDER_ASSETS is set, and names what its folder lacks', () => {
    expect(controlPlaneAssets({})).toBeUndefined();
    expect(() => controlPlaneAssets({ KUBEBUILDER_ASSETS: folder })).toThrow('kube-apiserver and no etcd');
    for (const name of ['kube-apiserver', 'etcd']) writeFileSync(`${folder}/${name}`, '');
    mkdirSync(`${folder}/more`);
    expect(controlPlaneAssets({ KUBEBUILDER_ASSETS: folder })).toBe(folder);
  });

  it('starts a new etcd cluster with its first member and extends it with the next', () => {
    const first = etcdArguments({ name: 'm1', address: '10.0.0.11', dataFolder: '/d' }, {});
    expect(first).toContain('--initial-cluster=m1=http://10.0.0.11:2380');
    expect(first).toContain('--initial-cluster-state=new');
    const second = etcdArguments(
      { name: 'm2', address: '10.0.0.12', dataFolder: '/d' },
      { m1: 'http://10.0.0.11:2380' },
    );
    expect(second).toContain('--initial-cluster=m1=http://10.0.0.11:2380,m2=http://10.0.0.12:2380');
    expect(second).toContain('--initial-cluster-state=existing');
  });

  it('gives kube-apiserver the certificates of the master and the shutdown delay', () => {
    const argv = kubeApiServerArguments({
      address: '10.0.0.11',
      port: 6443,
      pkiFolder: '/pki',
      shutdownDelay: 500,
    });
    expect(argv).toContain('--service-cluster-ip-range=10.96.0.0/12');
    expect(argv).toContain('--tls-cert-file=/pki/apiserver.crt');
    expect(argv).toContain('--shutdown-delay-duration=500ms');
    expect(argv.filter((argument) => argument.startsWith('--anonymous-auth'))).toEqual([]);
  });
});
