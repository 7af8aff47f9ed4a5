/** With KUBEBUILDER_ASSETS: a real kubeadm makes a real control plane through the VIP. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { publicKeyHash, readPem } from '../../scripts/lab/cluster-pki.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { KubeadmMachine, kubeadmAssets } from '../kit/kubeadm-machine.ts';

const TIMEOUT = 900_000;
const patience = 240_000;
const assets = kubeadmAssets();
const note = 'optional: kubebuilder-assets';

describe('three machines with a real kubeadm', { timeout: TIMEOUT }, () => {
  let lab: Lab;
  let machines: KubeadmMachine[] = [];

  beforeAll(async () => {
    if (assets === undefined) return;
    lab = await Lab.create({ masters: 3, controlPlane: 'stand-in' });
    machines = lab.masters.map((master) => new KubeadmMachine(master, assets));
    await lab.lb.router.start(patience);
  }, TIMEOUT);
  afterAll(async () => {
    await Promise.all(machines.map((machine) => machine.close()));
    await lab?.destroy();
  });

  function machine(n: number): KubeadmMachine {
    const found = machines[n - 1];
    if (found === undefined) throw new RangeError(`there is no machine ${n}`);
    return found;
  }

  /** kubectl of the administrator, from the client's host and hence through the load balancer. */
  function kubectl(...args: readonly string[]): Promise<string> {
    const config = machine(2).master.path('kubernetes/admin.conf');
    return lab.client.exec([`${assets}/kubectl`, '--kubeconfig', config, '--request-timeout=5s', ...args]);
  }

  it('init where the VIP is on the first machine before anything else', async ({ skip }) => {
    skip(assets === undefined, note);
    const first = lab.master(1);
    first.placeSpeaker('init');
    await waitUntil(() => first.hasVip(), { what: 'the VIP on m1', timeoutMs: patience });
    expect(await machine(1).init().exited, machine(1).log.slice(-3000)).toMatchObject({ code: 0 });
    await lab.lb.waitForPool([first.address], patience);
  });

  it('join through the VIP, and have it on themselves only after that', async ({ skip }) => {
    skip(assets === undefined, note);
    const hash = publicKeyHash(readPem(lab.master(1).pkiFolder, 'ca.crt'));
    for (const joiner of machines.slice(1)) {
      const { master } = joiner;
      master.placeSpeaker('join');
      const run = joiner.join(hash);
      while (run.isRunning) {
        const hasVip = await master.hasVip();
        if (!existsSync(master.markerFile)) expect(hasVip).toBe(false);
        await sleep(50);
      }
      expect(await run.exited, joiner.log.slice(-3000)).toMatchObject({ code: 0 });
    }
    await lab.lb.waitForPool(
      lab.masters.map(({ address }) => address),
      patience,
    );
    expect((await kubectl('get', 'nodes', '-o', 'name')).trim().split('\n')).toEqual([
      'node/m1',
      'node/m2',
      'node/m3',
    ]);
  });

  it('ask the endpoint in the phases that the documentation has for such a release, and nobody else', ({
    skip,
  }) => {
    skip(assets === undefined, note);
    expect(callsOf(machine(1).log)).toEqual({
      hosts: [vipAddress],
      phases: expect.arrayContaining(documentedPhases('init: endpoint-from-wait-control-plane')),
    });
    expect(callsOf(machine(2).log)).toEqual({
      hosts: [vipAddress],
      phases: expect.arrayContaining(['preflight', 'download-certs', 'kubelet-start', 'mark-control-plane']),
    });
  });

  it('would not join with the manifest of the speaker in place, were that check not ignored', ({ skip }) => {
    skip(assets === undefined, note);
    const refusal = /\[WARNING DirAvailable--etc-kubernetes-manifests\]: \S+ is not empty/;
    expect(machine(1).log).not.toMatch(refusal);
    expect(machine(2).log).toMatch(refusal);
  });

  it('keep the API at the VIP when the first one loses its power', async ({ skip }) => {
    skip(assets === undefined, note);
    await machine(1).close();
    await lab.master(1).powerOff();
    await lab.lb.waitForPool(
      lab.masters.slice(1).map(({ address }) => address),
      patience,
    );
    // etcd may have to elect a leader first.
    await waitUntil(
      () =>
        kubectl('create', 'configmap', 'written-after').then(
          () => true,
          () => false,
        ),
      { what: 'a write through the VIP', timeoutMs: patience },
    );
    expect(await kubectl('get', 'configmap', 'written-after', '-o', 'name')).toBe(
      'configmap/written-after\n',
    );
  });
});

/**
 * Whom kubeadm asked, and in which of the phases that it names at the beginning of a line. `[kubelet-check]` is none: a part of it
 * that runs beside the phases says that 40 s after it began, in the middle of whichever phase is under way then.
 */
function callsOf(log: string): { hosts: string[]; phases: string[] } {
  const hosts = new Set<string>();
  const phases = new Set<string>();
  let phase = '';
  for (const line of log.split('\n')) {
    phase = /^\[(?!kubelet-check)([a-z-]+)\]/.exec(line)?.[1] ?? phase;
    const host = /round_trippers\.go:\d+\] [A-Z]+ https:\/\/([^/:]+):/.exec(line)?.[1];
    if (host === undefined) continue;
    hosts.add(host);
    phases.add(phase);
  }
  return { hosts: [...hosts], phases: [...phases] };
}

/** The phases of the table under this heading of docs/kubeadm-phases.md. */
function documentedPhases(profile: string): string[] {
  const text = readFileSync(new URL('../../docs/kubeadm-phases.md', import.meta.url), 'utf8');
  const section = text.split(`\n### ${profile}\n`)[1]?.split('\n#')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \| endpoint \|/gm)].map(([, phase = '']) => phase);
}
