import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestCa } from '../testing/certificates.ts';
import { CloudInitHost } from '../testing/cloud-init-host.ts';
import { CloudInitRun, contentOf } from '../testing/cloud-init-run.ts';
import { field, type LineProcess, NetworkNamespace } from '../testing/network-namespace.ts';

const TIMEOUT = 300_000;
const VIP = '10.100.0.1';
const MASTER = '10.9.0.2';
const ROUTER = '10.9.0.1';
const main = new URL('../main.ts', import.meta.url).pathname;
const apiServerProgram = new URL('../testing/api-server-process.ts', import.meta.url).pathname;

/** kubeadm of the test: fails the first time, and writes down how it was called and what it found. */
const kubeadm = `echo "$* manifest=$(test -s /etc/kubernetes/manifests/bgp-lb-speaker.yaml && echo yes || echo no) marker=$(test -e /var/lib/bgp-lb/bootstrapped && echo yes || echo no)" >>/var/lib/calls
[ "$2" = phase ] && exit 0
[ "$1" = reset ] && { rm -rf /etc/kubernetes; exit 0; }
[ -e /var/lib/failed-once ] || { touch /var/lib/failed-once; exit 1; }
`;
/** containerd's client of the test. */
const ctr = `case "$*" in
  *import*) echo "import $(cat "$5")" >>/var/lib/calls; touch /var/lib/imported ;;
  *list*) [ -e /var/lib/imported ] && echo registry.example/speaker:1; true ;;
esac
`;

let run: CloudInitRun;
let host: CloudInitHost;
let master: NetworkNamespace;
let router: NetworkNamespace;
let apiServer: LineProcess;

const onMachine = (path: string): string => host.path(path);

beforeEach(async () => {
  run = new CloudInitRun(`
apiVersion: bgp-lb.dev/v1alpha1
kind: Speaker
role: join
asn: 64512
vips: [{ address: ${VIP} }]
routers: [{ address: ${ROUTER}, asn: 64512, passwordFile: /etc/bgp-lb/bgp-password }]
routeToVip: true
`);
  host = new CloudInitHost(run, 'ci-m');
  host.program('kubeadm', kubeadm);
  host.program('ctr', ctr);
  master = host.network;
  router = new NetworkNamespace('ci-r');
  master.connect('e0', router);
  master.ip('address', 'add', `${MASTER}/24`, 'dev', 'e0');
  router.ip('address', 'add', `${ROUTER}/24`, 'dev', 'e0');
  // The other master, as the load balancer shows it.
  router.ip('address', 'add', `${VIP}/32`, 'dev', 'lo');
  const { key, cert } = new TestCa(run.folder).serving(['DNS:kubernetes', `IP:${VIP}`]);
  apiServer = router.start(apiServerProgram, '6443', key, cert);
  await apiServer.next(field('mode'));
  apiServer.send('ready');
  await apiServer.next(field('mode'));
}, TIMEOUT);

afterEach(async () => {
  await Promise.all([host?.remove(), router?.remove()]);
  run.remove();
}, TIMEOUT);

/** Writes what cloud-init would write, and gives the script's path. */
async function prepareMachine(options: readonly string[]): Promise<string> {
  const data = await run.read('join', ...options);
  host.write(data);
  const script = '/usr/local/lib/bgp-lb/bootstrap.sh';
  expect(contentOf(data, '/etc/systemd/system/bgp-lb-bootstrap.service')).toContain(
    `ExecStart=/bin/sh ${script}`,
  );
  return script;
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

describe('the bootstrap script of a joining master', { timeout: TIMEOUT }, () => {
  it('prepares, waits for the VIP, places the manifest, joins, and tries again after a failure until it has succeeded', async () => {
    const program = `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`;
    const image = 'an image';
    const script = await prepareMachine([
      ...['--program', run.file('program', program), '--program-sha256', sha256(program)],
      ...['--image', 'registry.example/speaker:1'],
      ...['--image-archive', run.file('image.tar', image), '--image-sha256', sha256(image)],
    ]);
    // A leftover of an earlier life, which a join must not have on itself.
    master.ip('address', 'add', `${VIP}/32`, 'dev', 'lo');

    const first = host.boot(script);
    expect(first.status, first.output).toBe(1);
    expect(first.output).toContain('the API server answers at 10.100.0.1:6443');
    expect(master.ip('-o', 'address', 'show', 'dev', 'lo')).not.toContain(VIP);
    expect(master.ip('route', 'show', VIP)).toContain(`via ${ROUTER} dev e0 proto 84`);
    expect(existsSync(onMachine('var/lib/bgp-lb/bootstrapped'))).toBe(false);

    const second = host.boot(script);
    expect(second.status, second.output).toBe(0);
    // Not empty: it counts also where the clock was set back since kubeadm wrote ca.crt.
    expect(readFileSync(onMachine('var/lib/bgp-lb/bootstrapped'), 'utf8')).toBe('yes\n');
    const manifest = readFileSync(onMachine('etc/kubernetes/manifests/bgp-lb-speaker.yaml'), 'utf8');
    expect(manifest).toContain('image: registry.example/speaker:1');

    // A reboot after success does nothing.
    expect(host.boot(script).status).toBe(0);
    expect(host.calls()).toEqual([
      'import an image',
      'join phase preflight --config /etc/bgp-lb/kubeadm.yaml manifest=yes marker=no',
      'join --config /etc/bgp-lb/kubeadm.yaml manifest=yes marker=no',
      'sleep 10',
      'reset --force manifest=yes marker=no',
      'join phase preflight --config /etc/bgp-lb/kubeadm.yaml manifest=yes marker=no',
      'join --config /etc/bgp-lb/kubeadm.yaml manifest=yes marker=no',
    ]);
  });

  it('leaves a machine on which prepare gives the manifest to the kubelet again after a reset, as the next join needs it', async () => {
    const program = `#!/bin/sh\nexec ${process.execPath} ${main} "$@"\n`;
    const options = ['--program', run.file('program', program), '--program-sha256', sha256(program)];
    const script = await prepareMachine([...options, '--image', 'registry.example/speaker:2']);
    writeFileSync(onMachine('var/lib/failed-once'), '');
    const booted = host.boot(script);
    expect(booted.status, booted.output).toBe(0);
    const manifest = onMachine('etc/kubernetes/manifests/bgp-lb-speaker.yaml');
    const placed = readFileSync(manifest, 'utf8');

    const again = host.run(
      'kubeadm reset --force && test ! -e /etc/kubernetes && bgp-lb-speaker prepare --role join',
    );
    expect(again.status, again.output).toBe(0);
    expect(again.output).toContain('put /etc/kubernetes/manifests/bgp-lb-speaker.yaml back');
    expect(readFileSync(manifest, 'utf8')).toBe(placed);
    expect(placed).toContain('image: registry.example/speaker:2');
    expect(host.run('kubeadm join --config /etc/bgp-lb/kubeadm.yaml').status).toBe(0);
    expect(host.calls().at(-1)).toBe('join --config /etc/bgp-lb/kubeadm.yaml manifest=yes marker=no');
  });

  it('runs no program that is not the one that was meant', async () => {
    const program = '#!/bin/sh\ntouch /var/lib/ran\n';
    const script = await prepareMachine([
      ...['--program', run.file('program', program), '--program-sha256', sha256('another')],
    ]);
    const { status, output } = host.boot(script);
    expect(status).toBe(1);
    expect(output).toContain('does not have the SHA-256');
    expect(existsSync(onMachine('usr/local/bin/bgp-lb-speaker'))).toBe(false);
    expect(existsSync(onMachine('var/lib/ran'))).toBe(false);
    expect(host.calls()).toEqual(['sleep 10']);
  });

  it('is good for the shell, for each machine', async () => {
    for (const machine of ['init', 'join', 'worker']) {
      const text = contentOf(await run.read(machine), '/usr/local/lib/bgp-lb/bootstrap.sh');
      execFileSync('sh', ['-n'], { input: text });
    }
  });
});
