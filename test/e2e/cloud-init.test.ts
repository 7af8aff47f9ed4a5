import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, issueAdminCertificate } from '../../scripts/lab/cluster-pki.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { CloudInitLoadBalancer } from '../kit/cloud-init-load-balancer.ts';
import { CloudInitMachine } from '../kit/cloud-init-machine.ts';
import { waitForAllActive } from '../kit/cluster.ts';

const TIMEOUT = 300_000;
/** Milliseconds: a busy machine takes its time. */
const patience = 120_000;

describe('machines that were handed what cloud-init prints', { timeout: TIMEOUT }, () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.create({
      masters: 3,
      controlPlane: 'stand-in',
      router: { pool: { initialHold: '200ms' } },
      kubeadm: { phaseTime: 20, settleTime: 400 },
    });
  });
  afterAll(async () => {
    await lab.destroy();
  });

  it('become a control plane when all are switched on together and the load balancer after them', async () => {
    const pki = { pkiFolder: `${lab.folder}/pki` };
    mkdirSync(pki.pkiFolder);
    await createAuthority(pki.pkiFolder);
    await issueAdminCertificate(pki.pkiFolder);
    const machines = await Promise.all(
      lab.masters.map((master, index) => CloudInitMachine.create(master, index === 0 ? 'init' : 'join', pki)),
    );
    const balancer = await CloudInitLoadBalancer.create(lab.lb);
    const first = lab.master(1);
    const scripts = machines.map((machine) => machine.boot());
    await waitUntil(() => first.hasVip(), { what: 'the VIP on the first master', timeoutMs: patience });
    const commands = balancer.boot();
    expect(await commands.exited, commands.tail(40)).toMatchObject({ code: 0 });
    expect(balancer.systemctlCalls()).toEqual([
      'daemon-reload',
      'try-restart systemd-networkd.service',
      'enable --now --no-block bgp-lb-router.service bgp-lb-router-drain.service',
    ]);
    // Before the router, which sets the same: a machine has them from its boot on.
    const sysctls = ['net.ipv4.ip_forward', 'net.ipv4.fib_multipath_hash_policy'];
    expect(await lab.lb.exec(['sysctl', '-n', ...sysctls])).toBe('1\n1\n');
    const router = balancer.startUnit();
    await router.ready(() => lab.lb.router.status().then(Boolean, () => false), patience);
    for (const script of scripts) expect(await script.exited, script.tail(40)).toMatchObject({ code: 0 });
    await waitForAllActive(lab, patience);
    expect((await lab.client.request()).ok).toBe(true);
    const calls = (): string[] =>
      machines.map(({ kubeadmCalls }) => readFileSync(kubeadmCalls, 'utf8').trim());
    const once = [
      ['init phase preflight', 'init --upload-certs'],
      ['join phase preflight', 'join'],
      ['join phase preflight', 'join'],
    ].map((all) => all.map((command) => `kubeadm ${command} --config /etc/bgp-lb/kubeadm.yaml`).join('\n'));
    expect(calls()).toEqual(once);
    // The unit runs with each boot, and has nothing to do.
    for (const script of machines.map((machine) => machine.boot())) {
      expect(await script.exited, script.tail()).toMatchObject({ code: 0 });
    }
    expect(calls()).toEqual(once);
  });
});
