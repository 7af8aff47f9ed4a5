import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { CloudInitHost } from '../testing/cloud-init-host.ts';
import { CloudInitRun } from '../testing/cloud-init-run.ts';

/** The phases of `kubeadm init` after preflight, in its order. */
const phases = [
  'certs',
  'kubeconfig',
  'etcd',
  'control-plane',
  'kubelet-start',
  'wait-control-plane',
  'upload-config',
  'upload-certs',
  'mark-control-plane',
  'bootstrap-token',
  'kubelet-finalize',
  'addon',
];

/**
 * kubeadm as far as its files go: a CA that it finds is used, one that is missing is made, and a reset empties the folders. It fails
 * at the phase that /var/lib/fail-at names, once.
 */
const kubeadm = `
echo "$*" >>/var/lib/calls
fails() { [ "$(cat /var/lib/fail-at 2>/dev/null)" = "$1" ] && rm /var/lib/fail-at; }
case "$1 $2 $3" in
  'reset --force '*) rm -rf /etc/kubernetes/pki /etc/kubernetes/manifests /etc/kubernetes/*.conf; exit 0 ;;
  'init phase preflight') if fails preflight || [ -e /etc/kubernetes/admin.conf ]; then exit 1; fi; exit 0 ;;
esac
[ -e /etc/kubernetes/admin.conf ] && exit 1
for phase in ${phases.join(' ')}; do
  case $phase in
    certs) mkdir -p /etc/kubernetes/pki; [ -s /etc/kubernetes/pki/ca.crt ] || echo "a CA of kubeadm's own" >/etc/kubernetes/pki/ca.crt ;;
    kubeconfig) touch /etc/kubernetes/admin.conf ;;
  esac
  if fails $phase; then exit 1; fi
done
`;

let run: CloudInitRun;
let host: CloudInitHost;
let certificate: string;

beforeEach(async () => {
  run = new CloudInitRun(`
apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: init
asn: 64512
vips: [{ address: 10.100.0.1 }]
routers: [{ address: 10.9.0.1, asn: 64512 }]
`);
  ({ certificate } = new TestCa(run.folder));
  host = new CloudInitHost(run, 'ci-i');
  host.program('kubeadm', kubeadm);
  // The real one is run by bootstrap-script.kernel.test.ts, once; here it is the order of the steps that counts.
  const program = '#!/bin/sh\necho "$1"\n';
  host.write(
    await run.read(
      'init',
      ...['--ca-cert', join(run.folder, 'ca.crt')],
      ...['--ca-key', run.file('ca.key', 'the key')],
      ...['--program', run.file('program', program)],
      ...['--program-sha256', createHash('sha256').update(program).digest('hex')],
    ),
  );
});

afterEach(async () => {
  await host?.remove();
  run?.remove();
});

const onMachine = (path: string): string => readFileSync(host.path(path), 'utf8');
const failAt = (phase: string): void => writeFileSync(host.path('var/lib/fail-at'), `${phase}\n`);
const kubeadmCalls = (): string[] => host.calls().filter((call) => !call.startsWith('sleep'));

describe('the bootstrap script of the first master', () => {
  it.each(phases)('has the CA that was made beforehand after a first attempt that failed at %s', (phase) => {
    failAt(phase);
    const first = host.boot();
    expect(first.status, first.output).toBe(1);
    const second = host.boot();
    expect(second.status, second.output).toBe(0);
    expect(onMachine('etc/kubernetes/pki/ca.crt')).toBe(certificate);
    expect(onMachine('etc/kubernetes/pki/ca.key')).toBe('the key');
    expect(kubeadmCalls().filter((call) => call.startsWith('reset'))).toHaveLength(1);
    expect(existsSync(host.path('var/lib/bgp-lb/bootstrapped'))).toBe(true);
    // The key has come where kubeadm keeps it.
    expect(existsSync(host.path('etc/bgp-lb/pki/ca.key'))).toBe(false);
  });

  it('is not reset when only the checks before the first change fail', () => {
    failAt('preflight');
    expect(host.boot().status).toBe(1);
    expect(host.boot().status).toBe(0);
    expect(kubeadmCalls()).toEqual([
      'init phase preflight --config /etc/bgp-lb/kubeadm.yaml',
      'init phase preflight --config /etc/bgp-lb/kubeadm.yaml',
      'init --upload-certs --config /etc/bgp-lb/kubeadm.yaml',
    ]);
  });

  it('is never reset after kubeadm has succeeded, though the proof of it cannot be written', () => {
    mkdirSync(host.path('var/lib/bgp-lb/bootstrapped'), { recursive: true });
    for (let attempt = 1; attempt <= 3; attempt += 1) expect(host.boot().status).not.toBe(0);
    expect(kubeadmCalls().filter((call) => call.startsWith('reset'))).toEqual([]);
    expect(onMachine('etc/kubernetes/pki/ca.crt')).toBe(certificate);
  });

  it('waits longer after each failure, up to five minutes', () => {
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      failAt('preflight');
      const { status, output } = host.boot();
      expect(status).toBe(1);
      expect(output).toContain(`attempt ${attempt} failed; the next one begins in`);
    }
    const sleeps = host.calls().filter((call) => call.startsWith('sleep'));
    expect(sleeps).toEqual([10, 20, 40, 80, 160, 300, 300].map((seconds) => `sleep ${seconds}`));
    rmSync(host.path('var/lib/fail-at'), { force: true });
    expect(host.boot().status).toBe(0);
  });
});
