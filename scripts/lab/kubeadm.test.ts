import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from './addresses.ts';
import type { HostProcess } from './host-process.ts';
import { Lab } from './lab.ts';
import type { MasterHost } from './master-host.ts';
import { waitUntil } from './wait-until.ts';

describe('the simulated kubeadm', () => {
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
        controlPlaneTimeout: 1_000,
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

  async function failure(run: HostProcess): Promise<string> {
    expect((await run.exited).code).toBe(1);
    return run.tail(1);
  }

  it('fails in the phase that needs the endpoint when nobody has the VIP, and touches no marker', async () => {
    const run = lab.master(1).kubeadmInit({ profile: 'endpoint-from-wait-control-plane' });
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
    const run = lab.master(1).kubeadmInit({ profile: 'endpoint-from-upload-config' });
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
    const run = lab.master(1).kubeadmInit({ profile: 'endpoint-from-wait-control-plane' });
    expect({ exit: await run.exited, log: run.tail(1) }).toMatchObject({
      exit: { code: 0 },
      log: expect.stringContaining('initialized successfully'),
    });
    expect(existsSync(lab.master(1).markerFile)).toBe(true);
  });

  it('lets join fail when the pinned CA key is another one', async () => {
    const run = lab.master(2).kubeadmJoin(lab.master(1), { caCertHash: 'sha256:00', discoveryTimeout: 300 });
    expect(await failure(run)).toMatch(/^error execution phase preflight: .*not pinned/);
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
  });

  it('fails a join that loses the other masters on the way', async () => {
    const master = lab.master(3);
    const run = master.kubeadmJoin(lab.master(1), { settleTime: 300 });
    await waitUntil(() => master.apiServer?.isRunning, { what: 'its API server', detail: () => run.tail() });
    await lab.master(1).disconnect();
    expect(await failure(run)).toMatch(
      /^error execution phase (wait-control-plane|control-plane-join\/mark)/,
    );
    expect(existsSync(master.markerFile)).toBe(false);
  });
});
