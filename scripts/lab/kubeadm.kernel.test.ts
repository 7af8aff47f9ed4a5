import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from './addresses.ts';
import type { HostProcess } from './host-process.ts';
import { manifestFolderCheck } from './kubeadm/kubeadm-config.ts';
import { Lab } from './lab.ts';
import type { MasterHost } from './master-host.ts';
import { waitUntil } from './wait-until.ts';

/** Which phase of the last run asked whom, without repetition: `upload-config endpoint`. */
function callsOf(run: HostProcess): string[] {
  const lines = run.tail(1_000).split('\n');
  const seen = new Set<string>();
  let phase = '';
  for (const line of lines.slice(lines.lastIndexOf('[preflight] started'))) {
    phase = /^\[(\S+)\] started$/.exec(line)?.[1] ?? phase;
    const host = /^ {2}[A-Z]+ https:\/\/([0-9.]+):/.exec(line)?.[1];
    if (host !== undefined) seen.add(`${phase} ${host === vipAddress ? 'endpoint' : 'local'}`);
  }
  return [...seen];
}

/** The same, as the documentation has it in the table under this heading. */
function documented(profile: string): string[] {
  const text = readFileSync(new URL('../../docs/kubeadm-phases.md', import.meta.url), 'utf8');
  const section = text.split(`\n### ${profile}\n`)[1]?.split('\n#')[0] ?? '';
  return [...section.matchAll(/^\| `([^`]+)` \| (endpoint|local) \|/gm)].map(
    ([, phase, where]) => `${phase} ${where}`,
  );
}

describe('the simulated kubeadm', { timeout: 60_000 }, () => {
  let lab: Lab;
  let programs: string;

  beforeAll(async () => {
    programs = mkdtempSync(`${tmpdir()}/bgplb-programs-`);
    writeFileSync(`${programs}/speaker.mjs`, 'setInterval(() => {}, 1000);');
    lab = await Lab.create({
      masters: 4,
      controlPlane: 'stand-in',
      kubeadm: {
        phaseTime: 5,
        settleTime: 100,
        retryInterval: 50,
        requestTimeout: 300,
        controlPlaneTimeout: 15_000,
      },
      programs: { speaker: `${programs}/speaker.mjs` },
    });
    await lab.lb.writeSysctls({ 'net.ipv4.ip_forward': '1' });
    await lab.lb.exec(['ip', 'route', 'add', `${vipAddress}/32`, 'via', lab.master(1).address]);
  });
  afterAll(async () => {
    await lab.destroy();
    rmSync(programs, { recursive: true, force: true });
  });

  const bindVip = (master: MasterHost): Promise<string> =>
    master.exec(['ip', 'address', 'add', `${vipAddress}/32`, 'dev', 'lo']);

  /** A machine that forgets its membership, as `kubeadm reset` leaves it. */
  async function restart(master: MasterHost): Promise<void> {
    await master.kubeadmReset({ isLastMember: master === lab.master(1) });
    rmSync(master.markerFile, { force: true });
  }

  async function failure(run: HostProcess): Promise<string> {
    expect((await run.exited).code).toBe(1);
    return run.tail(1);
  }

  it('fails in the phase that needs the endpoint when nobody has the VIP, and touches no marker', async () => {
    const run = lab.master(1).kubeadmInit({
      profile: 'endpoint-from-wait-control-plane',
      controlPlaneTimeout: 500,
    });
    expect(await failure(run)).toMatch(/^error execution phase wait-control-plane: /);
    expect(existsSync(lab.master(1).markerFile)).toBe(false);
    // Written long before anything works: they prove nothing.
    for (const file of ['admin.conf', 'manifests/kube-apiserver.yaml', 'pki/ca.crt']) {
      expect(existsSync(lab.master(1).path(`kubernetes/${file}`))).toBe(true);
    }
  });

  it('refuses a machine that was not reset', async () => {
    expect(await failure(lab.master(1).kubeadmInit())).toMatch(
      /^error execution phase preflight: .*FileAvailable--kube-apiserver.yaml/,
    );
    await lab.master(1).kubeadmReset();
  });

  it('fails a later phase when only later phases use the endpoint', async () => {
    const run = lab.master(1).kubeadmInit({
      profile: 'endpoint-from-upload-config',
      controlPlaneTimeout: 4_000,
    });
    expect(await failure(run)).toMatch(/^error execution phase upload-config: /);
    await lab.master(1).kubeadmReset();
  });

  it('lets join fail discovery while there is no cluster', async () => {
    await lab.master(4).installCertificates();
    const run = lab.master(2).kubeadmJoin(lab.master(4), { discoveryTimeout: 300 });
    expect(await failure(run)).toMatch(
      /^error execution phase preflight: couldn't validate the identity of the API Server: /,
    );
    expect(existsSync(lab.master(2).caFile)).toBe(false);
  });

  it('initializes through the endpoint once the VIP is on the machine, and touches the marker', async () => {
    await bindVip(lab.master(1));
    for (const profile of [
      'local-only',
      'endpoint-from-upload-config',
      'endpoint-from-wait-control-plane',
    ] as const) {
      if (existsSync(lab.master(1).markerFile)) await restart(lab.master(1));
      const run = lab.master(1).kubeadmInit({ profile });
      expect({ exit: await run.exited, log: run.tail(1) }).toMatchObject({
        exit: { code: 0 },
        log: expect.stringContaining('initialized successfully'),
      });
      expect(existsSync(lab.master(1).markerFile)).toBe(true);
      expect(callsOf(run)).toEqual(documented(`init: ${profile}`));
    }
  });

  it('lets join fail when the pinned CA key is another one', async () => {
    const run = lab.master(2).kubeadmJoin(lab.master(1), { caCertHash: 'sha256:00', discoveryTimeout: 300 });
    expect(await failure(run)).toMatch(/^error execution phase preflight: .*not pinned/);
  });

  it("lets an old join fail where the speaker's manifest is there already, unless that check is ignored", async () => {
    const master = lab.master(2);
    master.placeSpeaker('join');
    const refused = master.kubeadmJoin(lab.master(1), { manifestCheck: 'empty' });
    expect(await failure(refused)).toMatch(
      /^error execution phase preflight: .*DirAvailable.* is not empty$/,
    );
    const run = master.kubeadmJoin(lab.master(1), {
      manifestCheck: 'empty',
      ignorePreflightErrors: [manifestFolderCheck],
    });
    expect((await run.exited).code, run.tail()).toBe(0);
    await restart(master);
  });

  it('joins through the VIP, starting the speaker in the middle and getting ready before the end', async () => {
    const master = lab.master(2);
    master.placeSpeaker('join');
    const run = master.kubeadmJoin(lab.master(1));
    await waitUntil(() => master.speaker.isRunning, { what: 'the speaker', detail: () => run.tail() });
    expect(run.isRunning).toBe(true);
    expect(existsSync(master.caFile)).toBe(true);
    await waitUntil(async () => (await lab.client.request({ host: master.address, path: '/readyz' })).ok, {
      what: 'a green /readyz',
      detail: () => run.tail(),
    });
    expect(run.isRunning).toBe(true);
    expect(existsSync(master.markerFile)).toBe(false);

    expect((await run.exited).code, run.tail()).toBe(0);
    expect(existsSync(master.markerFile)).toBe(true);
    expect(callsOf(run)).toEqual(documented('join: local'));
  });

  it('joins with the kubelet going through the VIP, and asks its own API server for nothing', async () => {
    await restart(lab.master(2));
    const run = lab.master(2).kubeadmJoin(lab.master(1), { joinProfile: 'endpoint' });
    expect((await run.exited).code, run.tail()).toBe(0);
    expect(callsOf(run)).toEqual(documented('join: endpoint'));
  });

  it('fails a join that loses the other masters on the way', async () => {
    const master = lab.master(3);
    const run = master.kubeadmJoin(lab.master(1), { settleTime: 1_500, controlPlaneTimeout: 5_000 });
    await waitUntil(() => run.tail(1).startsWith('[control-plane-join/mark-control-plane]'), {
      what: 'the phase mark-control-plane',
      detail: () => run.tail(),
    });
    await lab.master(1).disconnect();
    expect(await failure(run)).toMatch(/^error execution phase control-plane-join\/mark-control-plane/);
    expect(existsSync(master.markerFile)).toBe(false);
  });
});
